//! Jobs that are under way.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;

use firesteel_types::{JobId, PartitionId, Properties, StageId, Timestamp};

use crate::event::Partitions;

/// One action between its submission and its end. The caller's waiter lives in the runtime; this is what it waits
/// for.
#[derive(Debug)]
pub(crate) struct ActiveJob {
    pub(crate) id: JobId,
    pub(crate) final_stage: StageId,
    pub(crate) properties: Properties,
    pub(crate) target: JobTarget,
    /// Every stage the job can reach.
    pub(crate) stages: BTreeSet<StageId>,
    pub(crate) submitted: Timestamp,
}

/// What a job is to give.
#[derive(Debug)]
pub(crate) enum JobTarget {
    /// Results of partitions, each handed out as it arrives.
    Results(Results),
    /// The map side of a shuffle, with its statistics.
    MapStage,
}

/// The results a job waits for.
#[derive(Debug)]
pub(crate) struct Results {
    partitions: Partitions,
    finished: FixedBitSet,
    left: u32,
    /// Whether earlier jobs of the action have handed out rows of the same run.
    continues: bool,
}

impl Results {
    pub(crate) fn new(partitions: Partitions, len: u32, continues: bool) -> Self {
        Self { partitions, finished: FixedBitSet::with_capacity(len as usize), left: len, continues }
    }

    /// What the caller has rows of that cannot be taken back, if anything: the stage, or earlier jobs.
    pub(crate) fn handed_out_by(&self, stage: StageId) -> Option<String> {
        if self.left < self.len() {
            Some(stage.to_string())
        } else {
            self.continues.then(|| "an earlier job of the action".to_owned())
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.finished.len() as u32
    }

    pub(crate) fn left(&self) -> u32 {
        self.left
    }

    /// The partition whose result belongs at `position`.
    pub(crate) fn partition(&self, position: u32) -> PartitionId {
        match &self.partitions {
            Partitions::All => PartitionId(position),
            Partitions::Listed(list) => list[position as usize],
        }
    }

    pub(crate) fn is_finished(&self, position: u32) -> bool {
        self.finished.contains(position as usize)
    }

    /// Takes one result. Whether it is the first for its position.
    pub(crate) fn finish(&mut self, position: u32) -> bool {
        let is_first = !self.finished.put(position as usize);
        self.left -= u32::from(is_first);
        is_first
    }

    /// Positions without a result.
    pub(crate) fn missing(&self) -> Vec<u32> {
        self.finished.zeroes().map(|position| position as u32).collect()
    }
}
