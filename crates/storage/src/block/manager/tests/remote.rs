//! Reading from other processes.

use std::{fs, path::Path};

use super::*;
use crate::block::{BlockData, Peer, PeerId, testing::content};

const ID: BlockId = BlockId::Rdd { rdd: RddId(0), partition: firesteel_types::PartitionId(0), generation: 0 };

fn executor(number: u32) -> PeerId {
    PeerId::Executor(ExecutorId(number))
}

/// A cluster in which all executors but the first hold the block.
fn all_but_the_first_hold(count: u32) -> Cluster {
    let cluster = Cluster::of(count, 1000);
    for node in &cluster.nodes[1..] {
        put_new(&node.manager, ID, typed(5, 10), MEMORY_ONLY).unwrap();
    }
    cluster
}

/// Behaviours: BLK-010.
#[test]
fn a_block_comes_from_here_else_from_elsewhere_else_it_is_computed() {
    let cluster = all_but_the_first_hold(2);
    let manager = cluster.manager(0);
    let mut computed = 0;
    let mut sources = Vec::new();
    let mut get = |id| {
        let compute = || {
            computed += 1;
            Ok(typed(6, 10))
        };
        match manager.get_or_else::<BlockError>(id, MEMORY_ONLY, task(1), Wait::FOREVER, compute) {
            Ok(Outcome::Kept(read)) => sources.push(read.source().clone()),
            other => panic!("{other:?}"),
        }
    };

    get(ID);
    get(rdd_block(0, 1));
    get(rdd_block(0, 1));

    assert_eq!(sources, [Source::Remote(executor(1)), Source::Memory, Source::Memory]);
    assert_eq!(computed, 1);
    assert_eq!(read(manager, ID).unwrap(), [5; 10]);
}

/// Behaviours: BLK-011.
#[test]
fn a_neighbours_file_is_read_straight_and_the_network_serves_what_is_in_memory() {
    let mut cluster = Cluster::empty();
    for number in 0..2 {
        cluster.add(Peer::executor(ExecutorId(number), "same-host"), 1000);
    }
    cluster.network.shares_files.store(true, Ordering::Relaxed);
    let id = rdd_block(0, 0);
    put(cluster.manager(1), id, 10, StorageLevel::DISK_ONLY);

    let got = cluster.manager(0).get_remote(id).unwrap();
    assert!(matches!(got.data(), BlockData::File(file) if !file.is_temporary()));
    assert_eq!(content(got.into_parts().0).unwrap(), [1; 10]);
    assert_eq!(cluster.network.asked(), []);

    put(cluster.manager(1), rdd_block(0, 1), 10, MEMORY_ONLY);
    assert_eq!(read(cluster.manager(0), rdd_block(0, 1)).unwrap(), [1; 10]);
    assert_eq!(cluster.network.asked(), [executor(1)]);
}

/// Behaviours: BLK-011.
#[test]
fn a_neighbours_file_that_is_gone_or_cut_is_asked_for_over_the_network() {
    for damage in [|path: &Path| fs::remove_file(path).unwrap(), |path: &Path| fs::write(path, "x").unwrap()]
    {
        let mut cluster = Cluster::empty();
        for number in 0..2 {
            cluster.add(Peer::executor(ExecutorId(number), "same-host"), 1000);
        }
        cluster.network.shares_files.store(true, Ordering::Relaxed);
        let id = rdd_block(0, 0);
        put(cluster.manager(1), id, 10, StorageLevel::MEMORY_AND_DISK_SER);
        cluster.manager(1).memory_store().evict(10, None);
        assert!(read_local(cluster.manager(1), id).is_some(), "in memory again, and on disk");
        damage(&cluster.nodes[1].folder.path().join("rdd_0_0"));

        assert_eq!(read(cluster.manager(0), id).unwrap(), [1; 10]);
        assert_eq!(cluster.network.asked(), [executor(1)]);
    }
}

/// Behaviours: BLK-012.
#[test]
fn a_holder_that_fails_is_passed_over() {
    let cluster = all_but_the_first_hold(4);
    for number in [1, 2] {
        cluster.network.break_off(number);
    }

    assert_eq!(read(cluster.manager(0), ID).unwrap(), [5; 10]);
    assert_eq!(cluster.network.asked().last(), Some(&executor(3)));
}

/// Behaviours: BLK-012.
#[test]
fn as_many_failures_as_holders_mean_not_found() {
    let cluster = all_but_the_first_hold(9);
    for number in 1..9 {
        cluster.network.break_off(number);
    }

    assert_eq!(read(cluster.manager(0), ID), None);
    assert_eq!(cluster.network.asked().len(), 8, "5 before the master is asked again, and 3 after");
    assert_eq!(read(cluster.manager(0), rdd_block(9, 9)), None, "no process has ever held it");
    assert_eq!(cluster.network.asked().len(), 8);
}

/// A directory whose answer changes after the first question.
struct OutOfDate {
    asked: AtomicU32,
    first: Vec<Peer>,
    then: Vec<Peer>,
}

impl Directory for OutOfDate {
    fn register(&self, _: &Registration) -> Registered {
        Registered::Accepted
    }

    fn report(&self, _: ExecutorId, _: &[BlockUpdate]) -> Answer {
        Answer::Noted
    }

    fn locations(&self, _: BlockId) -> crate::block::Locations {
        let is_first = self.asked.fetch_add(1, Ordering::Relaxed) == 0;
        let holders = if is_first { self.first.clone() } else { self.then.clone() };
        crate::block::Locations { holders, size: 10 }
    }

    fn peers(&self, _: ExecutorId) -> Vec<Peer> {
        Vec::new()
    }
}

fn peer(number: u32) -> Peer {
    Peer::executor(ExecutorId(number), format!("host-{number}"))
}

/// A manager in the place of the first that asks a directory of its own.
fn manager_with(cluster: &Cluster, directory: &Arc<OutOfDate>) -> Arc<BlockManager> {
    let node = &cluster.nodes[0];
    BlockManager::new(BlockManagerParts {
        executor: ExecutorId(0),
        peer: peer(0),
        memory: node.budget.clone(),
        files: Arc::new(crate::block::OneFolder::new(node.folder.path())),
        directory: directory.clone(),
        peers: cluster.network.clone(),
        clock: Arc::new(|| Timestamp::ZERO),
        options: BlockOptions::default(),
    })
}

/// Behaviours: BLK-012.
#[test]
fn after_five_failures_the_master_is_asked_again() {
    let cluster = all_but_the_first_hold(2);
    let directory = Arc::new(OutOfDate {
        asked: AtomicU32::new(0),
        first: (10..20).map(peer).collect(),
        then: vec![peer(1)],
    });

    assert_eq!(read(&manager_with(&cluster, &directory), ID).unwrap(), [5; 10]);

    let asked = cluster.network.asked();
    assert_eq!(asked.len(), 6, "{asked:?}");
    assert_eq!(asked[5], executor(1));
    assert_eq!(directory.asked.load(Ordering::Relaxed), 2);
}

/// Behaviours: BLK-012.
#[test]
fn the_master_is_asked_again_only_after_each_fifth_failure() {
    let cluster = Cluster::of(1, 0);
    let dead: Vec<_> = (10..24).map(peer).collect();
    let directory = Arc::new(OutOfDate { asked: AtomicU32::new(0), first: dead.clone(), then: dead });

    assert_eq!(read(&manager_with(&cluster, &directory), ID), None);

    assert_eq!(cluster.network.asked().len(), 14);
    assert_eq!(directory.asked.load(Ordering::Relaxed), 3, "at first, after 5 and after 10 failures");
}

/// Behaviours: BLK-012.
#[test]
fn no_bytes_for_a_block_that_has_some_is_a_failure() {
    let cluster = all_but_the_first_hold(3);
    cluster.network.silent.lock().extend([executor(1), executor(2)]);
    assert_eq!(read(cluster.manager(0), ID), None);
    assert_eq!(cluster.network.asked().len(), 2);

    cluster.network.silent.lock().remove(&executor(2));
    assert_eq!(read(cluster.manager(0), ID).unwrap(), [5; 10]);

    put(cluster.manager(1), rdd_block(0, 1), 0, StorageLevel::MEMORY_ONLY_SER);
    assert_eq!(read(cluster.manager(0), rdd_block(0, 1)).unwrap(), [0; 0], "an empty block is empty");
}

/// Behaviours: BLK-013.
#[test]
fn a_large_block_comes_in_a_file_that_goes_after_use() {
    let mut cluster = Cluster::of(1, 1000);
    let options = BlockOptions { max_remote_in_memory: 50, ..BlockOptions::default() };
    cluster.add_with(Peer::executor(ExecutorId(1), "other"), 1000, options);
    put(cluster.manager(0), rdd_block(0, 0), 50, MEMORY_ONLY);
    put(cluster.manager(0), rdd_block(0, 1), 51, MEMORY_ONLY);
    let (reader, node) = (cluster.manager(1), &cluster.nodes[1]);

    let small = reader.get_remote(rdd_block(0, 0)).unwrap();
    assert!(matches!(small.data(), BlockData::Bytes(_)));
    let large = reader.get_remote(rdd_block(0, 1)).unwrap();
    assert!(matches!(large.data(), BlockData::File(file) if file.is_temporary() && file.len() == 51));
    assert_eq!(node.files(), 1);
    assert_eq!(content(large.into_parts().0).unwrap(), [1; 51]);

    assert_eq!(node.files(), 0);
    cluster.network.break_off(0);
    assert!(reader.get_remote(rdd_block(0, 1)).is_none());
    assert_eq!(node.files(), 0, "nor does a failure leave one");
    assert_eq!(BlockOptions::default().max_remote_in_memory, 200 << 20);
}
