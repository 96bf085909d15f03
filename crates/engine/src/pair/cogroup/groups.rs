//! Sorting the rows of several sides by key without moving them.

use std::hash::Hash;

use hashbrown::{HashTable, hash_table::Entry};

use crate::{
    pair::Lent,
    partitioner::hash_of,
    task::{Abort, TaskContext, abort_task},
};

/// The keys seen so far, each with a number: that of its group.
pub(super) struct Groups<'a, K> {
    numbers: HashTable<u32>,
    keys: Vec<&'a K>,
}

/// The rows of one side and the group of each, in order.
pub(super) struct Assigned<'a, K, V> {
    rows: Lent<'a, (K, V)>,
    groups: Vec<u32>,
}

/// The rows of one side by group.
pub(super) struct Members<'a, K, V> {
    rows: Lent<'a, (K, V)>,
    /// Where each group begins in `order`, and at last where the last one ends.
    starts: Vec<u32>,
    /// The numbers of the rows, those of one group side by side.
    order: Vec<u32>,
}

impl<'a, K: Hash + Eq> Groups<'a, K> {
    pub(super) fn with_capacity(keys: usize) -> Self {
        Self { numbers: HashTable::with_capacity(keys), keys: Vec::new() }
    }

    /// Finds the group of each row of one more side.
    pub(super) fn assign<V>(&mut self, rows: Lent<'a, (K, V)>, task: &'a TaskContext) -> Assigned<'a, K, V> {
        let mut groups = Vec::with_capacity(rows.len());
        for (_, batch) in rows.batches(task) {
            groups.extend(batch.iter().map(|(key, _)| self.number(key)));
        }
        Assigned { rows, groups }
    }

    #[inline]
    fn number(&mut self, key: &'a K) -> u32 {
        let keys = &mut self.keys;
        let entry = self.numbers.entry(
            hash_of(key),
            |number| keys[*number as usize] == key,
            |number| hash_of(keys[*number as usize]),
        );
        match entry {
            Entry::Occupied(slot) => *slot.get(),
            Entry::Vacant(slot) => {
                let number = u32::try_from(keys.len()).unwrap_or_else(|_| too_many_keys());
                slot.insert(number);
                keys.push(key);
                number
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The key of each group, in the order of their numbers.
    pub(super) fn into_keys(self) -> impl Iterator<Item = &'a K> {
        self.keys.into_iter()
    }
}

#[cold]
fn too_many_keys() -> ! {
    let message = "a partition has too many keys for one hash table: use more partitions".to_owned();
    abort_task(Abort::Failed { message, operator: None })
}

impl<'a, K, V> Assigned<'a, K, V> {
    /// Sorts the rows by their group: counts first, so that everything has its size at once.
    pub(super) fn sort(self, groups: usize, task: &'a TaskContext) -> Members<'a, K, V> {
        let Self { rows, groups: group_of } = self;
        let mut starts = vec![0_u32; groups + 1];
        for group in &group_of {
            starts[*group as usize] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        // Each start is the end of its group now. Filled from its end, backwards, a group is in order when it
        // is full.
        let mut order = vec![0; rows.len()];
        let mut group_of = group_of.iter().rev();
        for (first, batch) in rows.batches(task).rev() {
            for (number, group) in (0..batch.len() as u32).rev().zip(&mut group_of) {
                let start = &mut starts[*group as usize];
                *start -= 1;
                order[*start as usize] = first + number;
            }
        }
        Members { rows, starts, order }
    }
}

impl<K, V: Clone> Members<'_, K, V> {
    /// The values of one group, in order.
    pub(super) fn values(&self, group: usize) -> Vec<V> {
        let members = &self.order[self.starts[group] as usize..self.starts[group + 1] as usize];
        members.iter().map(|number| self.rows.row(*number).1.clone()).collect()
    }
}
