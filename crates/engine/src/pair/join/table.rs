//! The built side of a join: finds the rows of a key.

use std::hash::Hash;

use hashbrown::{HashTable, hash_table::Entry};

use super::Lent;
use crate::{partitioner::hash_of, task::TaskContext};

/// A hash table over rows that it borrows: the first row of each key, and from each row the next one of the
/// same key.
///
/// No vector per key: almost unique keys pay one small slot each, and only keys that repeat have links at
/// all.
pub(crate) struct Table<'a, K, V> {
    rows: Lent<'a, (K, V)>,
    first: HashTable<Link>,
    /// What comes after a row, by its number. Empty if no key repeats.
    next: Vec<Link>,
}

/// The number of a row, and whether another row of the same key comes after it.
///
/// Known from the link itself, so a key with one row costs no look at the links behind it.
#[derive(Clone, Copy)]
pub(crate) struct Link(u32);

impl Link {
    const MORE: u32 = 1 << 31;

    #[inline]
    pub(crate) const fn number(self) -> u32 {
        self.0 & !Self::MORE
    }

    #[inline]
    const fn has_more(self) -> bool {
        self.0 & Self::MORE != 0
    }
}

impl<'a, K: Hash + Eq, V> Table<'a, K, V> {
    /// Has every row of every key, in order.
    pub(crate) fn of_rows(rows: Lent<'a, (K, V)>, task: &'a TaskContext) -> Self {
        let mut table = Self::empty(rows);
        let Self { rows, first, next } = &mut table;
        // Backwards, since a row is put before those that are there.
        for (start, batch) in rows.batches(task).rev() {
            for (number, (key, _)) in (start..start + batch.len() as u32).zip(batch).rev() {
                match entry(first, rows, key) {
                    Entry::Vacant(slot) => {
                        slot.insert(Link(number));
                    }
                    Entry::Occupied(mut slot) => {
                        if next.is_empty() {
                            next.resize(rows.numbers() as usize, Link(0));
                        }
                        next[number as usize] = *slot.get();
                        *slot.get_mut() = Link(number | Link::MORE);
                    }
                }
            }
        }
        table
    }

    /// Has one row of each key.
    pub(crate) fn of_keys(rows: Lent<'a, (K, V)>, task: &'a TaskContext) -> Self {
        let mut table = Self::empty(rows);
        let Self { rows, first, .. } = &mut table;
        for (start, batch) in rows.batches(task) {
            for (number, (key, _)) in (start..).zip(batch) {
                entry(first, rows, key).or_insert(Link(number));
            }
        }
        table
    }

    fn empty(rows: Lent<'a, (K, V)>) -> Self {
        Self { first: HashTable::with_capacity(rows.len()), next: Vec::new(), rows }
    }

    /// The first row of `key`, if it has any.
    #[inline]
    pub(crate) fn first(&self, key: &K) -> Option<Link> {
        self.first.find(hash_of(key), |link| self.rows.row(link.number()).0 == *key).copied()
    }

    /// The row of the same key after this one.
    #[inline]
    pub(crate) fn next(&self, link: Link) -> Option<Link> {
        link.has_more().then(|| self.next[link.number() as usize])
    }

    /// The rows.
    #[inline]
    pub(crate) fn rows(&self) -> &Lent<'a, (K, V)> {
        &self.rows
    }
}

#[inline]
fn entry<'t, K: Hash + Eq, V>(
    table: &'t mut HashTable<Link>,
    rows: &Lent<'_, (K, V)>,
    key: &K,
) -> Entry<'t, Link> {
    let key_of = |link: &Link| &rows.row(link.number()).0;
    table.entry(hash_of(key), |link| key_of(link) == key, |link| hash_of(key_of(link)))
}
