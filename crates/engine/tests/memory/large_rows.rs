//! Rows that are large themselves: no operator that passes rows on holds more than a few of them at once.

use firesteel::prelude::*;

use crate::child::{BESIDE, in_child};

/// As many rows as would be 350 MiB together.
const ROWS: u64 = 70;
const ROW_BYTES: usize = 5 << 20;
/// Two tasks run at once.
const LARGE_ROWS_MAX: u64 = 2 * 4;

fn large_rows(ctx: &Context) -> impl Rdd<Item = Vec<u8>> + use<> {
    // Written to, so that the system has to give the memory.
    ctx.range_into(0..ROWS, 2).map(|x| vec![x as u8 | 1; ROW_BYTES])
}

fn case(test: &str, run: fn(&Context)) {
    let peak = in_child(test, || {
        for shipped in [false, true] {
            run(&Context::builder().master("local[2]").shipped(shipped).start().unwrap());
        }
    });
    if let Some(peak) = peak {
        let most = LARGE_ROWS_MAX * ROW_BYTES as u64 + BESIDE;
        assert!(peak <= most, "{test} took {} MiB", peak >> 20);
    }
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

/// Each row is a sixth of what the executor may hold in all.
#[cfg_attr(not(feature = "allocator"), ignore = "nothing is known of what rows own")]
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
