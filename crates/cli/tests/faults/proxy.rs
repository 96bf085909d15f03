//! A network that can be cut: [`Proxy`].

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
};

/// A port of 127.0.0.2 behind which there is the same port of 127.0.0.1, for as long as the link is not cut.
///
/// While it is cut, nothing gets through in either direction, not even the end of a connection, and neither end is
/// told. When it is healed, what was sent meanwhile arrives, as TCP would send it again.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    link: Arc<Link>,
}

#[derive(Default)]
struct Link {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_cut: bool,
    is_over: bool,
    open: Vec<TcpStream>,
}

/// The host at which proxies listen.
pub(crate) const HOST: &str = "127.0.0.2";

impl Proxy {
    /// Before a port, any free one when 0.
    pub(crate) fn before(port: u16) -> Self {
        let listener = TcpListener::bind((HOST, port)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let link = Arc::<Link>::default();
        let accepting = link.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let link = accepting.clone();
                if link.state.lock().unwrap().is_over {
                    return;
                }
                thread::spawn(move || link.connect(client, port));
            }
        });
        Self { port, link }
    }

    pub(crate) fn cut(&self) {
        self.link.state.lock().unwrap().is_cut = true;
    }

    pub(crate) fn heal(&self) {
        self.link.state.lock().unwrap().is_cut = false;
        self.link.changed.notify_all();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut state = self.link.state.lock().unwrap();
        state.is_over = true;
        for socket in &state.open {
            // It may be closed already.
            let _ = socket.shutdown(Shutdown::Both);
        }
        drop(state);
        self.link.changed.notify_all();
        // Wakes the one who accepts.
        let _ = TcpStream::connect((HOST, self.port));
    }
}

impl Link {
    /// Waits until something can get through; false when nothing ever will.
    fn wait(&self) -> bool {
        let state = self.state.lock().unwrap();
        let state = self.changed.wait_while(state, |state| state.is_cut && !state.is_over).unwrap();
        !state.is_over
    }

    fn connect(self: &Arc<Self>, client: TcpStream, port: u16) {
        if !self.wait() {
            return;
        }
        let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { return };
        let copies = || (client.try_clone().unwrap(), server.try_clone().unwrap());
        let ((from, to), (back_to, back_from)) = (copies(), copies());
        self.state.lock().unwrap().open.extend([client, server]);
        let link = self.clone();
        thread::spawn(move || link.pump(back_from, back_to));
        self.pump(from, to);
    }

    fn pump(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = vec![0; 64 << 10];
        loop {
            // An error ends the connection like its orderly end does.
            let read = from.read(&mut buffer).unwrap_or(0);
            if !self.wait() {
                return;
            }
            if read == 0 || to.write_all(&buffer[..read]).is_err() {
                let _ = to.shutdown(Shutdown::Write);
                let _ = from.shutdown(Shutdown::Read);
                return;
            }
        }
    }
}
