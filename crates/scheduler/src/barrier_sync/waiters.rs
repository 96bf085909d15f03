//! The tasks that wait in one sync.
//!
//! [`Waiters`] keeps them by partition and takes calls of one kind only. It does not know who is missing.

use std::{collections::BTreeMap, sync::Arc};

use firesteel_types::{AttemptId, PartitionId};
use serde::{Deserialize, Serialize};

use super::SyncCall;

/// Who waits, by the kind of call: a sync has one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Waiters {
    Barrier(BTreeMap<PartitionId, AttemptId>),
    AllGather(BTreeMap<PartitionId, (AttemptId, Arc<str>)>),
}

/// A call of another kind than that of the sync.
pub(super) struct OtherKind;

impl Waiters {
    pub(super) const fn for_call(call: &SyncCall) -> Self {
        match call {
            SyncCall::Barrier => Self::Barrier(BTreeMap::new()),
            SyncCall::AllGather { .. } => Self::AllGather(BTreeMap::new()),
        }
    }

    pub(super) fn add(
        &mut self,
        partition: PartitionId,
        attempt: AttemptId,
        call: SyncCall,
    ) -> Result<(), OtherKind> {
        match (self, call) {
            (Self::Barrier(waiters), SyncCall::Barrier) => {
                waiters.insert(partition, attempt);
            }
            (Self::AllGather(waiters), SyncCall::AllGather { message }) => {
                waiters.insert(partition, (attempt, message));
            }
            (Self::Barrier(_), SyncCall::AllGather { .. }) | (Self::AllGather(_), SyncCall::Barrier) => {
                return Err(OtherKind);
            }
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, partition: PartitionId) {
        match self {
            Self::Barrier(waiters) => drop(waiters.remove(&partition)),
            Self::AllGather(waiters) => drop(waiters.remove(&partition)),
        }
    }

    pub(super) fn holder(&self, partition: PartitionId) -> Option<AttemptId> {
        match self {
            Self::Barrier(waiters) => waiters.get(&partition).copied(),
            Self::AllGather(waiters) => waiters.get(&partition).map(|&(attempt, _)| attempt),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Barrier(waiters) => waiters.len(),
            Self::AllGather(waiters) => waiters.len(),
        }
    }

    pub(super) fn attempts(self) -> Vec<AttemptId> {
        match self {
            Self::Barrier(waiters) => waiters.into_values().collect(),
            Self::AllGather(waiters) => waiters.into_values().map(|(attempt, _)| attempt).collect(),
        }
    }
}
