//! A driver and four executors that publish, fetch and remove values.

use std::{
    io::ErrorKind,
    sync::{
        Barrier,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use firesteel_types::{AttemptId, ExecutorId};

use super::*;
use crate::block::{
    Peer, PeerId,
    testing::{Cluster, piece, rdd_block, typed},
};

const ID: BroadcastId = BroadcastId(0);
const SMALL: PieceOptions = PieceOptions { size: 100, compress: true };

/// A driver and four executors, and the broadcast values of each.
fn cluster(memory: u64) -> (Cluster, Vec<Broadcasts>) {
    let mut cluster = Cluster::empty();
    cluster.add(Peer::executor(ExecutorId::DRIVER, "driver"), 1 << 20);
    for number in 1..5 {
        cluster.add(Peer::executor(ExecutorId(number), format!("host-{number}")), memory);
    }
    let values = cluster.nodes.iter().map(|node| Broadcasts::new(node.manager.clone(), SMALL)).collect();
    (cluster, values)
}

/// Bytes that do not repeat, for so many pieces.
fn bytes(pieces: usize) -> Vec<u8> {
    let mut rng = Rng::new(1);
    (0..pieces * 100).map(|_| rng.next_u64() as u8).collect()
}

fn publish(broadcasts: &Broadcasts, value: &[u8]) -> Manifest {
    broadcasts.publish(ID, |out| out.write_all(value)).unwrap()
}

fn task(number: u64) -> LockOwner {
    LockOwner::Task(AttemptId(number))
}

fn value(broadcasts: &Broadcasts, manifest: &Manifest) -> Result<BroadcastRead<Vec<u8>>, BroadcastError> {
    broadcasts
        .value(manifest, LockOwner::unique(), Wait::FOREVER, |bytes| Ok((bytes.to_vec(), bytes.len() as u64)))
}

/// How many pieces the driver and all others had to serve.
fn served(cluster: &Cluster) -> (usize, usize) {
    let asked = cluster.network.asked();
    let driver = asked.iter().filter(|peer| **peer == PeerId::Executor(ExecutorId::DRIVER)).count();
    (driver, asked.len() - driver)
}

/// Behaviours: BC-002.
#[test]
fn executors_fetch_from_each_other_so_that_the_driver_serves_a_part() {
    let (cluster, values) = cluster(1 << 20);
    let original = bytes(60);
    let manifest = publish(&values[0], &original);

    for executor in &values[1..] {
        assert_eq!(*value(executor, &manifest).unwrap(), original);
    }

    let (driver, others) = served(&cluster);
    assert_eq!(driver + others, 4 * 60, "each executor fetches each piece once");
    assert!(driver >= 60, "the first has no other peer to ask");
    // One of one, then of two, three and four holders: about 60 + 30 + 20 + 15.
    assert!((100..150).contains(&driver), "the driver served {driver} of 240");
    assert_eq!(cluster.holders(piece(0, 0)).len(), 5);
}

/// Behaviours: BC-002.
#[test]
fn executors_that_begin_together_take_pieces_from_each_other_in_random_order() {
    let (cluster, values) = cluster(1 << 20);
    let original = bytes(60);
    let manifest = publish(&values[0], &original);
    let start = Barrier::new(4);

    thread::scope(|scope| {
        for executor in &values[1..] {
            scope.spawn(|| {
                start.wait();
                assert_eq!(*value(executor, &manifest).unwrap(), original);
            });
        }
    });

    let (driver, others) = served(&cluster);
    assert_eq!(driver + others, 4 * 60);
    let mut orders: Vec<Vec<BlockId>> = vec![Vec::new(); 4];
    // The network notes which peer was asked, not by which: so each fetches once more, one after the other.
    for (executor, order) in values[1..].iter().zip(&mut orders) {
        cluster.network.fetched.lock().clear();
        executor.unpersist(ID, Wait::FOREVER).unwrap();
        value(executor, &manifest).unwrap();
        order.extend(cluster.network.fetched.lock().iter().map(|(_, block)| *block));
    }
    let sorted: Vec<_> = (0..60).map(|number| piece(0, number)).collect();
    for (number, order) in orders.iter().enumerate() {
        assert_ne!(*order, sorted);
        assert!(!orders[..number].contains(order), "each executor has its own order");
    }
}

/// Behaviours: BC-002.
#[test]
fn a_value_is_decoded_once_and_shared_by_all_tasks_of_a_process() {
    let (_cluster, values) = cluster(1 << 20);
    let manifest = publish(&values[0], &bytes(5));
    let (decoded, start) = (AtomicU32::new(0), Barrier::new(4));
    let decode = |bytes: &[u8]| {
        decoded.fetch_add(1, Ordering::SeqCst);
        Ok((bytes.len(), 8))
    };

    let shared: Vec<Arc<usize>> = thread::scope(|scope| {
        let tasks: Vec<_> = (0..4)
            .map(|number| {
                let (manifest, start, executor) = (&manifest, &start, &values[1]);
                scope.spawn(move || {
                    start.wait();
                    executor.value(manifest, task(number), Wait::FOREVER, decode).unwrap().share()
                })
            })
            .collect();
        tasks.into_iter().map(|task| task.join().unwrap()).collect()
    });

    assert_eq!(decoded.load(Ordering::SeqCst), 1);
    assert!(shared.iter().all(|value| Arc::ptr_eq(value, &shared[0])));
    drop(shared);
    values[1].value(&manifest, task(9), Wait::FOREVER, decode).unwrap();
    assert_eq!(decoded.load(Ordering::SeqCst), 1, "it stays as a block while there is room");
}

/// Behaviours: BC-002.
#[test]
fn a_value_in_use_is_shared_also_when_memory_is_short() {
    let (cluster, values) = cluster(0);
    let manifest = publish(&values[0], &bytes(5));

    let first = value(&values[1], &manifest).unwrap();
    let second = value(&values[1], &manifest).unwrap();
    assert!(Arc::ptr_eq(&first.share(), &second.share()));
    assert_eq!(cluster.nodes[1].budget.used(), 0);

    let before = first.share();
    drop((first, second));
    let weak = Arc::downgrade(&before);
    drop(before);
    assert!(weak.upgrade().is_none(), "what there is no room for is not kept");
    cluster.network.fetched.lock().clear();
    value(&values[1], &manifest).unwrap();
    assert_eq!(served(&cluster), (0, 0), "made again from the pieces on disk");
}

/// Behaviours: BC-004.
#[test]
fn pieces_that_do_not_fit_in_memory_go_to_disk() {
    let (cluster, values) = cluster(0);
    let original = bytes(5);
    let manifest = publish(&values[0], &original);

    assert_eq!(*value(&values[1], &manifest).unwrap(), original);

    assert_eq!(cluster.nodes[1].files(), 5);
    assert_eq!(cluster.manager(1).status(piece(0, 3)).level, StorageLevel::DISK_ONLY);
}

/// Behaviours: BC-004.
#[test]
fn a_value_is_what_it_was_when_it_was_published() {
    let (_cluster, values) = cluster(1 << 20);
    let mut original = bytes(2);
    let manifest = publish(&values[0], &original);

    let before = original.clone();
    original.fill(0);

    assert_eq!(*value(&values[1], &manifest).unwrap(), before);
}

/// Behaviours: BC-003.
#[test]
fn after_unpersist_a_value_is_fetched_again_and_after_destroy_never() {
    let (cluster, values) = cluster(1 << 20);
    let manifest = publish(&values[0], &bytes(5));
    value(&values[1], &manifest).unwrap();
    assert_eq!(values[1].unpersist(ID, Wait::FOREVER).unwrap(), 6, "five pieces and the value");
    assert_eq!(cluster.holders(piece(0, 0)), [u32::MAX], "only the driver has it now");
    assert_eq!((cluster.nodes[1].budget.used(), cluster.manager(1).locks().ids(|_| true)), (0, vec![]));

    assert!(value(&values[1], &manifest).is_ok());
    for process in &values {
        process.destroy(ID, Wait::FOREVER).unwrap();
    }

    for process in &values {
        let error = value(process, &manifest).unwrap_err();
        assert!(matches!(error, BroadcastError::Destroyed { id: ID }), "{error}");
    }
}

/// Behaviours: BC-003.
#[test]
fn after_the_drivers_copy_is_gone_too_a_new_executor_cannot_have_the_value() {
    let (_cluster, values) = cluster(1 << 20);
    let manifest = publish(&values[0], &bytes(5));
    values[0].destroy(ID, Wait::FOREVER).unwrap();

    let error = value(&values[1], &manifest).unwrap_err();

    assert!(matches!(error, BroadcastError::Lost { id: ID, .. }), "{error}");
}

/// Behaviours: BC-001.
#[test]
fn a_piece_that_changes_on_its_way_is_an_error_and_is_not_offered_on() {
    let (cluster, values) = cluster(1 << 20);
    let manifest = publish(&values[0], &bytes(5));
    cluster.network.corrupts.store(true, Ordering::Relaxed);

    let error = value(&values[1], &manifest).unwrap_err();

    assert!(matches!(error, BroadcastError::Corrupt { id: ID, .. }), "{error}");
    assert_eq!(cluster.manager(1).locks().ids(|_| true), []);
    cluster.network.corrupts.store(false, Ordering::Relaxed);
    assert!(value(&values[1], &manifest).is_ok());
}

/// Behaviours: BC-001.
#[test]
fn a_piece_that_changes_on_disk_is_an_error_once_and_fetched_again() {
    let (cluster, values) = cluster(0);
    let manifest = publish(&values[0], &bytes(5));
    value(&values[1], &manifest).unwrap();
    let path = cluster.manager(1).disk_store().path(piece(0, 2)).unwrap();
    let mut stored = std::fs::read(&path).unwrap();
    stored[7] ^= 1;
    std::fs::write(&path, stored).unwrap();

    let error = value(&values[1], &manifest).unwrap_err();

    assert!(matches!(error, BroadcastError::Corrupt { piece: 2, .. }), "{error}");
    assert!(value(&values[1], &manifest).is_ok());
}

#[test]
fn a_value_that_cannot_be_serialized_or_exists_leaves_things_as_they_were() {
    let (cluster, values) = cluster(1 << 20);
    let failed = values[0].publish(ID, |out| {
        out.write_all(&bytes(3))?;
        Err(ErrorKind::InvalidData.into())
    });
    assert!(matches!(failed, Err(BroadcastError::Encode { id: ID, .. })));
    assert_eq!(cluster.manager(0).locks().ids(|_| true), []);

    let manifest = publish(&values[0], &bytes(3));
    let again = values[0].publish(ID, |out| out.write_all(&[1; 300]));
    assert!(matches!(again, Err(BroadcastError::Exists { id: ID })));

    assert_eq!(*value(&values[1], &manifest).unwrap(), bytes(3));
}

#[test]
fn a_decoder_that_fails_leaves_the_pieces_and_the_next_may_succeed() {
    let (cluster, values) = cluster(1 << 20);
    let manifest = publish(&values[0], &bytes(3));

    let failed = values[1].value::<u8>(&manifest, task(1), Wait::FOREVER, |_| Err("not a number".into()));
    assert!(matches!(failed, Err(BroadcastError::Decode { id: ID, .. })));
    cluster.network.fetched.lock().clear();

    assert!(value(&values[1], &manifest).is_ok());
    assert_eq!(served(&cluster), (0, 0));
    let other = values[1].value(&manifest, task(1), Wait::FOREVER, |_| Ok((1_u8, 1)));
    assert!(matches!(other, Err(BroadcastError::OtherType { id: ID })));
}

#[test]
fn a_value_in_use_is_not_evicted_and_one_that_is_not_in_use_is() {
    let (cluster, values) = cluster(1000);
    let manifest = publish(&values[0], &bytes(3));
    let put = |id| {
        let manager = cluster.manager(1);
        manager.put(id, typed(1, 700), StorageLevel::MEMORY_ONLY, task(1), Wait::FOREVER).unwrap()
    };
    let reading = value(&values[1], &manifest).unwrap();
    let held = cluster.manager(1).status(BlockId::BroadcastValue(ID)).memory_size;
    assert_eq!(held, 300);

    cluster.manager(1).memory_store().evict(301, None);
    assert_eq!(put(rdd_block(0, 0)), Put::Stored, "pieces go to disk");
    assert_eq!(put(rdd_block(1, 0)), Put::Stored);
    assert_eq!(cluster.manager(1).status(BlockId::BroadcastValue(ID)).memory_size, 300);
    drop(reading);
    assert_eq!(cluster.manager(1).memory_store().evict(1000, None), 1000);

    assert_eq!(cluster.manager(1).status(BlockId::BroadcastValue(ID)).memory_size, 0);
}

#[test]
fn a_task_that_is_cancelled_does_not_fetch() {
    let (cluster, values) = cluster(1 << 20);
    let manifest = publish(&values[0], &bytes(3));

    let got = values[1].value(&manifest, task(1), Wait::UnlessCancelled(&|| true), |_| Ok(((), 0)));

    assert!(matches!(got, Err(BroadcastError::Block(_))));
    assert_eq!(served(&cluster), (0, 0));
}
