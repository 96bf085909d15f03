//! `firesteel submit`: an application here (client mode), or its driver on a worker (cluster mode).

mod client;
mod cluster;
mod files;
mod run;

pub(crate) use run::run;
