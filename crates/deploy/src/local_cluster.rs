//! A whole cluster in one process, with real executors: [`LocalCluster`].

use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

use firesteel_net::{Address, Secret};
use firesteel_storage::disk::LocalDirs;
use parking_lot::Mutex;

use crate::{
    error::DeployError,
    master::{MasterServer, MasterServerConf, MasterStatus},
    security::Security,
    worker::{WorkerServer, WorkerServerConf},
};

/// How long the workers of a local cluster may take to register.
const REGISTRATION_TIMEOUT: Duration = Duration::from_secs(30);

/// How large a local cluster is.
#[derive(Clone, Debug)]
pub struct LocalClusterConf {
    /// How many workers.
    pub workers: u32,
    /// Cores of each.
    pub cores: u32,
    /// Memory of each in mebibytes.
    pub memory_mib: u64,
    /// Where the workers put the folders of their processes; one that goes with the cluster when there is none.
    pub folder: Option<PathBuf>,
    /// Below which executors keep blocks and shuffle files; the same folder when there are none.
    pub local_dirs: Vec<PathBuf>,
    /// Whether the workers serve shuffle files.
    pub shuffle_service: bool,
}

impl LocalClusterConf {
    /// So many workers of this size.
    pub fn new(workers: u32, cores: u32, memory_mib: u64) -> Self {
        Self { workers, cores, memory_mib, folder: None, local_dirs: Vec::new(), shuffle_service: true }
    }
}

/// A master and some workers on threads of this process. Their executors are processes of their own.
///
/// Listens on the loopback only, with a random secret. Dropped, it is stopped, and leaves nothing behind.
///
/// ```
/// use firesteel_deploy::{LocalCluster, LocalClusterConf};
///
/// let cluster = LocalCluster::start(LocalClusterConf::new(2, 1, 512))?;
/// let status = cluster.status().expect("the master runs");
/// assert_eq!(status.workers.len(), 2);
/// cluster.stop();
/// # Ok::<(), firesteel_deploy::DeployError>(())
/// ```
#[derive(Debug)]
pub struct LocalCluster {
    // Dropped in this order: workers first, so that they do not look for a master that is gone.
    workers: Vec<WorkerServer>,
    master: MasterServer,
    secret: Secret,
    folder: Mutex<Option<LocalDirs>>,
}

impl LocalCluster {
    /// Starts a cluster, and returns when all of its workers are taken in.
    pub fn start(conf: LocalClusterConf) -> Result<Self, DeployError> {
        // As text, so that it can be given to drivers in their environment.
        let secret = Secret::new(Secret::random().to_hex().as_bytes()).expect("64 digits are enough");
        let security = Security { secret: Some(secret.clone()), ..Security::default() };
        let (folder, own) = match conf.folder {
            Some(folder) => (folder, None),
            None => {
                let own = LocalDirs::create(&[env::temp_dir()], "cluster")?;
                (own.folders().map(Path::to_owned).collect(), Some(own))
            }
        };
        let master = MasterServer::start(MasterServerConf {
            security: security.clone(),
            ..MasterServerConf::new("127.0.0.1", 0)
        })?;
        let masters = [master.address().clone()];
        let mut workers = Vec::new();
        for number in 0..conf.workers {
            let work_dir = folder.join(format!("worker-{number}"));
            let local_dirs = match &*conf.local_dirs {
                [] => vec![folder.join("local")],
                dirs => dirs.to_vec(),
            };
            let worker = WorkerServerConf {
                security: security.clone(),
                local_dirs,
                shuffle_service: conf.shuffle_service,
                believe_paths: true,
                ..WorkerServerConf::new("127.0.0.1", &masters, conf.cores, conf.memory_mib, work_dir)
            };
            workers.push(WorkerServer::start(worker)?);
        }
        for worker in &workers {
            if !worker.wait_registered(REGISTRATION_TIMEOUT) {
                tracing::warn!(worker = %worker.address(), "a worker is slow to register");
            }
        }
        Ok(Self { workers, master, secret, folder: Mutex::new(own) })
    }

    /// Where the master listens.
    pub fn master(&self) -> &Address {
        self.master.address()
    }

    /// The cluster's secret.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// The secret in the form that clients and applications take.
    pub fn security(&self) -> Security {
        Security { secret: Some(self.secret.clone()), ..Security::default() }
    }

    /// The workers.
    pub fn workers(&self) -> &[WorkerServer] {
        &self.workers
    }

    /// How things are with the master; none when the cluster has stopped.
    pub fn status(&self) -> Option<MasterStatus> {
        self.master.status()
    }

    /// Ends every process and connection of the cluster, and removes its files.
    pub fn stop(&self) {
        // Side by side: each may have to wait for processes that are slow to end.
        std::thread::scope(|scope| {
            for worker in &self.workers {
                scope.spawn(|| worker.stop());
            }
        });
        self.master.stop();
        self.folder.lock().take();
    }
}

impl Drop for LocalCluster {
    fn drop(&mut self) {
        self.stop();
    }
}
