//! The connections of a listener and their threads: [`Connections`].

use std::{
    net::{Shutdown, TcpStream},
    sync::Arc,
    thread::{self, ThreadId},
};

use hashbrown::HashMap;
use parking_lot::{Condvar, Mutex};

use crate::line::Core;

/// The connections that have a thread.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    table: Mutex<Table>,
    closed_one: Condvar,
}

#[derive(Debug, Default)]
struct Table {
    open: HashMap<u64, Connection>,
    next: u64,
    stopping: bool,
}

#[derive(Debug)]
struct Connection {
    socket: Arc<TcpStream>,
    thread: Option<ThreadId>,
    line: Option<Arc<Core>>,
}

/// A connection's place among the open ones, given back when its thread ends in whatever way.
#[derive(Debug)]
pub(crate) struct Slot {
    connections: Arc<Connections>,
    key: u64,
}

impl Connections {
    /// A place for a connection, none when there are `most` already.
    pub(crate) fn add(self: &Arc<Self>, socket: Arc<TcpStream>, most: usize) -> Option<Slot> {
        let mut table = self.table.lock();
        if table.open.len() >= most {
            return None;
        }
        let key = table.next;
        table.next += 1;
        table.open.insert(key, Connection { socket, thread: None, line: None });
        Some(Slot { connections: self.clone(), key })
    }

    pub(crate) fn len(&self) -> usize {
        self.table.lock().open.len()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.table.lock().stopping
    }

    pub(crate) fn set_stopping(&self) {
        self.table.lock().stopping = true;
    }

    /// Closes every connection, lines in order, and waits until their threads have ended, all but the calling one.
    pub(crate) fn close_all(&self) {
        let mut table = self.table.lock();
        for connection in table.open.values() {
            match &connection.line {
                Some(line) => line.close(),
                None => drop(connection.socket.shutdown(Shutdown::Both)),
            }
        }
        let this = Some(thread::current().id());
        while table.open.values().any(|connection| connection.thread != this) {
            self.closed_one.wait(&mut table);
        }
    }
}

impl Slot {
    /// The connection belongs to the calling thread.
    pub(crate) fn begin(&self) {
        if let Some(connection) = self.connections.table.lock().open.get_mut(&self.key) {
            connection.thread = Some(thread::current().id());
        }
    }

    /// The connection is a line, to be closed as one.
    pub(crate) fn hold(&self, line: &Arc<Core>) {
        if let Some(connection) = self.connections.table.lock().open.get_mut(&self.key) {
            connection.line = Some(line.clone());
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.table.lock().open.remove(&self.key);
        self.connections.closed_one.notify_all();
    }
}
