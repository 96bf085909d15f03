//! The rows of the bench, 32 MB of each kind.

use firesteel_types::Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bench_size::sized;

/// A kind of row, and what one weighs in memory without the headers of its parts.
pub(crate) trait Kind: Serialize + DeserializeOwned + Send + Sync + 'static {
    const NAME: &'static str;

    fn make(rng: &mut Rng) -> Self;

    fn bytes(&self) -> u64;

    /// Rows of as many bytes as a line of the table measures.
    fn rows() -> (Vec<Self>, u64) {
        let mut rng = Rng::new(11);
        let (mut bytes, enough) = (0, sized(32_000_000, 320_000));
        let mut rows = Vec::new();
        while bytes < enough {
            let row = Self::make(&mut rng);
            bytes += row.bytes();
            rows.push(row);
        }
        (rows, bytes)
    }
}

/// Keys from a million, small counts.
impl Kind for (u64, u64) {
    const NAME: &'static str = "(u64, u64)";

    fn make(rng: &mut Rng) -> Self {
        (rng.below(1_000_000) as u64, rng.below(1_000) as u64)
    }

    fn bytes(&self) -> u64 {
        16
    }
}

/// Words of 4 to 13 letters out of some thousands, small counts.
impl Kind for (String, u64) {
    const NAME: &'static str = "(String, u64)";

    fn make(rng: &mut Rng) -> Self {
        let mut letters = Rng::new(rng.below(5_000) as u64);
        let length = 4 + letters.below(10);
        let word = (0..length).map(|_| char::from(b'a' + letters.below(26) as u8)).collect();
        (word, rng.below(1_000) as u64)
    }

    fn bytes(&self) -> u64 {
        self.0.len() as u64 + 8
    }
}

/// A hundred bytes: a random key of ten, and text with a number in it.
impl Kind for Vec<u8> {
    const NAME: &'static str = "100-byte records";

    fn make(rng: &mut Rng) -> Self {
        let mut record: Self = (0..10).map(|_| rng.next_u64() as u8).collect();
        record.extend(format!("{:032x}", u128::from(rng.next_u64())).into_bytes());
        record.resize(100, b'x');
        record
    }

    fn bytes(&self) -> u64 {
        self.len() as u64
    }
}
