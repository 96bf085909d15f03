//! A table with the combined value of each key: [`CombineTable`].

use std::{hash::Hash, hint::black_box, mem};

use hashbrown::{
    HashTable,
    hash_table::{self, Entry},
};

use super::lookup::{Borrowed, Lookup, Owned};
use crate::{partitioner::hash_of, spill::Size};

/// The combined value of each key seen so far.
pub(crate) struct CombineTable<K, C>(HashTable<(K, C)>);

impl<K, C> Default for CombineTable<K, C> {
    fn default() -> Self {
        Self(HashTable::new())
    }
}

impl<K: Hash + Eq, C: Clone> CombineTable<K, C> {
    pub(crate) fn with_capacity(keys: usize) -> Self {
        Self(HashTable::with_capacity(keys))
    }

    /// Brings `value` in: `create` makes the first combined value of a key, `add` the next ones.
    #[inline]
    pub(crate) fn bring<V>(
        &mut self,
        key: K,
        value: V,
        create: impl FnOnce(V) -> C,
        add: impl FnOnce(C, V) -> C,
    ) {
        self.bring_sought(hash_of(&key), Owned(key), value, create, add);
    }

    /// The same with a borrowed key, which is cloned only when it is new.
    #[inline]
    pub(crate) fn bring_borrowed<V>(
        &mut self,
        key: &K,
        value: V,
        create: impl FnOnce(V) -> C,
        add: impl FnOnce(C, V) -> C,
    ) where
        K: Clone,
    {
        self.bring_sought(hash_of(key), Borrowed(key), value, create, add);
    }

    /// The same with a key of any kind, whose hash is known.
    #[inline]
    pub(crate) fn bring_sought<V>(
        &mut self,
        hash: u64,
        key: impl Lookup<K>,
        value: V,
        create: impl FnOnce(V) -> C,
        add: impl FnOnce(C, V) -> C,
    ) {
        bring_into(&mut self.0, hash, hash_of, (key, value), create, add);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// What it holds. One that is nearly full is about to be copied into one of twice its size.
    pub(crate) fn size(&self) -> Size {
        let held = bytes_of(&self.0);
        let is_nearly_full = self.0.capacity() - self.0.len() < 128;
        Size { held, growth: if is_nearly_full { 2 * held } else { 0 } }
    }

    pub(crate) fn into_rows(self) -> hash_table::IntoIter<(K, C)> {
        self.0.into_iter()
    }

    /// The table itself.
    pub(crate) fn table(&mut self) -> &mut HashTable<(K, C)> {
        &mut self.0
    }
}

/// The memory of a table itself: its rows, and a byte for each to find it.
pub(crate) fn bytes_of<T>(table: &HashTable<T>) -> usize {
    table.capacity() * (size_of::<T>() + 1)
}

/// Brings a row into a table whose keys have the hashes that `hash_of` gives.
#[inline]
pub(crate) fn bring_into<K, V, C: Clone>(
    table: &mut HashTable<(K, C)>,
    hash: u64,
    hash_of: impl Fn(&K) -> u64,
    (key, value): (impl Lookup<K>, V),
    create: impl FnOnce(V) -> C,
    add: impl FnOnce(C, V) -> C,
) {
    match table.entry(hash, |row| key.is(&row.0), |row| hash_of(&row.0)) {
        Entry::Vacant(entry) => drop(entry.insert((key.into_key(), create(value)))),
        Entry::Occupied(entry) => replace(entry, |combined| add(combined, value)),
    }
}

/// Puts what `change` makes of the combined value in its place.
#[inline]
fn replace<K, C: Clone>(
    mut entry: hashbrown::hash_table::OccupiedEntry<'_, (K, C)>,
    change: impl FnOnce(C) -> C,
) {
    if mem::needs_drop::<C>() {
        // Moved out and in again, since a clone could be expensive; safe if `change` panics.
        entry.replace_entry_with(|(key, combined)| Some((key, change(combined))));
    } else {
        // Nothing to drop means nothing owned, so a clone is a copy of a few bytes.
        let combined = &mut entry.get_mut().1;
        *combined = change(combined.clone());
    }
}

/// Rows of a batch whose keys are looked up together.
pub(crate) const PREFETCH_ROWS: usize = 64;

/// Where gathered keys are in a table.
///
/// To find a key that owns memory is to miss the cache three times: for its place, its row, and what the key owns. A
/// processor waits for many of those at once if nothing stands between them; the code that makes rows does.
pub(crate) struct Places {
    hashes: [u64; PREFETCH_ROWS],
    buckets: [Option<usize>; PREFETCH_ROWS],
    /// What there was room for. In a table that has grown since, keys are elsewhere.
    capacity: usize,
}

impl Places {
    /// Looks the keys of up to [`PREFETCH_ROWS`] rows up.
    pub(crate) fn of<K: Hash + Eq, C: Clone, S: Lookup<K>, V>(
        rows: &[(S, V)],
        CombineTable(table): &CombineTable<K, C>,
    ) -> Self {
        let (mut hashes, mut buckets) = ([0; PREFETCH_ROWS], [None; PREFETCH_ROWS]);
        for (hash, (key, _)) in hashes.iter_mut().zip(rows) {
            *hash = key.hash();
        }
        // First where the key should be, then what is there, then whether it is the key: so the loads of one step wait
        // for none of the same.
        for (bucket, hash) in buckets.iter_mut().zip(&hashes[..rows.len()]) {
            *bucket = table.iter_hash_buckets(*hash).next();
        }
        if !mem::needs_drop::<C>() {
            for bucket in buckets.iter().flatten() {
                black_box(table.get_bucket(*bucket).map(|row| row.1.clone()));
            }
        }
        for (bucket, (key, _)) in buckets.iter_mut().zip(rows) {
            *bucket = bucket.filter(|bucket| table.get_bucket(*bucket).is_some_and(|row| key.is(&row.0)));
        }
        Self { hashes, buckets, capacity: table.capacity() }
    }

    /// Brings the rows in whose keys were looked up, in their order.
    ///
    /// The table grows when it would have grown if they had come one by one, so that its order does not tell which rows
    /// came together.
    pub(crate) fn bring<K: Hash + Eq, C: Clone, S: Lookup<K>, V>(
        self,
        rows: impl Iterator<Item = (S, V)>,
        table: &mut CombineTable<K, C>,
        create: impl Fn(V) -> C,
        add: impl Fn(C, V) -> C,
    ) {
        for ((key, value), (bucket, hash)) in rows.zip(self.buckets.into_iter().zip(self.hashes)) {
            // A full table grows before it is asked.
            let is_in_place = table.0.capacity() == self.capacity && table.len() < self.capacity;
            match bucket.filter(|_| is_in_place).and_then(|bucket| table.0.get_bucket_entry(bucket).ok()) {
                Some(entry) => replace(entry, |combined| add(combined, value)),
                // New, or the key of another gathered row, or not where it was looked for first.
                None => table.bring_sought(hash, key, value, &create, &add),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What rows with keys that own memory become in a table.
    fn combined<C: Clone>(create: impl Fn(u64) -> C, add: impl Fn(C, u64) -> C) -> BTreeMap<String, C> {
        let mut table = CombineTable::default();
        let rows: Vec<_> = (0..ROWS).map(|x| (Owned(key(x)), x)).collect();
        for rows in rows.chunks(PREFETCH_ROWS) {
            let again = rows.iter().map(|(Owned(key), x)| (Owned(key.clone()), *x));
            Places::of(rows, &table).bring(again, &mut table, &create, &add);
        }
        table.into_rows().collect()
    }

    /// Not a multiple of what is gathered.
    const ROWS: u64 = 10_000;

    fn key(x: u64) -> String {
        (x * x % 701).to_string()
    }

    #[test]
    fn gathered_rows_come_in_as_if_one_by_one() {
        let mut expected: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        (0..ROWS).for_each(|x| expected.entry(key(x)).or_default().push(x));

        let lists = combined(|x| vec![x], |list, x| [list, vec![x]].concat());
        let digests = combined(|x| x, |digest, x| 31_u64.wrapping_mul(digest).wrapping_add(x));

        assert!(!(ROWS as usize).is_multiple_of(PREFETCH_ROWS));
        let digest =
            |list: &[u64]| list[1..].iter().fold(list[0], |a, x| 31_u64.wrapping_mul(a).wrapping_add(*x));
        assert_eq!(digests, expected.iter().map(|(key, list)| (key.clone(), digest(list))).collect());
        assert_eq!(lists, expected);
    }
}
