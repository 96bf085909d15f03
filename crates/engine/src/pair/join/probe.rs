//! The streaming side of a join: each row looks its partners up.

use std::{hash::Hash, iter::Fuse, marker::PhantomData};

use super::{JoinKind, Table, table::Link};
use crate::{data::Data, pair::gathered::Gathered, task::TaskContext};

/// Pairs between two checks for an order to end.
const BATCH: u32 = 4096;

/// Rows of a batch whose partners are looked up together, so that the cache misses overlap.
const PREFETCH_ROWS: usize = 32;

/// A row of the streaming side, borrowed or owned.
pub(super) trait Row<K, V> {
    fn key(&self) -> &K;
    /// Gives the row out and keeps it for its next partner.
    fn give(&self) -> (K, V);
    /// Gives the row out for the last time.
    fn take(self) -> (K, V);
}

impl<K: Clone, V: Clone> Row<K, V> for &(K, V) {
    #[inline]
    fn key(&self) -> &K {
        &self.0
    }

    #[inline]
    fn give(&self) -> (K, V) {
        (*self).clone()
    }

    #[inline]
    fn take(self) -> (K, V) {
        self.clone()
    }
}

impl<K: Clone, V: Clone> Row<K, V> for (K, V) {
    #[inline]
    fn key(&self) -> &K {
        &self.0
    }

    #[inline]
    fn give(&self) -> (K, V) {
        self.clone()
    }

    #[inline]
    fn take(self) -> (K, V) {
        self
    }
}

/// The rows of a join, one by one. For `J` the streaming side is the left one.
pub(super) struct Probe<'a, I: Iterator, K, V, W, J> {
    rows: Fuse<I>,
    /// A row whose partners are not all given out.
    current: Option<(I::Item, Link)>,
    built: Built<'a, K, W>,
    /// The number from which on rows of the built side may wait to be given out alone.
    alone_from: u32,
    kind: PhantomData<fn() -> (V, J)>,
}

/// The built side and what is known of it so far.
struct Built<'a, K, W> {
    table: Table<'a, K, W>,
    /// One bit for each row: whether it has met a partner. Empty if the join does not need it.
    met: Vec<u64>,
    pairs: u32,
    task: &'a TaskContext,
}

impl<'a, I, K, V, W, J> Probe<'a, I, K, V, W, J>
where
    I: Iterator,
    I::Item: Row<K, V>,
    K: Data + Hash + Eq,
    W: Data,
    J: JoinKind<V, W>,
{
    pub(super) fn new(rows: I, table: Table<'a, K, W>, task: &'a TaskContext) -> Self {
        let words = if J::KEEPS_RIGHT { table.rows().numbers().div_ceil(64) } else { 0 };
        let built = Built { table, met: vec![0; words as usize], pairs: 0, task };
        Self { rows: rows.fuse(), current: None, built, alone_from: 0, kind: PhantomData }
    }
}

/// What a pair gives, and its streaming row if more partners wait.
type Paired<T, R> = (T, Option<(R, Link)>);

impl<K: Data + Hash + Eq, W: Data> Built<'_, K, W> {
    /// Pairs `row` with the row at `link`; gives `row` back if more partners wait.
    #[inline]
    fn pair<R: Row<K, V>, V, J: JoinKind<V, W>>(&mut self, row: R, link: Link) -> Paired<(K, J::Row), R> {
        self.pairs = self.pairs.wrapping_add(1);
        if self.pairs.is_multiple_of(BATCH) {
            self.task.check();
        }
        let number = link.number();
        if J::KEEPS_RIGHT {
            self.met[number as usize / 64] |= 1 << (number % 64);
        }
        let partner = self.table.rows().row(number).1.clone();
        match self.table.next(link) {
            None => {
                let (key, value) = row.take();
                ((key, J::both(value, partner)), None)
            }
            Some(next) => {
                let (key, value) = row.give();
                ((key, J::both(value, partner)), Some((row, next)))
            }
        }
    }

    /// Folds `row` with the partner at `link` and all after it.
    #[inline]
    fn fold_pairs<R, V, J, B, F>(&mut self, mut row: R, mut link: Link, init: B, f: &mut F) -> B
    where
        R: Row<K, V>,
        J: JoinKind<V, W>,
        F: FnMut(B, (K, J::Row)) -> B,
    {
        let mut folded = init;
        loop {
            let (pair, rest) = self.pair::<R, V, J>(row, link);
            folded = f(folded, pair);
            match rest {
                Some(rest) => (row, link) = rest,
                None => return folded,
            }
        }
    }

    /// Folds what `row` gives, whose first partner is at `link`.
    #[inline]
    fn fold_row<R, V, J, B, F>(&mut self, row: R, link: Option<Link>, init: B, f: &mut F) -> B
    where
        R: Row<K, V>,
        J: JoinKind<V, W>,
        F: FnMut(B, (K, J::Row)) -> B,
    {
        match link {
            Some(link) => self.fold_pairs::<_, V, J, _, _>(row, link, init, f),
            None => match alone::<_, _, _, _, J>(row) {
                Some(row) => f(init, row),
                None => init,
            },
        }
    }

    /// Folds what gathered rows give, in their order.
    #[inline]
    fn fold_gathered<R, V, J, B, F>(&mut self, rows: &mut Vec<R>, init: B, f: &mut F) -> B
    where
        R: Row<K, V>,
        J: JoinKind<V, W>,
        F: FnMut(B, (K, J::Row)) -> B,
    {
        let mut links = [None; PREFETCH_ROWS];
        for (link, row) in links.iter_mut().zip(&*rows) {
            *link = self.table.first(row.key());
        }
        rows.drain(..)
            .zip(links)
            .fold(init, |folded, (row, link)| self.fold_row::<_, V, J, _, _>(row, link, folded, f))
    }

    /// The next row, from number `from` on, that has met no partner.
    fn next_alone<V, J: JoinKind<V, W>>(&self, from: &mut u32) -> Option<(K, J::Row)> {
        if !J::KEEPS_RIGHT {
            return None;
        }
        let rows = self.table.rows();
        while *from < rows.numbers() {
            let number = *from;
            *from += 1;
            if number.is_multiple_of(BATCH) {
                self.task.check();
            }
            if self.met[number as usize / 64] & (1 << (number % 64)) != 0 {
                continue;
            }
            if let Some((key, value)) = rows.find(number) {
                return J::right(value.clone()).map(|row| (key.clone(), row));
            }
        }
        None
    }
}

/// What a row without a partner gives.
#[inline]
fn alone<R: Row<K, V>, K, V, W, J: JoinKind<V, W>>(row: R) -> Option<(K, J::Row)> {
    if !J::KEEPS_LEFT {
        return None;
    }
    let (key, value) = row.take();
    J::left(value).map(|row| (key, row))
}

impl<I, K, V, W, J> Iterator for Probe<'_, I, K, V, W, J>
where
    I: Iterator,
    I::Item: Row<K, V>,
    K: Data + Hash + Eq,
    W: Data,
    J: JoinKind<V, W>,
{
    type Item = (K, J::Row);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((row, link)) = self.current.take() {
                let (pair, rest) = self.built.pair::<_, V, J>(row, link);
                self.current = rest;
                return Some(pair);
            }
            let Some(row) = self.rows.next() else {
                return self.built.next_alone::<V, J>(&mut self.alone_from);
            };
            match self.built.table.first(row.key()) {
                Some(link) => self.current = Some((row, link)),
                None => {
                    if let Some(row) = alone::<_, _, _, _, J>(row) {
                        return Some(row);
                    }
                }
            }
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, init: B, mut f: F) -> B {
        let Self { rows, current, mut built, mut alone_from, .. } = self;
        let mut folded = match current {
            Some((row, link)) => built.fold_pairs::<_, V, J, _, _>(row, link, init, &mut f),
            None => init,
        };
        let mut gathered = Gathered::new(PREFETCH_ROWS);
        folded = rows.fold(folded, |folded, row| {
            if !gathered.push(row) {
                return folded;
            }
            gathered.hand_out(|rows| built.fold_gathered::<_, V, J, _, _>(rows, folded, &mut f))
        });
        folded = gathered.hand_out(|rows| built.fold_gathered::<_, V, J, _, _>(rows, folded, &mut f));
        while let Some(row) = built.next_alone::<V, J>(&mut alone_from) {
            folded = f(folded, row);
        }
        folded
    }
}
