//! The `firesteel` command as users meet it: real processes, ports that the system gives.

mod apps;
mod cluster;
mod complaints;
mod daemons;
mod driver_pages;
mod rest;
mod running;
mod submit;
mod support;
mod usage;
#[path = "../../../../testing/waiting.rs"]
mod waiting;
