//! The worker as a process: [`WorkerServer`] owns the scheduler's [`Worker`](firesteel_scheduler::worker::Worker)
//! machine, its processes, their folders and logs, and serves the shuffle files that executors left.
//!
//! One thread owns the machine and never blocks. A thread for each process fetches what it needs, starts it, copies its
//! output and waits for its end; another makes and removes folders.
//!
//! ```text
//! <work>/<app>/<executor>/           where an executor runs: stdout, stderr, its executable, files/
//! <work>/<driver>/                   the same for a driver
//! <work>/cache/<sha256>              artifacts
//! <work>/.firesteel/                 which processes were started, and what is being removed
//! <local>/firesteel-worker-…/<app>/executor-<id>/   blocks and shuffle files
//! ```
//!
//! A worker that is stopped ends its processes. When it is killed, executors and drivers notice by the line they keep
//! to it (see [`WorkerWatch`]); the next worker with the same folders ends what is left and removes its local files.

mod child;
mod conf;
mod environment;
mod folders;
mod launch;
mod logs;
mod output;
mod process_records;
mod resources;
mod rolling;
mod run;
mod server;
mod shuffle_service;
mod status;
mod watch;

pub use conf::{LogRolling, WorkerServerConf};
pub use environment::{addresses_from_json, variable};
pub use logs::{LogError, LogOwner, LogRequest, LogSlice, LogStream};
pub use server::WorkerServer;
pub use status::{WorkerDriver, WorkerExecutor, WorkerStatus};
pub use watch::{Watcher, WorkerWatch};
