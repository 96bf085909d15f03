//! Job functions that give rows as they are, or how many there are.

use crate::{data::Data, job::JobFunction, task::TaskContext};

/// Counts rows.
#[derive(Clone)]
pub(super) struct Count;
crate::ship!(impl[] Count {});

impl<T> JobFunction<T> for Count {
    type Output = u64;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> u64 {
        rows.count() as u64
    }
}

/// Gives all rows.
pub(super) struct Collect;
crate::ship!(impl[] Collect {});

impl<T: Data> JobFunction<T> for Collect {
    type Output = Vec<T>;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> Vec<T> {
        gather(rows)
    }

    fn size_of(output: &Vec<T>) -> u64 {
        size_of_val(output.as_slice()) as u64
    }
}

/// Puts rows into a vector by internal iteration, which `collect` does not do for rows of unknown number.
pub(super) fn gather<T>(rows: impl Iterator<Item = T>) -> Vec<T> {
    let mut gathered = Vec::with_capacity(rows.size_hint().0);
    rows.for_each(|row| gathered.push(row));
    gathered
}

/// The rows of all partitions, moved one after the other into one vector.
pub(super) fn concat<T>(parts: Vec<Vec<T>>) -> Vec<T> {
    let total: usize = parts.iter().map(Vec::len).sum();
    let mut parts = parts.into_iter();
    let mut rows = parts.next().unwrap_or_default();
    rows.reserve_exact(total - rows.len());
    parts.for_each(|mut part| rows.append(&mut part));
    rows
}
