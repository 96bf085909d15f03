//! An executor's cache of the driver's tables.
//!
//! [`MapOutputClient`] sees to it that however many tasks want a table, the driver is asked once, and that no
//! table outlives the epoch it was asked in. It sends nothing itself.
//!
//! ```text
//!            want: Ask              on_table
//!   (absent) --------->  Fetching  ---------> Cached
//!      ^                 |      |               |
//!      +-----------------+      | on_epoch      |
//!      | on_unavailable         v               |
//!      |                 Fetching, to be asked  |
//!      |                 again                  |
//!      +----------------------------------------+
//!         on_epoch, a missing output, forget
//! ```
//!
//! A table that comes unasked, by `on_offer`, is cached at once, unless it is being fetched.

use std::{collections::BTreeMap, ops::Range};

use firesteel_types::{AttemptId, FetchFailure, ShuffleId};
use serde::{Deserialize, Serialize};

use super::{ExecutorBlocks, MapTable, input};

/// What a task that wants a table must do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lookup {
    /// Use this one.
    Cached(MapTable),
    /// Wait, after asking the driver.
    Ask,
    /// Wait: the driver has been asked.
    Wait,
}

/// What to do with a table that the driver sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum OnTable {
    /// Give the table to these tasks.
    Wake { requesters: Vec<AttemptId>, table: MapTable },
    /// Ask the driver again: outputs were lost after it was asked, and this table may still list them.
    AskAgain,
    /// Nothing: no task asked for it, or those that did were told that it cannot be had.
    Ignored,
}

/// The tables an executor has and those it waits for.
#[derive(Clone, Debug, Default)]
pub struct MapOutputClient {
    epoch: u64,
    tables: BTreeMap<ShuffleId, Table>,
}

#[derive(Clone, Debug)]
enum Table {
    /// The driver was asked for the first of `waiting`.
    Fetching {
        waiting: Vec<AttemptId>,
        then: Then,
    },
    Cached(MapTable),
}

/// What becomes of an answer of the driver.
#[derive(Clone, Copy, Debug)]
enum Then {
    Keep,
    /// The epoch advanced after the question.
    AskAgain,
    /// The shuffle ended after the request: the waiting tasks get the reply, and it is not cached.
    PassOn,
}

impl MapOutputClient {
    /// A client that knows nothing, in epoch 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// The largest epoch seen.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The task `requester` wants the table of `shuffle`.
    pub fn want(&mut self, shuffle: ShuffleId, requester: AttemptId) -> Lookup {
        match self.tables.get_mut(&shuffle) {
            Some(Table::Cached(table)) => Lookup::Cached(table.clone()),
            Some(Table::Fetching { waiting, .. }) => {
                waiting.push(requester);
                Lookup::Wait
            }
            None => {
                let fetching = Table::Fetching { waiting: vec![requester], then: Then::Keep };
                self.tables.insert(shuffle, fetching);
                Lookup::Ask
            }
        }
    }

    /// The driver answered with the table of `shuffle`.
    pub fn on_table(&mut self, shuffle: ShuffleId, table: MapTable) -> OnTable {
        let Some(Table::Fetching { waiting, then }) = self.tables.get_mut(&shuffle) else {
            return OnTable::Ignored; // An answer to a question that was given up.
        };
        let requesters = match then {
            Then::AskAgain => {
                *then = Then::Keep;
                return OnTable::AskAgain;
            }
            Then::Keep => {
                let requesters = std::mem::take(waiting);
                self.tables.insert(shuffle, Table::Cached(table.clone()));
                requesters
            }
            Then::PassOn => {
                let requesters = std::mem::take(waiting);
                self.tables.remove(&shuffle);
                requesters
            }
        };
        OnTable::Wake { requesters, table }
    }

    /// The driver sent the table of `shuffle` unasked, as it was in `epoch`, which advances to that. An older one is
    /// ignored, and so is one that the driver was asked for meanwhile: the answer comes.
    pub fn on_offer(&mut self, epoch: u64, shuffle: ShuffleId, table: MapTable) {
        self.on_epoch(epoch);
        if epoch == self.epoch && !matches!(self.tables.get(&shuffle), Some(Table::Fetching { .. })) {
            self.tables.insert(shuffle, Table::Cached(table));
        }
    }

    /// The driver did not answer, or its answer cannot be read. Returns the tasks that waited; each of them has a
    /// [metadata failure](Self::unavailable). The next task that wants the table asks again.
    pub fn on_unavailable(&mut self, shuffle: ShuffleId) -> Vec<AttemptId> {
        match self.tables.remove(&shuffle) {
            Some(Table::Fetching { waiting, .. }) => waiting,
            Some(cached @ Table::Cached(_)) => {
                // Late: another answer came first.
                self.tables.insert(shuffle, cached);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// The failure of a task for `reducer` that waited in vain for the table of `shuffle`.
    pub fn unavailable(shuffle: ShuffleId, reducer: u32, message: impl Into<String>) -> FetchFailure {
        input::metadata_failure(shuffle, reducer, message.into())
    }

    /// A task brought `epoch` along. A larger one than before drops every table, and makes the answers that are
    /// under way useless: the driver may have given them before it lost outputs.
    pub fn on_epoch(&mut self, epoch: u64) {
        if epoch <= self.epoch {
            return;
        }
        self.epoch = epoch;
        self.drop_cached();
        for table in self.tables.values_mut() {
            if let Table::Fetching { then: then @ Then::Keep, .. } = table {
                *then = Then::AskAgain;
            }
        }
    }

    /// The blocks that the reducers in `reducers` read, by the executor that holds them, from a table that
    /// [`want`](Self::want) or [`on_table`](Self::on_table) gave.
    ///
    /// A missing output is a fetch failure, and shows that the cache is out of date: all of it is dropped.
    pub fn reducer_input(
        &mut self,
        shuffle: ShuffleId,
        table: &MapTable,
        reducers: Range<u32>,
    ) -> Result<Vec<ExecutorBlocks>, FetchFailure> {
        input::reducer_input(shuffle, table.iter().map(Option::as_ref), reducers)
            .inspect_err(|_| self.drop_cached())
    }

    /// The shuffle is over.
    pub fn forget(&mut self, shuffle: ShuffleId) {
        match self.tables.get_mut(&shuffle) {
            Some(Table::Fetching { then, .. }) => *then = Then::PassOn,
            Some(Table::Cached(_)) => drop(self.tables.remove(&shuffle)),
            None => (),
        }
    }

    /// Whether no answer of the driver is under way.
    pub fn is_quiescent(&self) -> bool {
        self.tables.values().all(|table| matches!(table, Table::Cached(_)))
    }

    fn drop_cached(&mut self) {
        self.tables.retain(|_, table| matches!(table, Table::Fetching { .. }));
    }
}
