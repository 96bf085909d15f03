//! What a driver is told of its cluster: [`AppEvents`].

use firesteel_types::{AppId, ExecutorId, Host, WorkerId};

/// Where an executor is, and what it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorPlace {
    /// Its worker.
    pub worker: WorkerId,
    /// The worker's host.
    pub host: Host,
    /// The worker's port.
    pub port: u16,
    /// Its cores.
    pub cores: u32,
    /// Its memory in mebibytes.
    pub memory_mib: u64,
}

/// Takes news of the cluster, one after the other, on the thread of the client.
///
/// Must not wait for the client: its requests are answered on this very thread.
pub trait AppEvents: Send + Sync + 'static {
    /// A master has taken the application in under this id, or is there again after a loss.
    fn connected(&self, app: &AppId);

    /// The master is lost. The executors go on, and the client looks for the master.
    fn disconnected(&self);

    /// The application has no master and will have none. Said at most once.
    fn dead(&self, reason: &str);

    /// An executor was ordered from a worker. It will come by itself.
    fn executor_added(&self, executor: ExecutorId, place: &ExecutorPlace);

    /// An executor is gone. With a host, everything on that host is gone too.
    fn executor_removed(
        &self,
        executor: ExecutorId,
        message: &str,
        exit_code: Option<i32>,
        worker_host: Option<&Host>,
    );

    /// An executor will leave.
    fn executor_decommissioned(&self, executor: ExecutorId, message: &str, worker_host: Option<&Host>);

    /// A worker is gone.
    fn worker_removed(&self, worker: &WorkerId, host: &Host, message: &str);
}
