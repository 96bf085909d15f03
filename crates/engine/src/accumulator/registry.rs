//! The accumulators of an application, by id.

use firesteel_scheduler::AccumulatorScope;

use super::Updates;

/// Every accumulator that a handle can reach.
#[derive(Default)]
pub(crate) struct AccumulatorRegistry {}

impl AccumulatorRegistry {
    /// Adds what a task reported to the totals.
    pub(crate) fn merge(&self, _updates: Updates, _scope: AccumulatorScope) {}
}
