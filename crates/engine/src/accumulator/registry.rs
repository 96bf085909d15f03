//! The accumulators of an application, by id.

use std::sync::{Arc, Weak};

use hashbrown::HashMap;
use parking_lot::Mutex;

use firesteel_scheduler::AccumulatorScope;
use firesteel_types::AccumulatorId;

use super::{Accumulate, Updates, task::UpdateValue};
use crate::contain::{contain, discard};

/// Every accumulator that a handle can reach.
#[derive(Default)]
pub(crate) struct AccumulatorRegistry(Mutex<HashMap<AccumulatorId, Weak<dyn Total>>>);

/// The total of one accumulator, without its type.
pub(super) trait Total: Send + Sync {
    /// Adds an update; fails when it cannot be read.
    fn merge(&self, update: UpdateValue) -> Result<(), String>;
}

impl<A: Accumulate> Total for Mutex<A> {
    fn merge(&self, update: UpdateValue) -> Result<(), String> {
        let update = match update {
            UpdateValue::Typed(update) => {
                *update.downcast::<A>().map_err(|_| "it has another type".to_owned())?
            }
            UpdateValue::Bytes(bytes) => postcard::from_bytes(&bytes).map_err(|error| error.to_string())?,
        };
        self.lock().merge(update);
        Ok(())
    }
}

impl AccumulatorRegistry {
    pub(super) fn add(&self, id: AccumulatorId, total: &Arc<dyn Total>) {
        self.0.lock().insert(id, Arc::downgrade(total));
    }

    /// No handle is left.
    pub(super) fn remove(&self, id: AccumulatorId) {
        self.0.lock().remove(&id);
    }

    /// Adds what a task reported to the totals. An update that cannot be merged is logged and left out; the others, the
    /// task and the job are not affected.
    pub(crate) fn merge(&self, updates: Updates, scope: AccumulatorScope) {
        match scope {
            AccumulatorScope::All => (),
            // Only figures of the engine itself count on failure, and those travel as metrics.
            AccumulatorScope::CountedOnFailure => return,
        }
        for (id, update) in updates.0 {
            let total = self.0.lock().get(&id).and_then(Weak::upgrade);
            let Some(total) = total else {
                tracing::debug!(%id, "an update of an accumulator that is gone was left out");
                discard(update);
                continue;
            };
            match contain(|| total.merge(update)) {
                Ok(Ok(())) => (),
                Ok(Err(error)) => tracing::error!(%id, %error, "an update of an accumulator cannot be read"),
                Err(message) => tracing::error!(%id, message, "merging an update of an accumulator panicked"),
            }
        }
    }
}
