//! What Ctrl-C and SIGTERM do: end the processes that were started, and let this one clean up after them.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use anyhow::{Context, Result, bail};
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::processes::{descendants, terminate};

static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// From now on a signal ends the child processes; a caller that waits for one then asks [`check`].
pub fn watch() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot watch for signals")?;
    thread::spawn(move || {
        for _ in signals.forever() {
            IS_ASKED.store(true, Ordering::Relaxed);
            for process in descendants(std::process::id()) {
                // An error means that it is gone already, which is what was wanted.
                terminate(process.pid).ok();
            }
        }
    });
    Ok(())
}

/// An error once a signal has come.
pub fn check() -> Result<()> {
    if IS_ASKED.load(Ordering::Relaxed) {
        bail!("stopped by a signal");
    }
    Ok(())
}
