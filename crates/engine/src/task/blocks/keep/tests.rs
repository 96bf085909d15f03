//! Partitions that are kept while memory is short at random points, against a plain vector.

use firesteel_types::Rng;

use super::*;
use crate::{prelude::*, task::with_random_spills};

const CASES: u64 = 300;
const ROWS_MAX: usize = 1_000;

const LEVELS: [StorageLevel; 6] = [
    StorageLevel::MEMORY_ONLY,
    StorageLevel::MEMORY_ONLY_SER,
    StorageLevel::MEMORY_AND_DISK,
    StorageLevel::MEMORY_AND_DISK_SER,
    StorageLevel::MEMORY_AND_DISK_SER_2,
    StorageLevel::DISK_ONLY,
];

/// Some rows, a few of which are large.
fn random_rows(seed: u64) -> Vec<String> {
    let mut rng = Rng::new(seed);
    let rows = rng.below(ROWS_MAX);
    let bytes = |rng: &mut Rng| if rng.below(100) == 0 { 100_000 } else { rng.below(50) };
    (0..rows).map(|place| place.to_string().repeat(bytes(&mut rng) / 4)).collect()
}

/// What is wrong with a partition that is read several times, in several ways; else whether it was kept.
fn keep_and_read(seed: u64) -> Result<bool, String> {
    let task = TaskContext::current().expect("it runs in a task");
    let rows = random_rows(seed);
    let level = LEVELS[seed as usize % LEVELS.len()];
    // One that no other RDD has.
    let (rdd, partition) = (RddId(1_000_000 + seed as u32), PartitionId(0));
    let computed = Cell::new(0);
    let compute = || {
        computed.set(computed.get() + 1);
        rows.iter().cloned()
    };
    with_random_spills(seed, 1 << (seed / LEVELS.len() as u64 % 10), || {
        for read in 0..4 {
            let mut kept = keep(rdd, partition, level, &task, compute);
            let mut found: Vec<String> = kept.by_ref().take(read * rows.len() / 3).collect();
            kept.for_each(|row| found.push(row));
            if found != rows {
                return Err(format!("{} of {} rows at {level:?}, read {read}", found.len(), rows.len()));
            }
        }
        Ok(computed.get() == 1)
    })
}

#[test]
fn a_kept_partition_has_the_rows_that_were_computed_wherever_memory_ends() {
    let ctx = Context::local(2).unwrap();

    let found = ctx.range_into(0..CASES, 8).map(|seed| (seed, keep_and_read(seed))).collect().unwrap();

    let wrong: Vec<_> = found.iter().filter(|(_, found)| found.is_err()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let kept = found.iter().filter(|(_, found)| *found == Ok(true)).count() as u64;
    assert!(CASES / 2 < kept && kept < CASES, "{kept} of {CASES} were kept");
}
