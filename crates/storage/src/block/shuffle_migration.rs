//! Moving map outputs to other executors before this process ends: [`ShuffleMigration`].

use std::{
    collections::{BTreeSet, VecDeque},
    io, thread,
};

use bytes::Bytes;
use parking_lot::Mutex;

use super::{Body, MapOutputId, Peer, PeerError, PeerId, Peers};

/// The map outputs of this process.
pub trait MapOutputs: Send + Sync {
    /// All that there are.
    fn list(&self) -> Vec<MapOutputId>;

    /// The index and the data of a map output; `None` if it was deleted meanwhile.
    fn open(&self, output: MapOutputId) -> io::Result<Option<(Bytes, Body)>>;
}

/// What came of moving map outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShuffleMigrationReport {
    /// Copied, with the peer that has the copy.
    pub moved: Vec<(MapOutputId, PeerId)>,
    /// Deleted before they could be copied: no longer needed.
    pub deleted: Vec<MapOutputId>,
    /// Given up after several tries.
    pub failed: Vec<MapOutputId>,
    /// Not tried any more, because no peer is left.
    pub left: Vec<MapOutputId>,
}

/// How map outputs are moved.
#[derive(Clone, Copy, Debug)]
pub struct ShuffleMigration {
    /// How many are copied at the same time.
    pub threads: usize,
    /// How often each is tried.
    pub tries: u32,
}

impl Default for ShuffleMigration {
    fn default() -> Self {
        Self { threads: 8, tries: 3 }
    }
}

/// What the threads share.
struct State {
    queue: VecDeque<MapOutputId>,
    /// The peers that take map outputs, the next to be used first.
    targets: VecDeque<PeerId>,
    report: ShuffleMigrationReport,
}

/// What one try came to.
enum Try {
    Moved,
    Deleted,
    /// The target takes no map outputs any more.
    TargetGone,
    Failed,
}

impl ShuffleMigration {
    /// Copies all map outputs to `targets` in turn, the oldest shuffle first, and in it by map partition.
    ///
    /// A target that is decommissioning itself gets no more of them, at no cost to the map output that found out. Any
    /// other failure costs one try, and the next goes to another target if there is one. Returns when all is done or no
    /// target is left.
    pub fn run(
        &self,
        outputs: &dyn MapOutputs,
        targets: &[Peer],
        peers: &dyn Peers,
    ) -> ShuffleMigrationReport {
        let queue: BTreeSet<_> = outputs.list().into_iter().collect();
        let threads = self.threads.min(queue.len());
        let state = Mutex::new(State {
            queue: queue.into_iter().collect(),
            targets: targets.iter().map(|peer| peer.id.clone()).collect(),
            report: ShuffleMigrationReport::default(),
        });
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| self.work(&state, outputs, peers));
            }
        });
        let State { queue, mut report, .. } = state.into_inner();
        report.left.extend(queue);
        report.moved.sort_unstable();
        for part in [&mut report.deleted, &mut report.failed, &mut report.left] {
            part.sort_unstable();
        }
        report
    }

    /// Copies one map output after the other.
    fn work(&self, state: &Mutex<State>, outputs: &dyn MapOutputs, peers: &dyn Peers) {
        loop {
            let next = state.lock().queue.pop_front();
            let Some(output) = next else { return };
            self.move_one(output, state, outputs, peers);
        }
    }

    fn move_one(
        &self,
        output: MapOutputId,
        state: &Mutex<State>,
        outputs: &dyn MapOutputs,
        peers: &dyn Peers,
    ) {
        let mut failures = Vec::new();
        while failures.len() < self.tries as usize {
            let Some(target) = state.lock().next_target(&failures) else {
                state.lock().report.left.push(output);
                return;
            };
            match try_once(output, &target, outputs, peers) {
                Try::Moved => {
                    state.lock().report.moved.push((output, target));
                    return;
                }
                Try::Deleted => {
                    state.lock().report.deleted.push(output);
                    return;
                }
                Try::TargetGone => state.lock().targets.retain(|peer| *peer != target),
                Try::Failed => failures.push(target),
            }
        }
        state.lock().report.failed.push(output);
    }
}

impl State {
    /// The target that was not used for longest, if possible none of those that failed.
    fn next_target(&mut self, failed: &[PeerId]) -> Option<PeerId> {
        let place = self.targets.iter().position(|target| !failed.contains(target)).unwrap_or(0);
        let target = self.targets.remove(place)?;
        self.targets.push_back(target.clone());
        Some(target)
    }
}

fn try_once(output: MapOutputId, target: &PeerId, outputs: &dyn MapOutputs, peers: &dyn Peers) -> Try {
    let (index, data) = match outputs.open(output) {
        Ok(Some(parts)) => parts,
        Ok(None) => return Try::Deleted,
        Err(error) => {
            tracing::warn!(%output, %error, "cannot read a map output to move it");
            return Try::Failed;
        }
    };
    match peers.upload_map_output(target, output, index, data) {
        Ok(()) => Try::Moved,
        Err(PeerError::Decommissioning { .. }) => Try::TargetGone,
        Err(error) => {
            // It may have been deleted between opening and sending it.
            if matches!(outputs.open(output), Ok(None)) {
                return Try::Deleted;
            }
            tracing::warn!(%output, peer = %target, %error, "cannot move a map output");
            Try::Failed
        }
    }
}

#[cfg(test)]
mod tests;
