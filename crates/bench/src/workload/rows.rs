//! Digests of what an RDD holds, and jobs that count its rows.

use anyhow::Result;
use firesteel::prelude::*;

use super::{Job, Outcome};
use crate::checksum::{Digest, OrderedDigest};

/// How many partitions most workloads have.
pub(super) const PARTS: u32 = 4;

/// A job that counts the rows of an RDD made for each run; its whole answer is the digest of their numbers.
pub(super) fn counted<R: Rdd>(
    make: impl Fn() -> R + Clone + 'static,
    number: impl Fn(R::Item) -> u64 + Copy + Send + Sync + 'static,
) -> Job {
    let checked = make.clone();
    Job::new(move || Ok(Outcome::rows(make().count()?)), move || Ok(digest(&checked().map(number))?.into()))
}

/// The digest of rows in any order, given by their numbers.
pub(super) fn digest(rows: &impl Rdd<Item = u64>) -> Result<Digest> {
    Ok(rows.aggregate(Digest::default(), Digest::with, Digest::and)?)
}

/// The digest of rows in the order of their partitions, given by their numbers.
pub(super) fn ordered_digest(rows: &impl Rdd<Item = u64>) -> Result<OrderedDigest> {
    let partitions = rows.run_job(|rows| rows.fold(OrderedDigest::default(), OrderedDigest::with))?;
    Ok(partitions.into_iter().fold(OrderedDigest::default(), OrderedDigest::then))
}
