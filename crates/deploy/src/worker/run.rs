//! The thread that owns the worker's machine: [`Run`].

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender},
    },
    time::{Duration, Instant},
};

use firesteel_net::{Address, Keyring, Realm};
use firesteel_scheduler::{
    deploy::{MasterAddress, MasterToWorker},
    worker::{ProcessId, ProcessSignal, ProcessStart, Worker, WorkerEffect, WorkerEvent},
};
use firesteel_types::AppId;
use hashbrown::{HashMap, HashSet};

use super::{
    child::ChildHandle,
    folders,
    launch::Launcher,
    resources,
    status::{WorkerStatus, status},
};
use crate::{
    chores::Chores,
    clock::Clock,
    ending::{Ending, Flag},
    master_links::{LinkNews, MasterLinks},
    protocol::{FromMaster, ToMaster},
};

/// Something for the worker's thread.
pub(super) enum Note {
    /// Something for the machine.
    Event(WorkerEvent),
    /// A master spoke, or was lost.
    Link(LinkNews),
    /// A process runs.
    Started { process: ProcessId, handle: ChildHandle },
    /// A process has ended, or did not start.
    Ended { process: ProcessId, event: WorkerEvent },
    /// A status request.
    Status(Sender<WorkerStatus>),
    /// It is over.
    Stop,
}

/// A worker's machine and all that it acts on.
pub(super) struct Run {
    pub(super) machine: Worker,
    pub(super) url: String,
    pub(super) masters: Vec<MasterAddress>,
    pub(super) clock: Clock,
    pub(super) inbox: SyncSender<Note>,
    pub(super) links: MasterLinks,
    pub(super) registered: Flag,
    pub(super) launcher: Arc<Launcher>,
    pub(super) keyring: Arc<Keyring>,
    pub(super) work_dir: PathBuf,
    pub(super) retention: Duration,
    pub(super) terminate_timeout: Duration,
    /// Processes that were ordered, and are neither running nor given up.
    pub(super) launching: HashSet<ProcessId>,
    pub(super) running: HashMap<ProcessId, ChildHandle>,
    /// Makes folders, and takes them away.
    pub(super) chores: Chores,
    /// Removes what was taken away.
    pub(super) sweeper: Arc<Chores>,
}

impl Run {
    /// Works until it is told to stop or its machine gives up; then ends its processes.
    pub(super) fn run(mut self, inbox: Receiver<Note>) -> Ending {
        let ending = self.work(&inbox);
        tracing::info!(?ending, "worker ends");
        // Closed first, so that the master looks for another place at once.
        self.links.stop(&self.masters);
        self.end_processes(&inbox);
        drop(inbox);
        ending
    }

    fn work(&mut self, inbox: &Receiver<Note>) -> Ending {
        let mut ending = self.feed(WorkerEvent::Started);
        while ending.is_none() {
            let note = match inbox.recv_timeout(self.clock.until(self.machine.next_deadline())) {
                Ok(note) => note,
                // The machine does what is due with every event.
                Err(RecvTimeoutError::Timeout) => Note::Event(WorkerEvent::Tick),
                Err(RecvTimeoutError::Disconnected) => return Ending::Stopped,
            };
            ending = self.take(note);
        }
        ending.unwrap_or(Ending::Stopped)
    }

    fn take(&mut self, note: Note) -> Option<Ending> {
        match note {
            Note::Event(event) => self.feed(event),
            Note::Link(LinkNews::Heard { master, message: FromMaster::Worker(message) }) => {
                if matches!(message, MasterToWorker::RegisteredWorker { .. }) {
                    self.links.settle(&master);
                    self.registered.set();
                }
                self.feed(WorkerEvent::FromMaster { master, message })
            }
            Note::Link(LinkNews::Heard { master, message }) => {
                tracing::warn!(%master, ?message, "the master takes this worker for another one");
                None
            }
            Note::Link(LinkNews::Lost { master }) => self.feed(WorkerEvent::MasterLost { master }),
            Note::Started { process, handle } => {
                self.launching.remove(&process);
                self.running.insert(process, handle);
                self.feed(WorkerEvent::ProcessStarted { process })
            }
            Note::Ended { process, event } => {
                self.launching.remove(&process);
                self.running.remove(&process);
                self.feed(event)
            }
            Note::Status(asked) => {
                // The requester may have gone.
                let _ = asked.send(status(&self.machine, &self.url));
                None
            }
            Note::Stop => Some(Ending::Stopped),
        }
    }

    /// Gives an event to the machine, and does what follows from it.
    fn feed(&mut self, event: WorkerEvent) -> Option<Ending> {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            tracing::debug!(?event, "worker");
            for effect in self.machine.handle(self.clock.now(), event) {
                tracing::trace!(?effect, "worker");
                match effect {
                    WorkerEffect::Exit { code, reason } => return Some(Ending::GaveUp { code, reason }),
                    WorkerEffect::StartProcess(start) => events.extend(self.start_process(*start)),
                    effect => self.perform(effect),
                }
            }
        }
        None
    }

    fn start_process(&mut self, start: ProcessStart) -> Option<WorkerEvent> {
        let process = start.process;
        let master = self.machine.master().and_then(|master| master.as_str().parse::<Address>().ok());
        let failed = self.launcher.launch(start, master);
        if failed.is_none() {
            self.launching.insert(process);
        }
        failed
    }

    fn perform(&mut self, effect: WorkerEffect) {
        match effect {
            WorkerEffect::Prepare { work_dir: _, resource_file, discovery_scripts } => {
                self.chore(move || match resources::find(resource_file.as_deref(), &discovery_scripts) {
                    Ok((from_file, discovered)) => WorkerEvent::Prepared { from_file, discovered },
                    Err(message) => WorkerEvent::PrepareFailed { message },
                })
            }
            WorkerEffect::ToMaster { master, message } => {
                self.links.send(&master, ToMaster::Worker(message));
            }
            WorkerEffect::CreateDirs { process, work_dir, local_dirs } => {
                self.chore(move || match folders::create(&work_dir, local_dirs) {
                    Ok(local_dirs) => WorkerEvent::DirsCreated { process, local_dirs },
                    Err(error) => {
                        let message = format!("cannot make {work_dir}: {error}");
                        WorkerEvent::DirsFailed { process, message }
                    }
                })
            }
            WorkerEffect::Signal { process, signal } => {
                if let Some(handle) = self.running.get(&process) {
                    handle.signal(signal);
                }
            }
            WorkerEffect::Orphaned { process, owner } => {
                tracing::error!(%process, ?owner, "a process does not end and is given up");
            }
            WorkerEffect::ListDirs { work_dir } => {
                let (launcher, retention) = (self.launcher.clone(), self.retention);
                self.chore(move || {
                    launcher.cache.sweep(retention);
                    WorkerEvent::DirsListed { dirs: folders::list(&work_dir) }
                });
            }
            WorkerEffect::RemoveDir { dir } => self.remove(dir.into(), self.work_dir.clone()),
            WorkerEffect::ForgetApp { app, local_dirs } => self.forget_app(&app, local_dirs),
            WorkerEffect::Ignored { reason } => tracing::debug!(?reason, "nothing to do"),
            WorkerEffect::Exit { .. } | WorkerEffect::StartProcess(_) => {
                unreachable!("these are looked at where events are fed")
            }
        }
    }

    fn chore(&self, chore: impl FnOnce() -> WorkerEvent + Send + 'static) {
        let inbox = self.inbox.clone();
        self.chores.add(move || {
            let event = chore();
            // The worker may have ended meanwhile.
            let _ = inbox.send(Note::Event(event));
        });
    }

    fn forget_app(&self, app: &AppId, local_dirs: Vec<String>) {
        self.keyring.remove(&Realm::from(app));
        for dir in local_dirs.into_iter().map(PathBuf::from) {
            let root = dir.parent().map(Path::to_owned).unwrap_or_default();
            self.remove(dir, root);
        }
    }

    /// Takes a folder away in the order of all folder work, and removes it when there is time.
    fn remove(&self, dir: PathBuf, root: PathBuf) {
        let sweeper = self.sweeper.clone();
        self.chores.add(move || {
            if let Some(waits) = folders::discard(&dir, &root) {
                sweeper.add(move || folders::remove(&waits));
            }
        });
    }

    /// Asks every process to end, and forces those that do not.
    fn end_processes(&mut self, inbox: &Receiver<Note>) {
        self.launcher.cancelled.store(true, Ordering::Release);
        for signal in [ProcessSignal::Terminate, ProcessSignal::Destroy] {
            self.running.values().for_each(|handle| handle.signal(signal));
            let deadline = Instant::now() + self.terminate_timeout;
            while !self.running.is_empty() || !self.launching.is_empty() {
                match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                    Ok(Note::Started { process, handle }) => {
                        handle.signal(signal);
                        self.launching.remove(&process);
                        self.running.insert(process, handle);
                    }
                    Ok(Note::Ended { process, .. }) => {
                        self.launching.remove(&process);
                        self.running.remove(&process);
                    }
                    Ok(Note::Event(_) | Note::Link(_) | Note::Status(_) | Note::Stop) => {}
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                }
            }
        }
        for process in self.running.keys() {
            tracing::error!(%process, "a process does not end and is left behind");
        }
    }
}
