//! Logs on standard error.

use tracing::level_filters::LevelFilter;

/// Logs from the level up that the environment sets (`FIRESTEEL_LOG`), or else from `usual` up.
pub(crate) fn start(usual: LevelFilter) {
    let level = std::env::var("FIRESTEEL_LOG").ok().and_then(|level| level.parse().ok()).unwrap_or(usual);
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_ansi(false);
    // Fails when another subscriber is installed already.
    let _ = log.try_init();
}
