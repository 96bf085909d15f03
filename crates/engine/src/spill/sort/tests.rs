//! Sorts that spill at random points, against a stable sort of a vector.

use firesteel_storage::memory::is_counting;
use firesteel_types::Rng;

use super::*;
use crate::{prelude::*, task::with_random_spills};

const CASES: u64 = 120;
const ROWS_MAX: usize = 2_000;

/// Random keys, many of them alike, each with its place. Some keys own memory.
fn random_rows(seed: u64) -> Vec<(String, u64)> {
    let mut rng = Rng::new(seed);
    let (rows, keys) = (rng.below(ROWS_MAX), 1 + rng.below([1, 10, 1_000][(seed % 3) as usize]));
    (0..rows as u64).map(|place| (rng.below(keys).to_string(), place)).collect()
}

/// Whether rows that spill at random points come out sorted, equal ones in their order.
fn is_sorted(seed: u64) -> bool {
    let task = TaskContext::current().expect("it runs in a task");
    let rows = random_rows(seed);
    let compare = |one: &(String, u64), two: &(String, u64)| one.0.cmp(&two.0);
    let sorted = with_random_spills(seed, 2 << (seed % 8), || {
        let mut sort = SpillSort::new(compare, "test", &task);
        rows.iter().cloned().for_each(|row| sort.push(row));
        sort.into_rows().collect::<Vec<_>>()
    });
    let mut expected = rows;
    expected.sort_by(compare);
    sorted == expected
}

#[test]
fn rows_are_sorted_and_equal_ones_keep_their_order_wherever_the_sort_spills() {
    let ctx = Context::local(2).unwrap();

    let wrong = ctx.range_into(0..CASES, 8).filter(|seed| !is_sorted(*seed));

    assert_eq!(wrong.collect().unwrap(), [0_u64; 0]);
}

#[test]
fn many_runs_are_merged_before_others_come() {
    let ctx = Context::local(2).unwrap();
    let runs = ctx.range_into(0..1, 1).map(|_| {
        let task = TaskContext::current().expect("it runs in a task");
        let mut sort = SpillSort::new(|one: &(u32, u32), two: &(u32, u32)| one.0.cmp(&two.0), "test", &task);
        let (mut runs_max, rows) = (0, FAN_IN_MAX as u32 * 5 / 2);
        for place in 0..rows {
            sort.push((place % 7, place));
            sort.spill();
            runs_max = runs_max.max(sort.runs.len());
        }
        let mut expected: Vec<(u32, u32)> = (0..rows).map(|place| (place % 7, place)).collect();
        expected.sort_by_key(|row| row.0);
        (runs_max, sort.into_rows().eq(expected))
    });

    assert_eq!(runs.collect().unwrap(), [(FAN_IN_MAX, true)]);
}

/// One row of each run that is merged is in memory.
#[test]
fn runs_of_large_rows_are_merged_a_few_at_a_time() {
    const ROWS: u32 = 100;
    let ctx = Context::local(2).unwrap();
    let found = ctx.range_into(0..1, 1).map(|_| {
        let task = TaskContext::current().expect("it runs in a task");
        let mut sort = SpillSort::new(|one: &(u32, u32), two: &(u32, u32)| one.0.cmp(&two.0), "test", &task);
        sort.row_bytes = u64::MAX;
        let mut runs_max = 0;
        for place in 0..ROWS {
            sort.push((place % 7, place));
            sort.spill();
            runs_max = runs_max.max(sort.runs.len());
        }
        sort.push((3, ROWS));
        let mut expected: Vec<(u32, u32)> = (0..ROWS).map(|place| (place % 7, place)).collect();
        expected.push((3, ROWS));
        expected.sort_by_key(|row| row.0);
        let sorted = sort.into_rows();
        let merged = sorted.sources.len();
        (runs_max, merged, sorted.eq(expected))
    });

    assert_eq!(found.collect().unwrap(), [(ROWS.ilog2() as usize, 2, true)]);
}

/// What the rows of a spill own tells how many runs are merged at once.
#[test]
fn rows_are_measured_when_they_are_spilled() {
    const LARGE: usize = 1 << 20;
    let ctx = Context::local(2).unwrap();
    let measured = ctx.range_into(0..1, 1).map(|_| {
        let task = TaskContext::current().expect("it runs in a task");
        let mut sort = SpillSort::new(|one: &Vec<u8>, two: &Vec<u8>| one.cmp(two), "test", &task);
        (0..4).for_each(|x| sort.push(vec![x; LARGE]));
        let runs = sort.runs.len();
        sort.spill();
        (runs, sort.row_bytes)
    });

    let (runs, bytes) = measured.collect().unwrap()[0];
    assert_eq!(runs, 0, "four rows do not have to be spilled");
    let expected = if is_counting() { LARGE as u64 } else { size_of::<Vec<u8>>() as u64 };
    assert!(bytes.abs_diff(expected) <= expected / 8, "{bytes}");
}
