//! Large rows in memory, sorted where they are and a cache full at a time: [`sorted_in_ranges`].
//!
//! To move a large row costs more than to look at it again, so references are sorted. What those point at should be at hand
//! when it is compared; so rows are first dealt to ranges that fit in a cache, and each range is sorted when its turn comes.

use std::cmp::Ordering;

use crate::{data::Data, task::TaskContext};

/// The bytes of rows that are sorted at once.
const RANGE_BYTES: usize = 512 << 10;
/// More ranges than this cost more than they save, and their numbers must fit in a byte.
const RANGES_MAX: usize = 64;
/// Rows that are looked at for each range, to make ranges of about one size.
const SAMPLES: usize = 32;

/// All rows of `blocks` in order; rows that compare equal stay in the order in which they are.
pub(super) fn sorted_in_ranges<'a, T, C>(
    blocks: &[&'a [T]],
    compare: C,
    task: &'a TaskContext,
) -> impl Iterator<Item = &'a T> + use<'a, T, C>
where
    T: Data,
    C: Fn(&T, &T) -> Ordering + 'a,
{
    deal(blocks, &compare, task).into_iter().flat_map(move |mut rows| {
        task.check();
        rows.sort_by(|one, two| compare(one, two));
        rows
    })
}

/// Deals rows to ranges, each of which comes before the next one.
fn deal<'a, T: Data>(
    blocks: &[&'a [T]],
    compare: impl Fn(&T, &T) -> Ordering,
    task: &'a TaskContext,
) -> Vec<Vec<&'a T>> {
    let rows: usize = blocks.iter().map(|rows| rows.len()).sum();
    let ranges = (rows * size_of::<T>() / RANGE_BYTES).clamp(1, RANGES_MAX);
    let bounds = bounds(blocks, rows, ranges, &compare);
    let batches = || blocks.iter().flat_map(|rows| task.batches(rows));
    // First where each row goes, then the rows: so each range is as large as it must be and no larger.
    let (mut range_of, mut sizes) = (Vec::with_capacity(rows), vec![0; ranges]);
    for row in batches().flatten() {
        let range = bounds.partition_point(|bound| compare(bound, row).is_lt());
        range_of.push(range as u8);
        sizes[range] += 1;
    }
    let mut dealt: Vec<Vec<&T>> = sizes.into_iter().map(Vec::with_capacity).collect();
    for (row, range) in batches().flatten().zip(range_of) {
        dealt[usize::from(range)].push(row);
    }
    dealt
}

/// Where ranges end, by a sample of the rows.
fn bounds<'a, T>(
    blocks: &[&'a [T]],
    rows: usize,
    ranges: usize,
    compare: impl Fn(&T, &T) -> Ordering,
) -> Vec<&'a T> {
    let all = blocks.iter().flat_map(|rows| rows.iter());
    let mut sample: Vec<&T> = all.step_by((rows / (ranges * SAMPLES)).max(1)).collect();
    sample.sort_by(|one, two| compare(one, two));
    (1..ranges).map(|range| sample[range * sample.len() / ranges]).collect()
}
