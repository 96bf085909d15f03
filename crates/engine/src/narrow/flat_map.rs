//! The adaptor of `flat_map`.

use firesteel_types::{PartitionId, RddId};

use crate::{
    data::Data,
    rdd::{Rdd, RddHandle},
    ship::{Blame, Func, Ship},
    task::TaskContext,
};

/// Rows of one parent row between two checks for an order to end.
const BATCH: usize = 4096;

/// An [`Rdd`] that makes any number of rows from every row of its parent. Made by
/// [`flat_map`](crate::Transform::flat_map).
///
/// A narrow dependency: partition *i* comes from the parent's partition *i*, in one pass with nothing in between.
#[must_use = "an RDD is lazy and does nothing until an action runs it"]
pub struct FlatMap<R, E, F> {
    pub(super) parent: R,
    pub(super) handle: RddHandle,
    pub(super) function: Func<E, F>,
}

crate::rdd::debug_as_handle!(impl[R, E, F] FlatMap<R, E, F>);

crate::ship!(impl[R: Ship, E: Data, F: 'static] FlatMap<R, E, F> { parent, handle, function });

impl<R: Clone, E, F> Clone for FlatMap<R, E, F> {
    fn clone(&self) -> Self {
        Self { parent: self.parent.clone(), handle: self.handle.clone(), function: self.function.clone() }
    }
}

impl<R, E, F, I> Rdd for FlatMap<R, E, F>
where
    R: Rdd,
    E: Data,
    I: IntoIterator<Item: Data, IntoIter: 'static>,
    F: Fn(&E, R::Item) -> I + Copy + Send + Sync + 'static,
{
    type Item = I::Item;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(
        &'a self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = I::Item> + 'a {
        let (f, env) = (self.function.function(), self.function.env());
        self.parent.compute(partition, task).flat_map(move |row| {
            let rows = self.function.blame().on(|| f(env, row).into_iter());
            Expanded { rows, until_check: BATCH, task, operator: self.handle.id() }
        })
    }
}

/// The rows from one row: the user's own iterator, which may be endless, and may panic.
struct Expanded<'a, I> {
    rows: I,
    until_check: usize,
    task: &'a TaskContext,
    operator: RddId,
}

impl<I: Iterator> Iterator for Expanded<'_, I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        if self.until_check == 0 {
            self.task.check();
            self.until_check = BATCH;
        }
        self.until_check -= 1;
        Blame::new(self.operator).on(|| self.rows.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }

    #[inline]
    fn fold<B, G: FnMut(B, I::Item) -> B>(mut self, init: B, mut g: G) -> B {
        let mut folded = init;
        loop {
            let mut given = 0;
            // What is done with the rows runs inside of the user's iterator, but is not its fault.
            let add = |folded, row| {
                given += 1;
                Blame::none().on(|| g(folded, row))
            };
            folded = Blame::new(self.operator).on(|| self.rows.by_ref().take(BATCH).fold(folded, add));
            if given < BATCH {
                return folded;
            }
            self.task.check();
        }
    }
}
