//! Digests of what an RDD holds.

use anyhow::Result;
use firesteel::prelude::*;

use crate::checksum::{Digest, OrderedDigest};

/// How many partitions most workloads have.
pub(super) const PARTS: u32 = 4;

/// The digest of rows in any order, given by their numbers.
pub(super) fn digest(rows: &impl Rdd<Item = u64>) -> Result<Digest> {
    Ok(rows.aggregate(Digest::default(), Digest::with, Digest::and)?)
}

/// The digest of rows in the order of their partitions, given by their numbers.
pub(super) fn ordered_digest(rows: &impl Rdd<Item = u64>) -> Result<OrderedDigest> {
    let partitions = rows.run_job(|rows| rows.fold(OrderedDigest::default(), OrderedDigest::with))?;
    Ok(partitions.into_iter().fold(OrderedDigest::default(), OrderedDigest::then))
}
