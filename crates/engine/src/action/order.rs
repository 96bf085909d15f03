//! Job functions that keep the rows which come first in some order.

use std::{
    cmp::{Ordering, Reverse},
    marker::PhantomData,
    sync::Arc,
};

use firesteel_scheduler::Partitions;

use crate::{
    Result,
    data::Data,
    job::{Call, JobFunction, JobHandle, listed},
    rdd::Rdd,
    ship::{Frozen, Func, Ship, ShipError, Thawing},
    task::TaskContext,
};
use firesteel_stats::BoundedTop;

/// A row in the form in which it is compared.
pub(super) trait Ranked<T>: Ord + 'static {
    /// The row itself.
    fn into_row(self) -> T;
}

impl<T: Ord + 'static> Ranked<T> for T {
    fn into_row(self) -> T {
        self
    }
}

impl<T: Ord + 'static> Ranked<T> for Reverse<T> {
    fn into_row(self) -> T {
        self.0
    }
}

/// A row that is compared by its key, computed once.
pub(super) struct Keyed<K, T> {
    key: K,
    row: T,
}

impl<K, T> Keyed<K, T> {
    pub(super) fn new(row: T, key: impl FnOnce(&T) -> K) -> Self {
        Self { key: key(&row), row }
    }
}

impl<K: Ord, T> Ord for Keyed<K, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<K: Ord, T> PartialOrd for Keyed<K, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, T> PartialEq for Keyed<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord, T> Eq for Keyed<K, T> {}

impl<K: Ord + 'static, T: 'static> Ranked<T> for Keyed<K, T> {
    fn into_row(self) -> T {
        self.row
    }
}

/// Gives the `most` rows that come first, in order.
struct FirstRows<E, F, D> {
    most: usize,
    function: Func<E, F>,
    ranked: PhantomData<fn() -> D>,
}

impl<E: Data, F: 'static, D: 'static> Ship for FirstRows<E, F, D> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.function.freeze(out)?;
        out.value(&self.most)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self { function: Func::thaw(input)?, most: input.value()?, ranked: PhantomData })
    }
}

impl<T: Data, E: Data, D: Ranked<T>, F> JobFunction<T> for FirstRows<E, F, D>
where
    F: Fn(&E, T) -> D + Copy + Send + Sync + 'static,
{
    type Output = Vec<T>;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> Vec<T> {
        let (rank, env) = (self.function.function(), self.function.env());
        first_rows(rows, self.most, |row| rank(env, row))
    }

    fn size_of(output: &Vec<T>) -> u64 {
        size_of_val(output.as_slice()) as u64
    }
}

fn first_rows<T, D: Ranked<T>>(rows: impl Iterator<Item = T>, most: usize, rank: impl Fn(T) -> D) -> Vec<T> {
    let mut top = BoundedTop::new(most, D::cmp);
    top.extend(rows.map(rank));
    top.into_sorted_vec().into_iter().map(D::into_row).collect()
}

impl Call {
    /// Finds the `most` rows that come first in the form that `rank` gives them, and gives them in order to `finish`.
    pub(super) fn first_rows<R: Rdd, E: Data, D: Ranked<R::Item>, F, T: Send + 'static>(
        self,
        rdd: &R,
        most: usize,
        (env, rank): (Arc<E>, F),
        finish: impl FnOnce(Vec<R::Item>) -> Result<T> + Send + 'static,
    ) -> JobHandle<T>
    where
        F: Fn(&E, R::Item) -> D + Copy + Send + Sync + 'static,
    {
        let function = Func::new(env.clone(), rank, rdd.handle().id());
        let function = FirstRows { most, function, ranked: PhantomData::<fn() -> D> };
        // Nothing is needed of any partition when no row is wanted.
        let partitions = if most == 0 { listed([]) } else { Partitions::All };
        self.run_on(rdd, partitions, function, move |parts| {
            finish(first_rows(parts.into_iter().flatten(), most, |row| rank(&env, row)))
        })
    }

    /// The row that comes first in the form that `rank` gives it.
    pub(super) fn first_row<R: Rdd, E: Data, D: Ranked<R::Item>, F>(
        self,
        rdd: &R,
        env: Arc<E>,
        rank: F,
    ) -> JobHandle<R::Item>
    where
        F: Fn(&E, R::Item) -> D + Copy + Send + Sync + 'static,
    {
        self.first_rows(rdd, 1, (env, rank), move |mut rows| rows.pop().ok_or_else(|| self.empty()))
    }

    /// The first row that no other one precedes.
    pub(super) fn first_by<R: Rdd, E: Data, F>(self, rdd: &R, env: Arc<E>, compare: F) -> JobHandle<R::Item>
    where
        F: Fn(&E, &R::Item, &R::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        self.reduce(rdd, env, move |env, one, two| if compare(env, &two, &one).is_lt() { two } else { one })
    }
}
