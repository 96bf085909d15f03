//! Bringing the values of several sides together when they do not fit in memory.

use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::{
    data::Data,
    pair::Loaded,
    spill::{Fold, SpillTable, TableRows},
    task::TaskContext,
};

/// A value of one of up to four sides.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Side<A, B, C, D> {
    First(A),
    Second(B),
    Third(C),
    Fourth(D),
}

/// Values of up to four sides become a vector for each. Sides that are not there are `()`.
pub(crate) struct Sides<A, B, C, D>(std::marker::PhantomData<fn() -> Side<A, B, C, D>>);

impl<A, B, C, D> Clone for Sides<A, B, C, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, B, C, D> Copy for Sides<A, B, C, D> {}

type Vectors<A, B, C, D> = (Vec<A>, Vec<B>, Vec<C>, Vec<D>);

impl<A: Data, B: Data, C: Data, D: Data> Fold for Sides<A, B, C, D> {
    type Row = Side<A, B, C, D>;
    type State = Vectors<A, B, C, D>;

    fn start(&self, value: Self::Row) -> Self::State {
        self.add((Vec::new(), Vec::new(), Vec::new(), Vec::new()), value)
    }

    fn add(&self, mut group: Self::State, value: Self::Row) -> Self::State {
        match value {
            Side::First(value) => group.0.push(value),
            Side::Second(value) => group.1.push(value),
            Side::Third(value) => group.2.push(value),
            Side::Fourth(value) => group.3.push(value),
        }
        group
    }

    fn unload(&self, (first, second, third, fourth): Self::State, each: impl FnMut(Self::Row)) {
        let first = first.into_iter().map(Side::First);
        let second = second.into_iter().map(Side::Second);
        let third = third.into_iter().map(Side::Third);
        let fourth = fourth.into_iter().map(Side::Fourth);
        first.chain(second).chain(third).chain(fourth).for_each(each);
    }
}

/// A table of the values of several sides.
pub(crate) struct Together<'a, K, A: Data, B: Data, C: Data, D: Data>(SpillTable<'a, K, Sides<A, B, C, D>>);

impl<'a, K, A, B, C, D> Together<'a, K, A, B, C, D>
where
    K: Data + Hash + Eq,
    A: Data,
    B: Data,
    C: Data,
    D: Data,
{
    pub(crate) fn new(name: &'static str, task: &'a TaskContext) -> Self {
        Self(SpillTable::new(Sides(std::marker::PhantomData), 0, name, task))
    }

    /// Brings all rows of one side in; `of` selects it.
    pub(crate) fn bring<V: Data>(
        &mut self,
        rows: Loaded<'a, (K, V)>,
        of: impl Fn(V) -> Side<A, B, C, D>,
        task: &'a TaskContext,
    ) {
        let sides = Sides(std::marker::PhantomData);
        rows.for_each(task, |(key, value)| {
            self.0.bring(key, of(value), |value| sides.start(value), |group, value| sides.add(group, value));
        });
    }

    /// Each key with its values.
    pub(crate) fn into_groups(self) -> TableRows<'a, K, Sides<A, B, C, D>> {
        self.0.into_rows()
    }
}

/// A table of the values of two sides.
pub(crate) fn two_sides<'a, K: Data + Hash + Eq, V: Data, W: Data>(
    left: Loaded<'a, (K, V)>,
    right: Loaded<'a, (K, W)>,
    name: &'static str,
    task: &'a TaskContext,
) -> impl Iterator<Item = (K, Vec<V>, Vec<W>)> + 'a {
    let mut together: Together<'_, K, V, W, (), ()> = Together::new(name, task);
    together.bring(left, Side::First, task);
    together.bring(right, Side::Second, task);
    together.into_groups().map(|(key, (left, right, _, _))| (key, left, right))
}

#[cfg(test)]
mod tests;
