//! Rows that are large themselves: no operator that passes rows on holds more than a few of them at once, and one that
//! gathers rows spills before it is far beyond its share.

use firesteel::{Order, StorageLevel, prelude::*};

use crate::child::{BESIDE, in_child, tight_to};

/// As many rows as would be 350 MiB together.
const ROWS: u64 = 70;
const ROW_BYTES: usize = 5 << 20;
/// Two tasks run at once.
const LARGE_ROWS_MAX: u64 = 2 * 4;

fn large_rows(ctx: &Context) -> impl Rdd<Item = String> + use<> {
    ctx.range_into(0..ROWS, 2).map(large_row)
}

/// A text, since a debug build writes lists byte by byte. The system has to give the memory, since it is written to.
fn large_row(x: u64) -> String {
    char::from(b'a' + x as u8 % 26).to_string().repeat(ROW_BYTES)
}

fn case(test: &str, run: fn(&Context)) {
    let start = |shipped| Context::builder().master("local[2]").shipped(shipped).start().unwrap();
    assert_peak(test, 0, start, run);
}

/// What an operator that gathers rows may hold: a seventh of all of them.
const BUDGET: u64 = 48 << 20;

fn gathering_case(test: &str, run: fn(&Context)) {
    assert_peak(test, BUDGET, |shipped| tight_to(BUDGET, shipped), run);
}

/// Runs a case in a child with and without serialization; it takes at most `budget` and a few large rows.
fn assert_peak(test: &str, budget: u64, start: impl Fn(bool) -> Context, run: fn(&Context)) {
    let peak = in_child(test, || [false, true].into_iter().for_each(|shipped| run(&start(shipped))));
    if let Some(peak) = peak {
        let most = budget + LARGE_ROWS_MAX * ROW_BYTES as u64 + BESIDE;
        assert!(peak <= most, "{test} took {} MiB of {}", peak >> 20, most >> 20);
    }
}

/// Large rows with keys that are scattered and different.
fn large_pairs(ctx: &Context) -> impl Rdd<Item = (u64, String)> + use<> {
    ctx.range_into(0..ROWS, 2).map(|x| (x * 37 % ROWS, large_row(x)))
}

#[test]
fn map_partitions_holds_few_large_rows() {
    case("large_rows::map_partitions_holds_few_large_rows", |ctx| {
        let kept = large_rows(ctx).map_partitions(|rows| Rows::new(rows.filter(|row| !row.is_empty())));
        assert_eq!(kept.map(|row| row.len()).count().unwrap(), ROWS);
        let lengths = large_rows(ctx).map_partitions(|rows| Rows::new(rows.map(|row| row.len())));
        assert_eq!(lengths.count().unwrap(), ROWS);
        let zipped = large_rows(ctx).zip_partitions(&large_rows(ctx), |left, right| {
            Rows::new(left.zip(right).filter(|(left, right)| left == right).map(|(left, _)| left))
        });
        assert_eq!(zipped.map(|row| row.len()).count().unwrap(), ROWS);
    });
}

#[test]
fn boxed_rdds_hold_few_large_rows() {
    case("large_rows::boxed_rdds_hold_few_large_rows", |ctx| {
        let mut rows = large_rows(ctx).boxed();
        for _ in 0..5 {
            rows = rows.map(|row| row).boxed();
        }
        assert_eq!(rows.map(|row| row.len()).count().unwrap(), ROWS);
        let all = ctx.union(vec![rows.boxed(), large_rows(ctx).boxed()]);
        assert_eq!(all.filter(|row| row.len() == ROW_BYTES).count().unwrap(), 2 * ROWS);
    });
}

#[test]
fn run_job_holds_few_large_rows() {
    case("large_rows::run_job_holds_few_large_rows", |ctx| {
        let lengths = large_rows(ctx).run_job(|rows| rows.map(|row| row.len()).sum::<usize>()).unwrap();
        assert_eq!(lengths.iter().sum::<usize>(), ROWS as usize * ROW_BYTES);
    });
}

#[test]
fn sort_by_key_of_large_rows_spills_in_time() {
    gathering_case("large_rows::sort_by_key_of_large_rows_spills_in_time", |ctx| {
        let sorted = large_pairs(ctx).sort_by_key_into(Order::Ascending, 2).unwrap();
        let keys = sorted.map(|(key, row)| (key, row.len())).collect().unwrap();
        assert!(keys.into_iter().eq((0..ROWS).map(|key| (key, ROW_BYTES))));
    });
}

#[test]
fn group_by_key_of_large_rows_spills_in_time() {
    gathering_case("large_rows::group_by_key_of_large_rows_spills_in_time", |ctx| {
        for keys in [1, 7, ROWS] {
            let groups =
                large_pairs(ctx).with(keys).map(|keys, (key, row)| (key % keys, row)).group_by_key_into(2);
            let bytes = groups.map(|(_, rows)| (1, rows.into_iter().map(|row| row.len()).sum::<usize>()));
            let (found, bytes) = bytes.reduce(|a, b| (a.0 + b.0, a.1 + b.1)).unwrap();
            assert_eq!((found, bytes), (keys, ROWS as usize * ROW_BYTES));
        }
    });
}

#[test]
fn reduce_by_key_of_large_rows_spills_in_time() {
    gathering_case("large_rows::reduce_by_key_of_large_rows_spills_in_time", |ctx| {
        let longer = |one: String, two: String| if one.len() < two.len() { two } else { one };
        let reduced = large_pairs(ctx).reduce_by_key_into(2, longer);
        assert_eq!(reduced.filter(|(_, row)| row.len() == ROW_BYTES).count().unwrap(), ROWS);
        // Nothing is known of the rows before the shuffle, and what is made of them is large.
        let small = ctx.range_into(0..ROWS, 2).map(|key| (key, key));
        let made = small.combine_by_key(large_row, |all, _| all, longer);
        assert_eq!(made.filter(|(_, row)| row.len() == ROW_BYTES).count().unwrap(), ROWS);
    });
}

#[test]
fn joins_of_large_rows_spill_in_time() {
    gathering_case("large_rows::joins_of_large_rows_spill_in_time", |ctx| {
        let few = ctx.range_into(0..ROWS, 2).map(|key| (key, key));
        let joined = large_pairs(ctx).join(&few);
        assert_eq!(
            joined.filter(|(key, (row, same))| key == same && row.len() == ROW_BYTES).count().unwrap(),
            ROWS
        );
        let grouped = large_pairs(ctx).cogroup(&few);
        let rows = grouped.map(|(_, (rows, same))| (rows.len() * same.len()) as u64);
        assert_eq!(rows.reduce(|a, b| a + b).unwrap(), ROWS);
    });
}

#[test]
fn persist_of_large_rows_keeps_those_that_fit() {
    gathering_case("large_rows::persist_of_large_rows_keeps_those_that_fit", |ctx| {
        for level in [StorageLevel::MEMORY_ONLY, StorageLevel::MEMORY_AND_DISK, StorageLevel::MEMORY_ONLY_SER]
        {
            let kept = large_rows(ctx).persist(level);
            for _ in 0..2 {
                assert_eq!(kept.filter(|row| row.len() == ROW_BYTES).count().unwrap(), ROWS);
            }
        }
    });
}

/// Each row is a sixth of what the executor may hold in all.
#[test]
fn an_executor_of_512_mib_passes_on_rows_of_50_mib() {
    const LARGE_BYTES: usize = 50 << 20;
    let ctx = Context::builder().master("local-cluster[1,1,512]").start().unwrap();
    let rows = ctx.range_into(0..ROWS, 1).map(|_| vec![0_u8; LARGE_BYTES]);

    let mapped = rows.map_partitions(|rows| Rows::new(rows.filter(|row| !row.is_empty()))).boxed();
    assert_eq!(mapped.map(|row| row.len()).count().unwrap(), ROWS);
    let lengths = mapped.run_job(|rows| rows.map(|row| row.len()).sum::<usize>()).unwrap();
    assert_eq!(lengths, [ROWS as usize * LARGE_BYTES]);
}
