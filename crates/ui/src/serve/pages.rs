//! What a site shows: [`Pages`].

use axum::Router;

use super::answer::Answer;

/// What a site shows.
///
/// Made by [`Pages::master`], [`Pages::worker`], [`Pages::app`] and [`Pages::submissions`].
pub struct Pages {
    /// Called on the thread of the site, so that starting one costs little.
    make: Box<dyn FnOnce() -> Router + Send>,
}

impl Pages {
    /// What `make` gives. All other addresses answer that there is nothing.
    pub(crate) fn new(make: impl FnOnce() -> Router + Send + 'static) -> Self {
        let nothing = || async { Answer::not_found("there is no such page") };
        Self::with_own_fallback(move || make().fallback(nothing))
    }

    /// What `make` gives, which answers for all addresses.
    pub(crate) fn with_own_fallback(make: impl FnOnce() -> Router + Send + 'static) -> Self {
        Self { make: Box::new(make) }
    }

    pub(super) fn router(self) -> Router {
        (self.make)()
    }
}

impl std::fmt::Debug for Pages {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Pages").finish_non_exhaustive()
    }
}
