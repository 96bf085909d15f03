//! The adaptor of `group_by_key`.

use std::{
    hash::Hash,
    marker::PhantomData,
    mem::{self, needs_drop},
};

use firesteel_types::PartitionId;
use hashbrown::{HashTable, hash_table::Entry};

use super::{
    Input,
    group::{ByKey, Filling, Group},
};
use crate::{
    data::Data,
    either::Either,
    partitioner::{KeyPartitioner, hash_of},
    rdd::{Rdd, RddHandle},
    ship::{Frozen, Ship, ShipError, Thawing},
    shuffle::{Batch, Buckets, MapSide},
    spill::SpillTable,
    task::TaskContext,
};

/// An [`Rdd`] with all values of each key side by side. Made by [`group_by_key`](crate::PairRdd::group_by_key).
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
#[derive(Clone)]
pub struct Grouped<K: Data, V: Data> {
    handle: RddHandle,
    input: Input<(K, V), (K, V)>,
}

crate::rdd::debug_as_handle!(impl[K: Data, V: Data] Grouped<K, V>);

crate::ship!(impl[K: Data, V: Data] Grouped<K, V> { handle, input });

impl<K: Data + Hash + Eq, V: Data> Grouped<K, V> {
    #[track_caller]
    pub(super) fn new<R: Rdd<Item = (K, V)>>(
        parent: &R,
        operator: &'static str,
        partitioner: &KeyPartitioner<K>,
    ) -> Self {
        let builder = parent.handle().derive_into(operator, partitioner.num_partitions());
        let side = || DealInline { partitioner: partitioner.clone(), value: PhantomData };
        let input = Input::new(parent, partitioner, false, side);
        let builder = builder.partitioner(Some(partitioner.erased())).parents(vec![input.parent()]);
        Self { handle: builder.build(), input }
    }
}

impl<K: Data + Hash + Eq, V: Data> Rdd for Grouped<K, V> {
    type Item = (K, Group<V>);

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Self::Item> + 'a {
        let by_key = ByKey { task, values: PhantomData };
        let mut groups = SpillTable::new(by_key, 0, "grouping by key", task);
        match &self.input {
            Input::Narrow(parent) => parent
                .rows(partition, task)
                .for_each(|(key, value)| groups.bring(key, value, Filling::of, Filling::with)),
            Input::Shuffle(read) => {
                // Values that own nothing are copied to their groups while all of them are still there.
                let once_more = if needs_drop::<V>() { 0 } else { size_of::<V>() };
                let beside = size_of::<(K, V)>() + 2 * size_of::<u32>() + size_of::<(K, u32)>() + once_more;
                match read.blocks(partition, task).lend(beside, task) {
                    Ok(blocks) => {
                        let rows: usize = blocks.iter().map(|rows| rows.len()).sum();
                        let groups = if needs_drop::<V>() || u32::try_from(rows).is_err() {
                            Either::One(group_each(&blocks, task).into_iter())
                        } else {
                            Either::Two(group_together(&blocks, task))
                        };
                        return Either::One(groups.map(|(key, values)| (key, Group::from(values))));
                    }
                    Err(blocks) => blocks.for_each(task, |batch| match batch {
                        Batch::Lent(rows) => rows.iter().for_each(|(key, value)| {
                            groups.bring_borrowed(key, value.clone(), Filling::of, Filling::with);
                        }),
                        Batch::Owned(rows) => rows
                            .into_iter()
                            .for_each(|(key, value)| groups.bring(key, value, Filling::of, Filling::with)),
                    }),
                }
            }
        }
        Either::Two(groups.into_rows().map(|(key, group)| (key, group.finish())))
    }
}

/// The group of each row, numbered as they come.
struct Groups<K> {
    /// Keys by value, so that a comparison does not reach into a block.
    numbers: HashTable<(K, u32)>,
    sizes: Vec<u32>,
    /// Looked up once for each row, and used again when the values are put in place.
    group_of: Vec<u32>,
}

impl<K: Data + Hash + Eq> Groups<K> {
    fn of<V: Data>(blocks: &[&[(K, V)]], task: &TaskContext) -> Self {
        let rows = blocks.iter().map(|rows| rows.len()).sum();
        let (mut numbers, mut sizes) = (HashTable::<(K, u32)>::new(), Vec::<u32>::new());
        let mut group_of = Vec::with_capacity(rows);
        for rows in blocks.iter().flat_map(|rows| task.batches(rows)) {
            group_of.extend(rows.iter().map(|(key, _)| {
                match numbers.entry(hash_of(key), |(other, _)| other == key, |(key, _)| hash_of(key)) {
                    Entry::Occupied(entry) => {
                        let group = entry.get().1;
                        sizes[group as usize] += 1;
                        group
                    }
                    Entry::Vacant(entry) => {
                        let group = place_of(sizes.len());
                        entry.insert((key.clone(), group));
                        sizes.push(1);
                        group
                    }
                }
            }));
        }
        Self { numbers, sizes, group_of }
    }
}

/// Groups rows that lie in memory, with a vector for each group from the beginning.
fn group_each<K: Data + Hash + Eq, V: Data>(blocks: &[&[(K, V)]], task: &TaskContext) -> Vec<(K, Vec<V>)> {
    let Groups { numbers, sizes, group_of } = Groups::of(blocks, task);
    let mut keys: Vec<Option<K>> = sizes.iter().map(|_| None).collect();
    numbers.into_iter().for_each(|(key, group)| keys[group as usize] = Some(key));
    let empty = |(key, size): (Option<K>, u32)| {
        (key.expect("every group has a key"), Vec::with_capacity(size as usize))
    };
    let mut groups: Vec<(K, Vec<V>)> = keys.into_iter().zip(sizes).map(empty).collect();
    let mut group_of = group_of.into_iter();
    for rows in blocks.iter().flat_map(|rows| task.batches(rows)) {
        for ((_, value), group) in rows.iter().zip(&mut group_of) {
            groups[group as usize].1.push(value.clone());
        }
    }
    groups
}

/// Groups rows whose values own nothing: they lie side by side, and a group is made when it is asked for.
///
/// Groups come in the order of their keys in a hash table. So do the rows of most other keyed operators; one that looks
/// the keys of the one up in a table of the other goes through it from its beginning to its end.
fn group_together<'a, K: Data + Hash + Eq, V: Data>(
    blocks: &[&'a [(K, V)]],
    task: &'a TaskContext,
) -> impl Iterator<Item = (K, Vec<V>)> + use<'a, K, V> {
    let Groups { numbers, sizes: mut ends, group_of } = Groups::of(blocks, task);
    // Where each group begins; it is where the group ends when all its values are in place.
    let mut start = 0;
    for (_, group) in &numbers {
        start += mem::replace(&mut ends[*group as usize], start);
    }
    // Something has to be there before the values are.
    let mut values = match blocks.iter().find_map(|rows| rows.first()) {
        Some((_, value)) => vec![value.clone(); group_of.len()],
        None => Vec::new(),
    };
    let mut group_of = group_of.into_iter();
    for rows in blocks.iter().flat_map(|rows| task.batches(rows)) {
        for ((_, value), group) in rows.iter().zip(&mut group_of) {
            let end = &mut ends[group as usize];
            values[*end as usize] = value.clone();
            *end += 1;
        }
    }
    let mut start = 0;
    numbers.into_iter().map(move |(key, group)| {
        let end = ends[group as usize] as usize;
        (key, values[mem::replace(&mut start, end)..end].to_vec())
    })
}

fn place_of(groups: usize) -> u32 {
    u32::try_from(groups).expect("one partition has fewer than 2³² different keys")
}

/// Deals rows as they are, with the hash of the key compiled into the loop.
struct DealInline<K: 'static, V> {
    partitioner: KeyPartitioner<K>,
    value: PhantomData<fn() -> V>,
}

impl<K: 'static, V: 'static> Ship for DealInline<K, V> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.partitioner.freeze(out)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self { partitioner: KeyPartitioner::thaw(input)?, value: PhantomData })
    }
}

impl<K: Data + Hash, V: Data> MapSide<(K, V)> for DealInline<K, V> {
    type Row = (K, V);

    fn deal<'a>(&self, rows: impl Iterator<Item = (K, V)>, task: &'a TaskContext) -> Buckets<'a, (K, V)> {
        let mut buckets = Buckets::new(self.partitioner.num_partitions(), task);
        buckets.reserve(rows.size_hint().0);
        rows.for_each(|row| buckets.push(self.partitioner.partition_inline(&row.0), row));
        buckets
    }
}
