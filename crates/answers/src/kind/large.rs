//! Rows of an eighth of a megabyte that are counted while they live, to see how many are held at once.

use std::sync::{
    LazyLock,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use firesteel_types::Rng;
use serde::{Deserialize, Serialize};

use super::{Coded, Kind};
use crate::shape::mixed;

/// How large a value is.
const BYTES: usize = 128 << 10;

/// What values are cut out of.
static NOISE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut rng = Rng::new(1);
    (0..2 * BYTES / 8).flat_map(|_| rng.next_u64().to_le_bytes()).collect()
});

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The most values that lived at once in this process since [`reset_peak`].
pub(crate) fn peak_live_rows() -> usize {
    PEAK.load(Ordering::Relaxed)
}

/// Begins to count anew; gives how many live now, such as those in the outputs of earlier jobs.
pub(crate) fn reset_peak() -> usize {
    let live = LIVE.load(Ordering::Relaxed);
    PEAK.store(live, Ordering::Relaxed);
    live
}

/// A number and a large value.
pub(crate) struct Large;

/// A number with much behind it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(u64, Bytes)")]
pub(crate) struct Value {
    code: u64,
    body: Bytes,
}

impl Value {
    fn counted(code: u64, body: Bytes) -> Self {
        let live = LIVE.fetch_add(1, Ordering::Relaxed) + 1;
        PEAK.fetch_max(live, Ordering::Relaxed);
        Self { code, body }
    }
}

impl From<(u64, Bytes)> for Value {
    fn from((code, body): (u64, Bytes)) -> Self {
        Self::counted(code, body)
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        Self::counted(self.code, self.body.clone())
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Kind for Large {
    type Key = u64;
    type Value = Value;
}

impl Coded for Value {
    const BITS: u64 = u64::MAX;

    fn of(code: u64) -> Self {
        // Another part of the noise for each code, so that neither a row nor its neighbours can be compressed.
        let begin = (mixed(code) % BYTES as u64) as usize;
        Self::counted(code, Bytes::copy_from_slice(&NOISE[begin..begin + BYTES]))
    }
    fn code(&self) -> u64 {
        self.code
    }
}
