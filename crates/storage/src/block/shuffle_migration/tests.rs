//! Which map outputs go where when peers fail, leave or are full.

use std::{collections::BTreeMap, fs::File};

use firesteel_types::{ExecutorId, PartitionId, ShuffleId, StorageLevel};

use super::*;
use crate::block::BlockId;

fn output(shuffle: u32, map: u32) -> MapOutputId {
    MapOutputId { shuffle: ShuffleId(shuffle), map: PartitionId(map) }
}

fn target(number: u32) -> Peer {
    Peer::executor(ExecutorId(number), format!("host-{number}"))
}

/// Map outputs of which some vanish.
struct Outputs {
    listed: Vec<MapOutputId>,
    deleted: Mutex<BTreeSet<MapOutputId>>,
}

impl Outputs {
    fn of(listed: &[MapOutputId]) -> Self {
        Self { listed: listed.to_vec(), deleted: Mutex::default() }
    }
}

impl MapOutputs for Outputs {
    fn list(&self) -> Vec<MapOutputId> {
        self.listed.clone()
    }

    fn open(&self, output: MapOutputId) -> io::Result<Option<(Bytes, Body)>> {
        let is_deleted = self.deleted.lock().contains(&output);
        Ok((!is_deleted).then(|| (Bytes::from_static(b"index"), Body::Bytes(output.to_string().into()))))
    }
}

/// What a peer does with a map output.
#[derive(Clone, Copy)]
enum Reaction {
    Takes,
    Fails,
    IsDecommissioning,
    NoRoom,
}

/// Peers with a reaction each, which note what they were sent.
#[derive(Default)]
struct Receivers {
    reactions: BTreeMap<PeerId, Reaction>,
    tried: Mutex<Vec<(MapOutputId, PeerId)>>,
}

impl Receivers {
    fn new(reactions: &[(u32, Reaction)]) -> Self {
        let reactions = reactions.iter().map(|(number, reaction)| (target(*number).id, *reaction)).collect();
        Self { reactions, tried: Mutex::default() }
    }

    fn targets(&self) -> Vec<Peer> {
        self.reactions.keys().map(|id| Peer { id: id.clone(), ..target(0) }).collect()
    }

    fn tries_of(&self, peer: u32) -> usize {
        self.tried.lock().iter().filter(|(_, to)| *to == target(peer).id).count()
    }
}

impl Peers for Receivers {
    fn fetch(&self, _: &PeerId, _: BlockId) -> Result<Bytes, PeerError> {
        unreachable!("nothing is fetched")
    }

    fn fetch_to_file(&self, _: &PeerId, _: BlockId, _: &mut File) -> Result<u64, PeerError> {
        unreachable!("nothing is fetched")
    }

    fn upload(&self, _: &PeerId, _: BlockId, _: StorageLevel, _: Body) -> Result<(), PeerError> {
        unreachable!("no blocks are uploaded")
    }

    fn upload_map_output(
        &self,
        to: &PeerId,
        output: MapOutputId,
        index: Bytes,
        data: Body,
    ) -> Result<(), PeerError> {
        assert_eq!(index, "index");
        assert_eq!(data.len(), output.to_string().len() as u64);
        self.tried.lock().push((output, to.clone()));
        let peer = to.clone();
        match self.reactions[to] {
            Reaction::Takes => Ok(()),
            Reaction::Fails => Err(PeerError::Broken { peer, source: io::ErrorKind::BrokenPipe.into() }),
            Reaction::IsDecommissioning => Err(PeerError::Decommissioning { peer }),
            Reaction::NoRoom => Err(PeerError::NoRoom { peer }),
        }
    }
}

/// One thread, so that the order is certain.
const IN_ORDER: ShuffleMigration = ShuffleMigration { threads: 1, tries: 3 };

/// Behaviours: BLK-022.
#[test]
fn map_outputs_go_to_all_peers_in_turn_ordered_by_shuffle_and_map() {
    let outputs = Outputs::of(&[output(1, 0), output(0, 10), output(0, 2), output(0, 2)]);
    let peers = Receivers::new(&[(1, Reaction::Takes), (2, Reaction::Takes)]);

    let report = IN_ORDER.run(&outputs, &peers.targets(), &peers);

    let expected =
        [(output(0, 2), target(1).id), (output(0, 10), target(2).id), (output(1, 0), target(1).id)];
    assert_eq!(*peers.tried.lock(), expected);
    assert_eq!(report, ShuffleMigrationReport { moved: expected.to_vec(), ..Default::default() });
}

/// Behaviours: BLK-022.
#[test]
fn each_map_output_is_tried_three_times() {
    let outputs = Outputs::of(&[output(0, 0), output(0, 1)]);
    let peers = Receivers::new(&[(1, Reaction::Fails)]);

    let report = IN_ORDER.run(&outputs, &peers.targets(), &peers);

    assert_eq!(peers.tries_of(1), 6);
    assert_eq!(report.failed, [output(0, 0), output(0, 1)]);
}

/// Behaviours: BLK-022.
#[test]
fn the_next_try_goes_to_another_peer() {
    let outputs = Outputs::of(&[output(0, 0)]);
    let peers = Receivers::new(&[(1, Reaction::Fails), (2, Reaction::Takes)]);

    let report = IN_ORDER.run(&outputs, &peers.targets(), &peers);

    assert_eq!(report.moved, [(output(0, 0), target(2).id)]);
}

/// Behaviours: BLK-022.
#[test]
fn a_map_output_that_was_deleted_meanwhile_is_done() {
    let outputs = Outputs::of(&[output(0, 0), output(0, 1)]);
    outputs.deleted.lock().insert(output(0, 0));
    let peers = Receivers::new(&[(1, Reaction::Takes)]);

    let report = IN_ORDER.run(&outputs, &peers.targets(), &peers);

    assert_eq!(report.deleted, [output(0, 0)]);
    assert_eq!(report.moved, [(output(0, 1), target(1).id)]);
}

/// Behaviours: BLK-022.
#[test]
fn a_peer_that_decommissions_is_dropped_and_costs_no_try() {
    let outputs = Outputs::of(&[output(0, 0), output(0, 1), output(0, 2)]);
    let peers = Receivers::new(&[(1, Reaction::IsDecommissioning), (2, Reaction::Takes)]);

    let report = ShuffleMigration { threads: 1, tries: 1 }.run(&outputs, &peers.targets(), &peers);

    assert_eq!(peers.tries_of(1), 1);
    assert_eq!(report.moved.len(), 3);
}

/// Behaviours: BLK-022.
#[test]
fn without_peers_migration_stops() {
    let outputs = Outputs::of(&[output(0, 0), output(0, 1)]);
    let peers = Receivers::new(&[(1, Reaction::IsDecommissioning)]);

    let report = IN_ORDER.run(&outputs, &peers.targets(), &peers);

    assert_eq!(peers.tries_of(1), 1);
    assert_eq!(report.left, [output(0, 0), output(0, 1)]);
    assert_eq!(IN_ORDER.run(&outputs, &[], &peers).left, report.left);
}

/// Behaviours: BLK-023.
#[test]
fn peers_without_room_do_no_harm() {
    let outputs = Outputs::of(&[output(0, 0)]);
    let peers = Receivers::new(&[(1, Reaction::NoRoom), (2, Reaction::NoRoom)]);

    let report = IN_ORDER.run(&outputs, &peers.targets(), &peers);

    assert_eq!(report, ShuffleMigrationReport { failed: vec![output(0, 0)], ..Default::default() });
}

/// Behaviours: BLK-022.
#[test]
fn eight_threads_move_every_map_output_once() {
    let all: Vec<_> = (0..200).map(|map| output(map % 3, map)).collect();
    let outputs = Outputs::of(&all);
    let peers = Receivers::new(&[(1, Reaction::Takes), (2, Reaction::Takes), (3, Reaction::Fails)]);

    let report = ShuffleMigration::default().run(&outputs, &peers.targets(), &peers);

    assert_eq!(ShuffleMigration::default().threads, 8);
    let moved: Vec<_> = report.moved.iter().map(|(output, _)| *output).collect();
    let expected: BTreeSet<_> = all.into_iter().collect();
    assert!(moved.iter().eq(&expected), "each once, in order");
    assert!(report.moved.iter().all(|(_, peer)| *peer != target(3).id));
}
