//! How a daemon comes to its end.

use std::{process, sync::Arc, thread};

use anyhow::{Context, Result};
use firesteel_deploy::Ending;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

/// A daemon that can be told to end.
pub(super) trait Daemon: Send + Sync + 'static {
    /// Ends it in order.
    fn stop(&self);

    /// Waits until it has ended.
    fn wait(&self) -> Ending;
}

/// Waits until a daemon has ended, by itself or by a signal; a second signal ends the process at once.
pub(super) fn run_until_stopped<D: Daemon>(daemon: &Arc<D>) -> Result<Ending> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).context("cannot listen for signals")?;
    let stopped = daemon.clone();
    // Not waited for: it goes with the process.
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut stop = Some(stopped);
            for signal in signals.forever() {
                match stop.take() {
                    Some(daemon) => {
                        tracing::info!(signal, "told to stop");
                        let stopping =
                            thread::Builder::new().name("stop".to_owned()).spawn(move || daemon.stop());
                        if let Err(error) = stopping {
                            tracing::error!(%error, "cannot stop in order");
                            process::exit(128 + signal);
                        }
                    }
                    None => process::exit(128 + signal),
                }
            }
        })
        .context("cannot start a thread")?;
    let ending = daemon.wait();
    // Also what ended by itself has connections to close and folders to remove.
    daemon.stop();
    if let Ending::GaveUp { reason, .. } = &ending {
        tracing::error!(reason, "gave up");
    }
    Ok(ending)
}

/// Leaves the session of the parent process, so that this one outlives its terminal.
pub(super) fn leave_session(wanted: bool) {
    if wanted && let Err(error) = rustix::process::setsid() {
        tracing::warn!(%error, "stays in the session it was started in");
    }
}
