//! Rows dealt into buckets by both threads; then each bucket belongs to one of them.

use std::array;

use super::{THREADS, both};

/// The bucket of a key, below `buckets`, which is a power of two.
#[inline]
pub fn bucket_of(key: u64, buckets: usize) -> usize {
    // The high bits of a product depend on every bit of the key.
    ((u128::from(key.wrapping_mul(0x9E37_79B9_7F4A_7C15)) * buckets as u128) >> 64) as usize
}

/// Lets `fill` deal the rows of each thread, and gives what `drain` makes of the pieces of each bucket, in order.
///
/// `room` is how many rows a bucket of one thread will have, about.
pub fn exchange<T: Send, U: Send>(
    buckets: usize,
    room: u64,
    fill: impl Fn(usize, &mut [Vec<T>]) + Sync,
    drain: impl Fn(usize, [Vec<T>; THREADS]) -> U + Sync,
) -> Vec<U> {
    let room = room as usize + room as usize / 8;
    let dealt = both(|thread| {
        let mut rows: Vec<Vec<T>> = (0..buckets).map(|_| Vec::with_capacity(room)).collect();
        fill(thread, &mut rows);
        rows
    });
    let mut pieces = dealt.map(Vec::into_iter);
    // Buckets 0, 2, 4 … are for the first thread.
    let mut work: [Vec<(usize, [Vec<T>; THREADS])>; THREADS] = array::from_fn(|_| Vec::new());
    for bucket in 0..buckets {
        let rows = array::from_fn(|thread| pieces[thread].next().unwrap_or_default());
        work[bucket % THREADS].push((bucket, rows));
    }
    let work = work.map(|work| std::sync::Mutex::new(Some(work)));
    let mut done: Vec<(usize, U)> = both(|thread| {
        let mine = work[thread].lock().expect("no thread panics").take().unwrap_or_default();
        mine.into_iter().map(|(bucket, rows)| (bucket, drain(bucket, rows))).collect::<Vec<_>>()
    })
    .into_iter()
    .flatten()
    .collect();
    done.sort_unstable_by_key(|(bucket, _)| *bucket);
    done.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand::share;

    #[test]
    fn every_row_reaches_its_bucket_and_buckets_stay_in_order() {
        let fill = |thread, buckets: &mut [Vec<u64>]| {
            share(100, thread).for_each(|x| buckets[(x % 5) as usize].push(x));
        };

        let found = exchange(5, 10, fill, |bucket, rows| {
            (bucket, rows.iter().flatten().count(), rows.iter().flatten().all(|x| x % 5 == bucket as u64))
        });

        assert_eq!(found, [0, 1, 2, 3, 4].map(|bucket| (bucket, 20, true)));
    }

    #[test]
    fn consecutive_keys_are_spread_evenly() {
        let mut sizes = [0; 8];
        (0..8000).for_each(|key| sizes[bucket_of(key, 8)] += 1);

        assert!(sizes.iter().all(|size| (900..1100).contains(size)), "{sizes:?}");
    }
}
