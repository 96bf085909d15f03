//! Logs on standard error, for processes whose program has set up none of its own.

use tracing::level_filters::LevelFilter;

/// Sets how much is logged: `off`, `error`, `warn`, `info`, `debug` or `trace`.
const LEVEL: &str = "FIRESTEEL_LOG";

/// Logs from the level up that the environment sets, or else from `usual` up. A program that has set up logging of its
/// own before is left alone.
pub(crate) fn start(usual: LevelFilter) {
    let level = std::env::var(LEVEL).ok().and_then(|level| level.parse().ok()).unwrap_or(usual);
    if level == LevelFilter::OFF || tracing::dispatcher::has_been_set() {
        return;
    }
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(false);
    // Another subscriber may be installed already.
    let _ = log.try_init();
}
