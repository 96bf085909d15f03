//! The client that a driver holds: [`AppClient`].

use std::{
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    thread::{self, JoinHandle, ThreadId},
    time::Duration,
};

use firesteel_net::notice;
use firesteel_scheduler::{client::Client, master::ProfileTotal};
use firesteel_types::ExecutorId;
use hashbrown::HashMap;
use parking_lot::Mutex;

use super::{
    conf::AppClientConf,
    events::AppEvents,
    run::{Note, Run},
};
use crate::{
    clock::Clock,
    error::{DeployError, spawn},
    master_links::MasterLinks,
};

/// A driver's connection to its cluster.
///
/// Dropped, it is stopped.
///
/// ```
/// use std::{sync::{Arc, mpsc}, time::Duration};
/// use firesteel_deploy::{LocalCluster, LocalClusterConf, client::*};
/// use firesteel_scheduler::{deploy::Command, master::AppDescription};
/// use firesteel_types::{AppId, ExecutorId, ExecutorRequest, Host, WorkerId};
///
/// struct Tells(mpsc::Sender<AppId>);
///
/// impl AppEvents for Tells {
///     fn connected(&self, app: &AppId) { self.0.send(app.clone()).expect("the test waits"); }
///     fn disconnected(&self) {}
///     fn dead(&self, _: &str) {}
///     fn executor_added(&self, _: ExecutorId, _: &ExecutorPlace) {}
///     fn executor_removed(&self, _: ExecutorId, _: &str, _: Option<i32>, _: Option<&Host>) {}
///     fn executor_decommissioned(&self, _: ExecutorId, _: &str, _: Option<&Host>) {}
///     fn worker_removed(&self, _: &WorkerId, _: &Host, _: &str) {}
/// }
///
/// let cluster = LocalCluster::start(LocalClusterConf::new(1, 1, 512))?;
/// let description = AppDescription {
///     name: "example".to_owned(),
///     cores_max: None,
///     executor: ExecutorRequest { cores: Some(1), memory_mib: 64, ..ExecutorRequest::default() },
///     executor_limit: Some(0),
///     driver_url: "127.0.0.1:1".to_owned(),
///     page: None,
///     command: Arc::new(Command { program: "/bin/true".to_owned(), ..Command::default() }),
/// };
/// let conf = AppClientConf {
///     security: cluster.security(),
///     ..AppClientConf::new(&[cluster.master().clone()], description)
/// };
/// let (tell, told) = mpsc::channel();
/// let client = AppClient::start(conf, Arc::new(Tells(tell)))?;
///
/// let app = told.recv_timeout(Duration::from_secs(60)).expect("the master takes it in");
/// assert!(client.kill_executors(vec![]));
/// client.stop();
/// # Ok::<(), firesteel_deploy::DeployError>(())
/// ```
#[derive(Debug)]
pub struct AppClient {
    inbox: Sender<Note>,
    thread: Mutex<Option<JoinHandle<()>>>,
    id: ThreadId,
    answer_timeout: Duration,
}

impl AppClient {
    /// Begins to register the application; what comes of it is told to `events`.
    pub fn start(conf: AppClientConf, events: Arc<dyn AppEvents>) -> Result<Self, DeployError> {
        let (inbox, notes) = channel();
        let tell = inbox.clone();
        let links = MasterLinks::new(
            conf.security.dialer(),
            conf.line,
            conf.redial,
            Arc::new(move |news| {
                // The client may have stopped meanwhile.
                let _ = tell.send(Note::Link(news));
            }),
        );
        let run = Run {
            masters: conf.machine.masters.clone(),
            machine: Client::new(conf.machine, conf.description)?,
            clock: Clock::start(),
            links,
            events,
            asked: HashMap::new(),
            next_request: 0,
        };
        let thread = spawn("app-client", move || run.run(&notes))?;
        let id = thread.thread().id();
        Ok(Self { inbox, thread: Mutex::new(Some(thread)), id, answer_timeout: conf.answer_timeout })
    }

    /// Sets how many executors of each profile the application wants, and gives the master's answer.
    ///
    /// False without a master, and when the master refuses.
    pub fn request_executors(&self, totals: Vec<ProfileTotal>) -> bool {
        self.ask(|answer| Note::Request { totals, answer })
    }

    /// Gives executors up, and gives the master's answer; false without a master.
    pub fn kill_executors(&self, executors: Vec<ExecutorId>) -> bool {
        self.ask(|answer| Note::Kill { executors, answer })
    }

    fn ask(&self, note: impl FnOnce(Sender<bool>) -> Note) -> bool {
        if thread::current().id() == self.id {
            notice(|| {
                tracing::error!("a request inside of a callback would wait for itself; it is not made")
            });
            return false;
        }
        let (answer, answered) = channel();
        self.inbox.send(note(answer)).is_ok()
            && answered.recv_timeout(self.answer_timeout).unwrap_or_default()
    }

    /// Unregisters the application and closes the connections. Stopping again does nothing.
    pub fn stop(&self) {
        // Fails when it has stopped.
        let _ = self.inbox.send(Note::Stop);
        if thread::current().id() == self.id {
            return; // A callback stops the client; its thread ends when the callback returns.
        }
        let thread = self.thread.lock().take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            notice(|| tracing::error!("the client of the application panicked"));
        }
    }
}

impl Drop for AppClient {
    fn drop(&mut self) {
        self.stop();
    }
}
