//! The accumulators of an application, by id.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use hashbrown::HashMap;
use parking_lot::Mutex;

use firesteel_scheduler::AccumulatorScope;
use firesteel_storage::codec;
use firesteel_types::{Accumulable, AccumulatorId};

use crate::{
    contain::{contain, discard},
    task::{Accumulate, UpdateValue, Updates},
};

/// Every accumulator that a handle can reach.
#[derive(Default)]
pub(crate) struct AccumulatorRegistry(Mutex<HashMap<AccumulatorId, Entry>>);

struct Entry {
    name: Option<Arc<str>>,
    total: Weak<dyn Total>,
}

/// The total of one accumulator, without its type.
pub(crate) trait Total: Send + Sync {
    /// Adds an update; fails when it cannot be read. Gives the update and the new total as text if `shown` is set.
    fn merge(&self, update: UpdateValue, shown: bool) -> Result<Option<(String, String)>, String>;
}

impl<A: Accumulate> Total for Mutex<A> {
    fn merge(&self, update: UpdateValue, shown: bool) -> Result<Option<(String, String)>, String> {
        let update = match update {
            UpdateValue::Typed(update) => {
                *update.downcast::<A>().map_err(|_| "it has another type".to_owned())?
            }
            UpdateValue::Bytes(bytes) => codec::read_value(&bytes).map_err(|error| error.to_string())?,
        };
        let update_text = shown.then(|| shorten(&update));
        let mut total = self.lock();
        total.merge(update);
        Ok(update_text.map(|update| (update, shorten(&*total))))
    }
}

impl AccumulatorRegistry {
    pub(crate) fn add(&self, id: AccumulatorId, name: Option<Arc<str>>, total: &Arc<dyn Total>) {
        self.0.lock().insert(id, Entry { name, total: Arc::downgrade(total) });
    }

    /// No handle is left.
    pub(crate) fn remove(&self, id: AccumulatorId) {
        self.0.lock().remove(&id);
    }

    /// Adds what a task reported to the totals. An update that cannot be merged is logged and left out; the others, the
    /// task and the job are not affected. Returns what was added to accumulators that have a name, if there are
    /// listeners.
    pub(crate) fn merge(
        &self,
        updates: Updates,
        scope: AccumulatorScope,
        listened: bool,
    ) -> Vec<Accumulable> {
        match scope {
            AccumulatorScope::All => (),
            // Only figures of the engine itself count on failure, and those travel as metrics.
            AccumulatorScope::CountedOnFailure => return Vec::new(),
        }
        updates.0.into_iter().filter_map(|(id, update)| self.merge_one(id, update, listened)).collect()
    }

    fn merge_one(&self, id: AccumulatorId, update: UpdateValue, listened: bool) -> Option<Accumulable> {
        let found = self.0.lock().get(&id).map(|entry| (entry.name.clone(), entry.total.upgrade()));
        let Some((name, Some(total))) = found else {
            tracing::debug!(%id, "an update of an accumulator that is gone was left out");
            discard(update);
            return None;
        };
        match contain(|| total.merge(update, listened && name.is_some())) {
            Ok(Ok(texts)) => {
                let (update, value) = texts?;
                return Some(Accumulable { id, name: name?, update, value });
            }
            Ok(Err(error)) => tracing::error!(%id, %error, "an update of an accumulator cannot be read"),
            Err(message) => tracing::error!(%id, message, "merging an update of an accumulator panicked"),
        }
        None
    }
}

/// The most of an accumulator's text that is shown.
const SHOWN_BYTES_MAX: usize = 1000;

/// A value as text, cut off where it gets long; so the cost does not grow with a collection.
fn shorten<A: Accumulate>(value: &A) -> String {
    let mut text = Shortened(String::new());
    match value.show(&mut text) {
        Ok(()) => text.0,
        Err(fmt::Error) => text.0 + "…",
    }
}

/// Takes text until it is full.
struct Shortened(String);

impl fmt::Write for Shortened {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = SHOWN_BYTES_MAX.saturating_sub(self.0.len());
        self.0.push_str(&more[..more.floor_char_boundary(room)]);
        if more.len() > room { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Collection, LongSum};

    #[test]
    fn long_values_are_cut_off_between_two_characters() {
        let long = Collection(vec!["ä".repeat(700)]);

        let text = shorten(&long);

        // The list's own two marks, whole characters up to the limit, and the sign that something is missing.
        assert_eq!(text, format!("[\"{}…", "ä".repeat((SHOWN_BYTES_MAX - 2) / 2)));
        assert_eq!(shorten(&LongSum { sum: -3, count: 1 }), "-3");
    }
}
