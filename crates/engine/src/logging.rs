//! Logs on standard error, for processes whose program has set up none of its own.
//!
//! A process has one subscriber, and it is the program's to choose: no context installs one. The process of an executor,
//! in which no `main` runs, has ours. A driver's notices, the lines that its user must see, have one of their own.

use firesteel_net::set_fallback;
use tracing::{Subscriber, level_filters::LevelFilter};

/// Sets how much is logged: `off`, `error`, `warn`, `info`, `debug` or `trace`.
const LEVEL: &str = "FIRESTEEL_LOG";

/// Writes the logs of a program that has no subscriber of its own to standard error: warnings and errors, or from the
/// level up that `FIRESTEEL_LOG` names (`off`, `error`, `warn`, `info`, `debug`, `trace`).
///
/// Call it first in `main`. A subscriber that is there already stays. A context never does this by itself: without it, the
/// driver of a cluster writes only what its user must know, such as why no executor comes, and local mode nothing.
///
/// ```
/// use firesteel::prelude::*;
///
/// firesteel::init_logging();
/// let ctx = Context::local(2)?;
/// # Ok::<(), firesteel::Error>(())
/// ```
pub fn init_logging() {
    start(LevelFilter::WARN);
}

/// Logs from the level up that the environment sets, or else from `usual` up.
pub(crate) fn start(usual: LevelFilter) {
    let level = level(usual);
    if level != LevelFilter::OFF {
        // A subscriber of the program's own stays.
        let _ = tracing::subscriber::set_global_default(to_stderr(level));
    }
}

/// Has notices written to standard error as long as the program has no subscriber.
pub(crate) fn show_notices() {
    set_fallback(|| to_stderr(level(LevelFilter::WARN)).into());
}

fn level(usual: LevelFilter) -> LevelFilter {
    std::env::var(LEVEL).ok().and_then(|level| level.parse().ok()).unwrap_or(usual)
}

fn to_stderr(level: LevelFilter) -> impl Subscriber + Send + Sync {
    tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(false).finish()
}
