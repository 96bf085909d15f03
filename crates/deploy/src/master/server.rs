//! A master that runs: [`MasterServer`].

use std::{
    env,
    hash::{BuildHasher, RandomState},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{SyncSender, channel, sync_channel},
    },
    thread::JoinHandle,
};

use firesteel_net::{Address, Listener, OneSecret, Realm, Service, Services};
use firesteel_scheduler::master::Master;
use firesteel_storage::disk::LocalDirs;
use parking_lot::Mutex;

use super::{
    conf::{MasterServerConf, StoreConf},
    peers::{PeerNumbers, Peers, accept},
    run::{Note, Run},
    status::MasterStatus,
};
use crate::{
    artifact::{Uploads, serve},
    chores::Chores,
    clock::Clock,
    ending::{Ending, Guard, Latch},
    error::{DeployError, spawn},
    protocol::{FromMaster, ToMaster},
    security::reachable_host,
    store::{FileStore, NoStore, Store},
};

/// Inbox capacity. Senders block when it is full (backpressure).
const INBOX_CAPACITY: usize = 16_384;

/// A master on threads of this process.
///
/// ```
/// use firesteel_deploy::master::{MasterServer, MasterServerConf};
/// use firesteel_scheduler::master::RecoveryState;
///
/// let master = MasterServer::start(MasterServerConf::new("127.0.0.1", 0))?;
/// assert_eq!(master.url(), format!("firesteel://{}", master.address()));
/// let status = master.status().expect("the master runs");
/// assert_eq!((status.state, status.workers.len()), (RecoveryState::Alive, 0));
/// master.stop();
/// # Ok::<(), firesteel_deploy::DeployError>(())
/// ```
#[derive(Debug)]
pub struct MasterServer {
    address: Address,
    inbox: SyncSender<Note>,
    listener: Listener,
    thread: Mutex<Option<JoinHandle<()>>>,
    ended: Latch,
    /// Held for its removal.
    _artifacts: Option<LocalDirs>,
}

impl MasterServer {
    /// Starts a master, which reads what is stored and then leads.
    pub fn start(conf: MasterServerConf) -> Result<Self, DeployError> {
        conf.security.check_listen(&conf.host, conf.port)?;
        let machine = Master::new(conf.machine.clone(), RandomState::new().hash_one("master"))?;
        let store: Box<dyn Store> = match &conf.store {
            StoreConf::None => Box::new(NoStore),
            StoreConf::Files { folder, compression } => Box::new(FileStore::open(folder, *compression)?),
        };
        let (uploads, own_folder) = uploads(&conf)?;

        let (inbox, notes) = sync_channel(INBOX_CAPACITY);
        let numbers = PeerNumbers::default();
        let listener = listen(&conf, &uploads, &numbers, &inbox)?;
        let host = reachable_host(&conf.host, conf.public_host.as_deref());
        let address = Address::new(host, listener.address().port());
        tracing::info!(%address, "master listens");

        let ended = Latch::default();
        let run = Run {
            machine,
            url: url(&address),
            clock: Clock::start(),
            store,
            peers: Peers::default(),
            numbers,
            uploads,
            artifact_age: conf.artifact_age,
            chores: Chores::start("master-chores")?,
        };
        let thread = spawn("master", {
            let guard = Guard(ended.clone());
            move || {
                let ending = run.run(&notes);
                tracing::info!(?ending, "master ended");
                guard.0.set(ending);
            }
        })?;
        Ok(Self { address, inbox, listener, thread: Mutex::new(Some(thread)), ended, _artifacts: own_folder })
    }

    /// Where others reach it.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Its address as users write it: `firesteel://host:port`.
    pub fn url(&self) -> String {
        url(&self.address)
    }

    /// How things are; none when the master has ended.
    pub fn status(&self) -> Option<MasterStatus> {
        let (asked, answer) = channel();
        self.inbox.send(Note::Status(asked)).ok()?;
        answer.recv().ok()
    }

    /// Closes every connection and ends its threads. What is stored stays, for the next master.
    ///
    /// Workers and applications are told nothing: to them it is as if the master had been killed.
    pub fn stop(&self) {
        // Fails when the master has ended by itself.
        let _ = self.inbox.send(Note::Stop);
        if let Some(thread) = self.thread.lock().take() {
            // A panic is told by the latch.
            let _ = thread.join();
        }
        self.listener.stop();
    }

    /// Waits until the master has ended, and returns how.
    pub fn wait(&self) -> Ending {
        self.ended.wait()
    }
}

impl Drop for MasterServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn listen(
    conf: &MasterServerConf,
    uploads: &Arc<Uploads>,
    numbers: &PeerNumbers,
    inbox: &SyncSender<Note>,
) -> Result<Listener, DeployError> {
    let secrets = OneSecret { realm: Realm::cluster(), secret: conf.security.cluster_secret() };
    let (numbers, inbox) = (numbers.clone(), inbox.clone());
    let services = Services::new()
        .lines::<FromMaster, ToMaster>(Service::Master, conf.line.clone(), move |accepted| {
            accept(accepted, &numbers, &inbox)
        })
        .streams(Service::Artifacts, serve(uploads.clone()));
    let listener = conf.security.listener(Arc::new(secrets));
    Ok(Listener::bind(&conf.host, conf.port, conf.port_tries, listener, services)?)
}

/// The folder of uploads: one that was given, or one that goes with this process however it ends.
fn uploads(conf: &MasterServerConf) -> Result<(Arc<Uploads>, Option<LocalDirs>), DeployError> {
    let (path, own_folder) = match &conf.artifacts {
        Some(path) => (path.clone(), None),
        None => {
            let own = LocalDirs::create(&[env::temp_dir()], "master")?;
            let path = own.folders().map(Path::to_owned).collect::<PathBuf>();
            (path, Some(own))
        }
    };
    let uploads = Uploads::open(&path, conf.max_artifact);
    let uploads = uploads.map_err(|source| DeployError::Folder { path, source })?;
    Ok((Arc::new(uploads), own_folder))
}

fn url(address: &Address) -> String {
    format!("firesteel://{address}")
}
