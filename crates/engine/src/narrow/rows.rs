//! The rows of a partition without the type of what makes them.

use std::{fmt, iter::FusedIterator, mem::needs_drop, ops::ControlFlow, vec};

use firesteel_types::RddId;

use crate::{ship::Blame, task::TaskContext};
use firesteel_storage::memory::BatchLimit;

/// The most rows that are computed ahead in one go.
const BATCH_ROWS_MAX: usize = 1024;

/// The rows of one partition, as a function over whole partitions gets and gives them.
///
/// Rows pass in batches, one virtual call for each. A batch begins with one row and doubles, so that few rows are computed
/// for a reader that wants only the first one. It ends early when its rows have taken 64 KiB: of large rows, one at a time
/// is there. (Without the `allocator` feature nothing is known of what rows own, and only the size of their type counts.)
///
/// After its end there are no more rows, even if the iterator behind it would give more.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let sums = ctx.range_into(0..6, 2).map_partitions(|rows| Rows::new(std::iter::once(rows.sum::<i32>())));
/// assert_eq!(sums.collect()?, [3, 12]);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[must_use = "rows are computed when they are asked for"]
pub struct Rows<'a, T> {
    source: Box<dyn Batches<T> + 'a>,
    batch: vec::IntoIter<T>,
    /// How many rows the next batch has at most.
    batch_rows: usize,
    /// The source has no more rows. It is not asked again: an iterator may go on after its end.
    is_ended: bool,
    watch: Option<Watch<'a>>,
}

/// The operator whose function makes the rows, and the task.
struct Watch<'a> {
    task: &'a TaskContext,
    operator: RddId,
}

/// Some rows of a source.
struct Batch<T> {
    rows: Vec<T>,
    /// The source has told that there are no more. Fewer rows than were asked for do not mean that.
    is_last: bool,
}

/// Rows in batches.
trait Batches<T> {
    /// Gives one to `rows_max` rows, or none at the end.
    fn next_batch(&mut self, rows_max: usize) -> Batch<T>;
    /// How many rows are left at least and at most.
    fn bounds(&self) -> (usize, Option<usize>);
}

impl<T, I: Iterator<Item = T>> Batches<T> for I {
    fn next_batch(&mut self, rows_max: usize) -> Batch<T> {
        // The source is not asked how many rows it has: each of the layers of a deep lineage would ask all others.
        let mut rows = Vec::with_capacity(rows_max);
        if !needs_drop::<T>() {
            // Rows that own nothing need no look at the meter: `rows_max` takes care of their size.
            rows.extend(self.take(rows_max));
            let is_last = rows.len() < rows_max;
            return Batch { rows, is_last };
        }
        let limit = BatchLimit::start();
        let flow = self.try_for_each(|row| {
            rows.push(row);
            let is_full = rows.len() == rows_max || limit.is_reached::<T>();
            if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        Batch { rows, is_last: flow.is_continue() }
    }

    fn bounds(&self) -> (usize, Option<usize>) {
        self.size_hint()
    }
}

impl<'a, T: 'a> Rows<'a, T> {
    /// The rows that an iterator gives.
    ///
    /// ```
    /// # use firesteel::Rows;
    /// assert_eq!(Rows::new(vec![1, 2, 3]).map(|x| x * 2).collect::<Vec<_>>(), [2, 4, 6]);
    /// ```
    pub fn new(rows: impl IntoIterator<Item = T, IntoIter: 'a>) -> Self {
        let source = Box::new(rows.into_iter());
        Self { source, batch: Vec::new().into_iter(), batch_rows: 1, is_ended: false, watch: None }
    }

    /// The same rows as the function of `operator` gave them: each batch sees an order to end, and a panic is blamed on
    /// the operator.
    pub(crate) fn watched(mut self, task: &'a TaskContext, operator: RddId) -> Self {
        self.watch = Some(Watch { task, operator });
        self
    }
}

/// How many rows a batch may have after one that had `rows`.
fn next_rows_max<T>(rows: usize) -> usize {
    (2 * rows).clamp(1, const { BatchLimit::rows::<T>(BATCH_ROWS_MAX) })
}

fn pull<T>(source: &mut dyn Batches<T>, watch: Option<&Watch<'_>>, rows_max: usize) -> Batch<T> {
    match watch {
        Some(Watch { task, operator }) => {
            task.check();
            Blame::new(*operator).on(|| source.next_batch(rows_max))
        }
        None => source.next_batch(rows_max),
    }
}

impl<T> fmt::Debug for Rows<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = out.debug_struct("Rows");
        fields.field("batch_rows", &self.batch_rows).field("is_ended", &self.is_ended).finish_non_exhaustive()
    }
}

impl<T> Iterator for Rows<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if let Some(row) = self.batch.next() {
            return Some(row);
        }
        if self.is_ended {
            return None;
        }
        let batch = pull(&mut *self.source, self.watch.as_ref(), self.batch_rows);
        self.is_ended = batch.is_last;
        self.batch_rows = next_rows_max::<T>(batch.rows.len());
        self.batch = batch.rows.into_iter();
        self.batch.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least, most) = if self.is_ended { (0, Some(0)) } else { self.source.bounds() };
        let here = self.batch.len();
        (least.saturating_add(here), most.and_then(|most| most.checked_add(here)))
    }

    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        let Self { mut source, batch, mut batch_rows, mut is_ended, watch } = self;
        let mut folded = batch.fold(init, &mut f);
        while !is_ended {
            let batch = pull(&mut *source, watch.as_ref(), batch_rows);
            is_ended = batch.is_last;
            batch_rows = next_rows_max::<T>(batch.rows.len());
            folded = batch.rows.into_iter().fold(folded, &mut f);
        }
        folded
    }
}

impl<T> FusedIterator for Rows<'_, T> {}

#[cfg(test)]
mod tests {
    use std::{
        cell::{Cell, RefCell},
        iter,
        rc::Rc,
    };

    use firesteel_storage::memory::is_counting;

    use super::*;

    /// Three rows, an end, and then more rows.
    fn ends_once<'a>() -> Rows<'a, u32> {
        let mut asked = 0;
        Rows::new(iter::from_fn(move || {
            asked += 1;
            (asked != 4 && asked < 100).then_some(asked)
        }))
    }

    #[test]
    fn a_source_that_has_ended_is_never_asked_again() {
        for alone in 0..6 {
            let mut rows = ends_once();
            let mut seen: Vec<u32> = rows.by_ref().take(alone).collect();
            rows.for_each(|row| seen.push(row));
            assert_eq!(seen, [1, 2, 3], "{alone} one by one, then all others");
        }
        let mut rows = Rows::new(Rows::new(ends_once()));
        assert_eq!(rows.by_ref().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!((rows.next(), rows.size_hint()), (None, (0, Some(0))));
        assert_eq!(Rows::new(ends_once()).count(), 3);
    }

    /// How often rows were asked for, and how many rows there are.
    #[derive(Clone, Default)]
    struct Asked(Rc<(Cell<usize>, Cell<usize>)>);

    struct Watched<I>(I, Asked);

    impl<I: Iterator> Iterator for Watched<I> {
        type Item = I::Item;

        fn next(&mut self) -> Option<I::Item> {
            let Asked(asked) = &self.1;
            asked.0.set(asked.0.get() + 1);
            self.0.next()
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            let Asked(asked) = &self.1;
            asked.1.set(asked.1.get() + 1);
            self.0.size_hint()
        }
    }

    /// A lineage of `depth` boxed RDDs costs each of them one question for each row and one for the end.
    #[test]
    fn rows_through_many_layers_cost_each_layer_the_same() {
        const ROWS: usize = 100;
        for depth in [1, 10, 200] {
            let asked = Asked::default();
            let source = Rows::new(0..ROWS);
            let rows =
                (0..depth).fold(source, |rows, _| Rows::new(Watched(rows.map(|row| row + 1), asked.clone())));

            assert!(rows.eq(depth..depth + ROWS));

            let Asked(asked) = asked;
            assert_eq!(asked.0.get(), depth * (ROWS + 1), "questions for rows");
            assert!(asked.1.get() <= depth, "questions for the number of rows: {}", asked.1.get());
        }
    }

    /// How many of `rows` are there at once at most, through two layers, and how many came.
    fn held_ahead<T>(rows: usize, make: impl Fn() -> T) -> (usize, usize) {
        struct Row<T>(T, Rc<RefCell<usize>>);

        impl<T> Drop for Row<T> {
            fn drop(&mut self) {
                *self.1.borrow_mut() -= 1;
            }
        }

        let live = Rc::new(RefCell::new(0));
        let (mut most, mut came) = (0, 0);
        let source = (0..rows).map(|_| {
            *live.borrow_mut() += 1;
            Row(make(), live.clone())
        });
        let mut layers = Rows::new(Rows::new(source));
        for row in layers.by_ref().take(rows / 2) {
            most = most.max(*live.borrow());
            came += 1;
            drop(row);
        }
        layers.for_each(|_row| {
            most = most.max(*live.borrow());
            came += 1;
        });
        (most, came)
    }

    #[test]
    #[expect(clippy::large_stack_arrays, reason = "large rows that own nothing")]
    fn of_rows_that_are_large_one_is_held_at_once() {
        assert_eq!(held_ahead(100, || [0_u8; 2 * BatchLimit::BYTES]), (1, 100));
        if is_counting() {
            assert_eq!(held_ahead(100, || vec![0_u8; 2 * BatchLimit::BYTES]), (1, 100));
            let (most, came) = held_ahead(1_000, || vec![0_u8; BatchLimit::BYTES / 10]);
            assert!(most <= 22 && came == 1_000, "{most} of a tenth of a batch in two layers");
        }
    }

    #[test]
    #[expect(clippy::large_stack_arrays, reason = "large rows that own nothing")]
    fn rows_without_memory_of_their_own_are_bounded_by_their_size() {
        let made = Cell::new(0);
        let mut rows = Rows::new((0..200_u32).map(|_| {
            made.set(made.get() + 1);
            [0_u8; 2 * BatchLimit::BYTES]
        }));
        for taken in 1..=200 {
            assert!(rows.next().is_some());
            assert_eq!(made.get(), taken);
        }
    }

    #[test]
    fn batches_of_small_rows_grow_from_one_to_many() {
        let made = Cell::new(0);
        let mut rows = Rows::new((0..5_000_u32).inspect(|_| made.set(made.get() + 1)));
        let mut batches = Vec::new();
        while rows.next().is_some() {
            if batches.last() != Some(&made.get()) {
                batches.push(made.get());
            }
        }
        assert_eq!(batches[..4], [1, 3, 7, 15]);
        assert_eq!(batches[11] - batches[10], BATCH_ROWS_MAX);
    }
}
