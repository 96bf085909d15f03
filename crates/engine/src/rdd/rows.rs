//! The rows of a partition without the type of what makes them.

use std::vec;

use firesteel_types::RddId;

use crate::executor::{Blame, TaskContext};

/// The most rows that are computed ahead in one go.
const BATCH_MAX: usize = 1024;

/// The rows of one partition, as a function over whole partitions gets and gives them.
///
/// Rows pass in batches, one virtual call for each. A batch begins with one row and doubles, so that whoever wants
/// only the first row makes few others be computed.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let sums = ctx.range_into(0..6, 2).map_partitions(|rows| Rows::new(std::iter::once(rows.sum::<i32>())));
/// assert_eq!(sums.collect()?, [3, 12]);
/// # Ok::<(), firesteel::Error>(())
/// ```
pub struct Rows<'a, T> {
    source: Box<dyn Batches<T> + 'a>,
    batch: vec::IntoIter<T>,
    next_batch: usize,
    watch: Option<Watch<'a>>,
}

/// Whose function makes the rows, for whom.
struct Watch<'a> {
    task: &'a TaskContext,
    operator: RddId,
}

/// Rows in batches.
trait Batches<T> {
    /// Gives up to `most` rows; none are left when there are none.
    fn next_batch(&mut self, most: usize) -> Vec<T>;
    /// How many rows are left at least and at most.
    fn bounds(&self) -> (usize, Option<usize>);
}

impl<T, I: Iterator<Item = T>> Batches<T> for I {
    fn next_batch(&mut self, most: usize) -> Vec<T> {
        let mut rows = Vec::with_capacity(most.min(self.size_hint().1.unwrap_or(most)));
        rows.extend(self.take(most));
        rows
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
        Self { source: Box::new(rows.into_iter()), batch: Vec::new().into_iter(), next_batch: 1, watch: None }
    }

    /// The same rows as the function of `operator` gave them: each batch sees an order to end, and a panic is blamed on
    /// the operator.
    pub(crate) fn watched(mut self, task: &'a TaskContext, operator: RddId) -> Self {
        self.watch = Some(Watch { task, operator });
        self
    }
}

fn pull<T>(source: &mut dyn Batches<T>, watch: Option<&Watch<'_>>, most: usize) -> Vec<T> {
    match watch {
        Some(Watch { task, operator }) => {
            task.check();
            Blame::new(*operator).on(|| source.next_batch(most))
        }
        None => source.next_batch(most),
    }
}

impl<T> Iterator for Rows<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if let Some(row) = self.batch.next() {
            return Some(row);
        }
        self.batch = pull(&mut *self.source, self.watch.as_ref(), self.next_batch).into_iter();
        self.next_batch = (self.next_batch * 2).min(BATCH_MAX);
        self.batch.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (least, most) = self.source.bounds();
        let here = self.batch.len();
        (least.saturating_add(here), most.and_then(|most| most.checked_add(here)))
    }

    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, mut f: F) -> B {
        let Self { mut source, batch, watch, .. } = self;
        let mut folded = batch.fold(init, &mut f);
        loop {
            let batch = pull(&mut *source, watch.as_ref(), BATCH_MAX);
            if batch.is_empty() {
                return folded;
            }
            folded = batch.into_iter().fold(folded, &mut f);
        }
    }
}
