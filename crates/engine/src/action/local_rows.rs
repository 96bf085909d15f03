//! Rows that come to the driver one partition at a time.

use std::{fmt, vec};

use firesteel_scheduler::RowsSeen;

use super::collect::Collect;
use crate::{
    Result,
    job::{Call, Finish, listed, submission},
    rdd::Rdd,
};

/// The rows of an RDD in the order of its partitions. Made by
/// [`to_local_iterator`](crate::Actions::to_local_iterator).
///
/// Runs a job for a partition when its first row is asked for, so that the driver holds the rows of one partition only.
/// After an error there is nothing more.
#[must_use = "nothing runs until a row is asked for"]
pub struct LocalRows<R: Rdd> {
    call: Call,
    rdd: R,
    next: u32,
    rows: vec::IntoIter<R::Item>,
    rows_seen: Option<RowsSeen>,
}

impl<R: Rdd> LocalRows<R> {
    pub(super) fn new(call: Call, rdd: &R) -> Self {
        Self { call, rdd: rdd.clone(), next: 0, rows: Vec::new().into_iter(), rows_seen: None }
    }

    fn fetch(&mut self) -> Result<()> {
        let (mut job, collected) = submission(&self.rdd, listed([self.next]), Collect);
        self.next += 1;
        job.rows_seen = self.rows_seen;
        let finish = move || Ok(collected.take().pop().unwrap_or_default());
        let handle = self.call.start_with(&self.rdd, job, Finish::new(finish));
        self.rows_seen = self.rows_seen.or(handle.rows_seen());
        self.rows = handle.wait()?.into_iter();
        Ok(())
    }
}

impl<R: Rdd> fmt::Debug for LocalRows<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = out.debug_struct("LocalRows");
        fields.field("rdd", self.rdd.handle()).field("next", &self.next).finish_non_exhaustive()
    }
}

impl<R: Rdd> Iterator for LocalRows<R> {
    type Item = Result<R::Item>;

    fn next(&mut self) -> Option<Result<R::Item>> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(Ok(row));
            }
            if self.next >= self.rdd.num_partitions() {
                return None;
            }
            if let Err(error) = self.fetch() {
                self.next = u32::MAX;
                return Some(Err(error));
            }
        }
    }
}
