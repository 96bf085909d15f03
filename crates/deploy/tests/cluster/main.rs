//! Master, workers and applications with real sockets, folders and processes.

mod apps;
mod artifacts;
mod drivers;
mod killing;
mod leftovers;
mod local;
mod logs;
mod losses;
mod parts;
mod recovery;
mod security;
mod shuffle;
mod support;
