//! The blocking actions.

use super::{Call, JobFunction, JobHandle};
use crate::{Result, executor::TaskContext, rdd::Rdd};

/// What makes an RDD run: each action submits a job and waits for its value.
///
/// Each has a twin with `_async` at the end of its name that returns a [`JobHandle`] at once.
pub trait Actions: Rdd {
    /// Counts the rows.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec!["a", "b", "c"].into_iter().map(String::from).collect()).count()?, 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn count(&self) -> Result<u64> {
        self.count_async().wait()
    }

    /// Counts the rows in the background.
    #[track_caller]
    fn count_async(&self) -> JobHandle<u64> {
        Call::new("count").run(self, Count, |counts| Ok(counts.iter().sum()))
    }

    /// All rows, in the order of the partitions.
    #[track_caller]
    fn collect(&self) -> Result<Vec<Self::Item>> {
        self.collect_async().wait()
    }

    /// All rows, in the background.
    #[track_caller]
    fn collect_async(&self) -> JobHandle<Vec<Self::Item>> {
        Call::new("collect").run(self, Collect, |parts| Ok(parts.concat()))
    }
}

impl<R: Rdd> Actions for R {}

struct Count;
crate::ship!(impl[] Count {});

impl<T> JobFunction<T> for Count {
    type Output = u64;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> u64 {
        rows.count() as u64
    }
}

struct Collect;
crate::ship!(impl[] Collect {});

impl<T: crate::Data> JobFunction<T> for Collect {
    type Output = Vec<T>;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> Vec<T> {
        rows.collect()
    }

    fn size_of(output: &Vec<T>) -> u64 {
        size_of_val(output.as_slice()) as u64
    }
}
