//! Both sides of a large join cut by key into parts whose tables fit in a cache: [`cut`].
//!
//! A table of a whole partition is larger than the cache of a core, and then each row that is looked up waits for memory.
//! Copying the rows once more costs less than that, if they are plain.

use std::{hash::Hash, mem::needs_drop};

use super::Lent;
use crate::{data::Data, partitioner::hash_of, task::TaskContext};

/// The bytes of rows and table that a core has at hand.
const CACHE_BYTES: usize = 256 << 10;

/// Bytes of a table for each row.
const PER_ROW: usize = 8;

/// The largest row that is copied.
const ROW_BYTES_MAX: usize = 64;

/// Parts are told apart by bits of the hash that no table looks at, and that hardly matter to the partitioner: it scales a
/// number of which they are the lowest. At most 256 parts, which is what a processor can write to in turn without losing its
/// place.
const BITS: std::ops::Range<u32> = 20..28;

/// The rows of two sides by key, in so many parts as make the smaller side of each fit in a cache: rows of one key are in
/// one part. One part if the rows are few, or costly to copy, or there is no memory for copies.
pub(super) fn cut<'a, K, V, W>(
    left: Lent<'a, (K, V)>,
    right: Lent<'a, (K, W)>,
    task: &'a TaskContext,
) -> Vec<(Lent<'a, (K, V)>, Lent<'a, (K, W)>)>
where
    K: Data + Hash,
    V: Data,
    W: Data,
{
    let of_left = (size_of::<(K, V)>() + PER_ROW) * left.len();
    let of_right = (size_of::<(K, W)>() + PER_ROW) * right.len();
    let parts = (of_left.min(of_right) / CACHE_BYTES).next_power_of_two().min(1 << BITS.len());
    let copies = 2 * (of_left + of_right) as u64;
    if parts == 1 || !is_plain::<(K, V)>() || !is_plain::<(K, W)>() || copies > task.room() {
        return vec![(left, right)];
    }
    deal(left, parts, task).into_iter().zip(deal(right, parts, task)).collect()
}

/// Whether a copy of a row is a copy of its bytes.
fn is_plain<T>() -> bool {
    !needs_drop::<T>() && size_of::<T>() <= ROW_BYTES_MAX
}

/// Copies rows to parts by the hash of their keys.
fn deal<'a, K: Data + Hash, V: Data>(
    rows: Lent<'a, (K, V)>,
    parts: usize,
    task: &'a TaskContext,
) -> Vec<Lent<'a, (K, V)>> {
    let share = rows.len() / parts;
    let mut dealt: Vec<Vec<(K, V)>> = (0..parts).map(|_| Vec::with_capacity(share + share / 8)).collect();
    rows.into_rows(task).for_each(|row| {
        dealt[(hash_of(&row.0) >> BITS.start) as usize & (parts - 1)].push(row.clone());
    });
    dealt.into_iter().map(|rows| Lent::new(vec![task.hold(rows).as_slice()])).collect()
}
