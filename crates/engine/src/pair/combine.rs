//! Combining the values of a key, on either side of a shuffle.

use std::{hash::Hash, hint::black_box, marker::PhantomData, mem};

use hashbrown::{
    HashTable,
    hash_table::{self, Entry},
};

use super::{
    Combiner,
    sought::{Borrowed, Owned, Sought},
};
use crate::{
    data::Data,
    executor::TaskContext,
    partitioner::{KeyPartitioner, hash_of},
    ship::{Frozen, Ship, ShipError, Thawing},
    shuffle::{Buckets, MapSide},
    spill::{Size, Watch},
};

/// The combined value of each key seen so far.
pub(crate) struct Combine<K, C>(HashTable<(K, C)>);

impl<K: Hash + Eq, C: Clone> Combine<K, C> {
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
        self.bring_sought(Owned(key), value, create, add);
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
        self.bring_sought(Borrowed(key), value, create, add);
    }

    /// The same with a key of any kind.
    #[inline]
    pub(super) fn bring_sought<V>(
        &mut self,
        key: impl Sought<K>,
        value: V,
        create: impl FnOnce(V) -> C,
        add: impl FnOnce(C, V) -> C,
    ) {
        self.bring_hashed(key.hash(), key, value, create, add);
    }

    /// The same with a key whose hash is known.
    #[inline]
    fn bring_hashed<V>(
        &mut self,
        hash: u64,
        key: impl Sought<K>,
        value: V,
        create: impl FnOnce(V) -> C,
        add: impl FnOnce(C, V) -> C,
    ) {
        match self.0.entry(hash, |row| key.is(&row.0), |row| hash_of(&row.0)) {
            Entry::Vacant(entry) => drop(entry.insert((key.into_key(), create(value)))),
            Entry::Occupied(entry) => replace(entry, |combined| add(combined, value)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// What it holds. One that is nearly full is about to be copied into one of twice its size.
    pub(crate) fn size(&self) -> Size {
        let held = self.0.capacity() * (size_of::<(K, C)>() + 1);
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

/// Rows that are brought into a table together.
const GATHERED: usize = 64;

/// Where gathered keys are in a table.
///
/// To find a key that owns memory is to miss the cache three times: for its place, its row, and what the key owns. A
/// processor waits for many of those at once if nothing stands between them; the code that makes rows does.
struct Places {
    hashes: [u64; GATHERED],
    buckets: [Option<usize>; GATHERED],
}

impl Places {
    /// Looks the keys of up to [`GATHERED`] rows up, and makes room for all of them.
    fn of<K: Hash + Eq, C: Clone, S: Sought<K>, V>(
        rows: &[(S, V)],
        Combine(table): &mut Combine<K, C>,
    ) -> Self {
        // The table must not grow later, or places were no longer right.
        table.reserve(rows.len(), |row| hash_of(&row.0));
        let (mut hashes, mut buckets) = ([0; GATHERED], [None; GATHERED]);
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
        Self { hashes, buckets }
    }

    /// Brings the rows in whose keys were looked up, in their order.
    fn bring<K: Hash + Eq, C: Clone, S: Sought<K>, V>(
        self,
        rows: impl Iterator<Item = (S, V)>,
        table: &mut Combine<K, C>,
        create: impl Fn(V) -> C,
        add: impl Fn(C, V) -> C,
    ) {
        for ((key, value), (bucket, hash)) in rows.zip(self.buckets.into_iter().zip(self.hashes)) {
            match bucket.and_then(|bucket| table.0.get_bucket_entry(bucket).ok()) {
                Some(entry) => replace(entry, |combined| add(combined, value)),
                // New, or the key of another gathered row, or not where it was looked for first.
                None => table.bring_hashed(hash, key, value, &create, &add),
            }
        }
    }
}

/// Brings rows whose keys are borrowed into a table, many at a time.
#[inline(never)]
pub(super) fn bring_gathered<K: Hash + Eq, C: Clone, S: Sought<K> + Copy, V: Clone>(
    rows: &[(S, V)],
    table: &mut Combine<K, C>,
    create: impl Fn(V) -> C,
    add: impl Fn(C, V) -> C,
) {
    for rows in rows.chunks(GATHERED) {
        Places::of(rows, table).bring(rows.iter().cloned(), table, &create, &add);
    }
}

/// Gathers rows whose keys own memory.
///
/// Keys that own nothing are not worth the detour. Values that own memory are not kept waiting, since they may be large.
struct Gather<K, V>(Vec<(Owned<K>, V)>);

impl<K: Hash + Eq, V> Gather<K, V> {
    const IS_WORTH_IT: bool = mem::needs_drop::<K>() && !mem::needs_drop::<V>();

    fn new() -> Self {
        Self(Vec::with_capacity(if Self::IS_WORTH_IT { GATHERED } else { 0 }))
    }

    /// Brings a row into the table, at once or with later ones.
    #[inline]
    fn bring<C: Clone>(
        &mut self,
        table: &mut Combine<K, C>,
        (key, value): (K, V),
        create: impl Fn(V) -> C,
        add: impl Fn(C, V) -> C,
    ) {
        if !Self::IS_WORTH_IT {
            return table.bring(key, value, create, add);
        }
        self.0.push((Owned(key), value));
        if self.0.len() == GATHERED {
            self.flush(table, create, add);
        }
    }

    /// Brings the gathered rows in.
    #[inline(never)]
    fn flush<C: Clone>(
        &mut self,
        table: &mut Combine<K, C>,
        create: impl Fn(V) -> C,
        add: impl Fn(C, V) -> C,
    ) {
        Places::of(&self.0, table).bring(self.0.drain(..), table, create, add);
    }
}

/// The map side of a shuffle whose values are combined before they are dealt.
pub(crate) struct MapSideCombine<K, V, A> {
    pub(crate) combiner: A,
    pub(crate) partitioner: KeyPartitioner<K>,
    pub(crate) value: PhantomData<fn() -> V>,
}

impl<K: 'static, V: 'static, A: Ship> Ship for MapSideCombine<K, V, A> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.combiner.freeze(out)?;
        self.partitioner.freeze(out)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let (combiner, partitioner) = (A::thaw(input)?, KeyPartitioner::thaw(input)?);
        Ok(Self { combiner, partitioner, value: PhantomData })
    }
}

impl<K: Data + Hash + Eq, V: Data, A: Combiner<V>> MapSide<(K, V)> for MapSideCombine<K, V, A> {
    type Row = (K, A::Combined);

    fn deal<'a>(&self, rows: impl Iterator<Item = (K, V)>, task: &'a TaskContext) -> Buckets<'a, Self::Row> {
        let buckets = Buckets::new(self.partitioner.num_partitions(), task);
        let functions = (
            |value| self.combiner.create(value),
            |one, value| self.combiner.add(one, value),
            |row: Self::Row| (self.partitioner.partition_inline(&row.0), row),
        );
        deal_combined(rows, buckets, functions, task)
    }
}

/// Combines rows by key and deals what they make. Of the functions, two combine and the last says to which partition a row
/// goes.
pub(super) fn deal_combined<'a, K, V, C, T>(
    rows: impl Iterator<Item = (K, V)>,
    buckets: Buckets<'a, T>,
    (create, add, deal): (impl Fn(V) -> C, impl Fn(C, V) -> C, impl Fn((K, C)) -> (u32, T)),
    task: &'a TaskContext,
) -> Buckets<'a, T>
where
    K: Data + Hash + Eq,
    C: Clone,
    T: Data,
{
    let mut combining = Combining::new(buckets, deal, task);
    let mut gather = Gather::new();
    rows.for_each(|row| {
        gather.bring(combining.table(), row, &create, &add);
        combining.count(1);
    });
    gather.flush(combining.table(), &create, &add);
    combining.finish()
}

/// A table on the map side, whose rows are dealt every now and then if memory is short and else at the end.
pub(super) struct Combining<'a, K, C, T, D> {
    table: Combine<K, C>,
    buckets: Buckets<'a, T>,
    deal: D,
    watch: Watch,
}

impl<'a, K: Hash + Eq, C: Clone, T: Data, D: Fn((K, C)) -> (u32, T)> Combining<'a, K, C, T, D> {
    pub(super) fn new(buckets: Buckets<'a, T>, deal: D, task: &'a TaskContext) -> Self {
        let watch = Watch::new("combining by key before the shuffle", task);
        Self { table: Combine::with_capacity(0), buckets, deal, watch }
    }

    pub(super) fn table(&mut self) -> &mut Combine<K, C> {
        &mut self.table
    }

    /// Says that so many rows were brought into the table.
    #[inline]
    pub(super) fn count(&mut self, rows: u32) {
        if self.watch.ticks(rows) && self.watch.must_spill(self.table.size().and_copied()) {
            self.empty();
            self.buckets.spill();
            self.watch.spilled();
        }
    }

    fn empty(&mut self) {
        for row in mem::take(&mut self.table.0) {
            let (partition, row) = (self.deal)(row);
            self.buckets.push(partition, row);
        }
    }

    pub(super) fn finish(mut self) -> Buckets<'a, T> {
        self.buckets.reserve(self.table.len());
        self.empty();
        self.buckets
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What rows with keys that own memory become in a table.
    fn combined<C: Clone>(create: impl Fn(u64) -> C, add: impl Fn(C, u64) -> C) -> BTreeMap<String, C> {
        let (mut table, mut gather) = (Combine::with_capacity(0), Gather::new());
        for x in 0..ROWS {
            gather.bring(&mut table, (key(x), x), &create, &add);
        }
        gather.flush(&mut table, &create, &add);
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

        assert!(!(ROWS as usize).is_multiple_of(GATHERED) && Gather::<String, u64>::IS_WORTH_IT);
        let digest =
            |list: &[u64]| list[1..].iter().fold(list[0], |a, x| 31_u64.wrapping_mul(a).wrapping_add(*x));
        assert_eq!(digests, expected.iter().map(|(key, list)| (key.clone(), digest(list))).collect());
        assert_eq!(lists, expected);
    }
}
