//! The application's side of the cluster: [`AppClient`] owns the scheduler's
//! [`Client`](firesteel_scheduler::client::Client) machine inside the driver.
//!
//! One thread owns the machine and calls the driver back ([`AppEvents`]). What the driver does with executors is not
//! known here.

mod app_client;
mod conf;
mod events;
mod run;

pub use app_client::AppClient;
pub use conf::AppClientConf;
pub use events::{AppEvents, ExecutorPlace};
