//! `firesteel cluster`: a whole cluster on this machine, as processes of their own.
//!
//! ```text
//! <folder>/cluster.json        which processes run, and where
//! <folder>/lock                held while a command changes the cluster
//! <folder>/logs/               what master and workers log
//! <folder>/work                a folder for each worker: where its executors and drivers run
//! <folder>/local/              blocks and shuffle files
//! ```
//!
//! A process is known by its number, the time it began and the run of the machine, so that `down` ends exactly those
//! that `up` has started.

mod down;
mod folder;
mod launch;
mod process;
mod run;
mod state;
mod status;
mod up;

pub(crate) use folder::{Folder, default_folder};
pub(crate) use run::run;
