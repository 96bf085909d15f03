//! Many threads on few blocks in little memory: nothing may leak, and the master must know the truth in the end.

use super::*;
use crate::block::testing::Node;

const LEVELS: [StorageLevel; 4] =
    [MEMORY_ONLY, MEMORY_AND_DISK, StorageLevel::MEMORY_AND_DISK_SER, StorageLevel::DISK_ONLY];

/// The content of a block follows from its id, so that every reader can check it.
fn expected(id: BlockId) -> Vec<u8> {
    vec![id.seed() as u8; 10]
}

/// Does one random thing to one random block.
fn step(manager: &BlockManager, owner: LockOwner, rng: &mut Rng) {
    let id = rdd_block(rng.below(2) as u32, rng.below(6) as u32);
    match rng.below(8) {
        0 => drop(manager.remove(id, Wait::FOREVER).unwrap()),
        1 => drop(manager.memory_store().evict(10, None)),
        2 => drop(manager.serve(id, Wait::FOREVER).unwrap()),
        _ => {
            let level = LEVELS[rng.below(LEVELS.len())];
            let compute = || Ok::<_, BlockError>(typed(id.seed() as u8, 10));
            match manager.get_or_else(id, level, owner, Wait::FOREVER, compute).unwrap() {
                Outcome::Kept(read) => {
                    let (data, _lock) = read.into_parts();
                    assert_eq!(crate::block::testing::content(data).unwrap(), expected(id));
                }
                Outcome::NotKept(NewBlock::Typed { value, .. }) => {
                    assert_eq!(value.downcast_ref::<Vec<u8>>(), Some(&expected(id)));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

fn assert_consistent(cluster: &Cluster, node: &Node) {
    let manager = &node.manager;
    assert_eq!(node.budget.used(), manager.memory_store().used_bytes());
    assert!(node.budget.used() <= 35);
    let ids = manager.locks().ids(|_| true);
    let on_disk: Vec<_> = ids.iter().filter(|id| manager.disk_store().size(**id).is_some()).collect();
    assert_eq!((node.files(), manager.disk_store().used_bytes()), (on_disk.len(), 10 * on_disk.len() as u64));
    for id in (0..12).map(|number| rdd_block(number / 6, number % 6)) {
        let known = cluster.master.lock().status(ExecutorId(0), id);
        let now = manager.status(id);
        assert_eq!(known, now.level.is_valid().then_some(now), "{id}");
        assert_eq!(ids.contains(&id), now.level.is_valid(), "{id}");
    }
}

/// Behaviours: BLK-003, BLK-004.
#[test]
fn threads_that_fight_over_blocks_leak_nothing_and_the_master_knows_the_truth() {
    for seed in 0..5 {
        let cluster = Cluster::of(1, 35);
        let node = &cluster.nodes[0];
        thread::scope(|scope| {
            for number in 0..4 {
                scope.spawn(move || {
                    let mut rng = Rng::new(seed * 10 + number);
                    for _ in 0..300 {
                        step(&node.manager, task(number), &mut rng);
                    }
                    assert_eq!(node.manager.release_all(task(number)), [], "guards have released all");
                });
            }
        });

        assert_consistent(&cluster, node);
        for rdd in [RddId(0), RddId(1)] {
            node.manager.remove_rdd(rdd, Wait::Never).unwrap();
        }
        assert_eq!((node.budget.used(), node.files()), (0, 0));
        assert_eq!(node.manager.locks().ids(|_| true), []);
    }
}
