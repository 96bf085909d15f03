//! The broadcast values of one executor.

/// The broadcast values of one executor, by id.
#[derive(Default)]
pub(crate) struct BroadcastStore {}

impl BroadcastStore {
    /// Forgets everything.
    pub(crate) fn clear(&self) {}
}
