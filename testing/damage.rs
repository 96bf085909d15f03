//! Bytes that were right once: [`damaged`].
//!
//! Shared by the tests of all decoders that read from the network or from disk. Bytes that are random throughout are
//! refused at the first check; these get far into a decoder.

use proptest::{collection::vec, prelude::*, sample::Index};

/// One thing that happens to bytes.
#[derive(Clone, Debug)]
enum Damage {
    Flip {
        at: Index,
        bit: u8,
    },
    Set {
        at: Index,
        to: u8,
    },
    Cut {
        at: Index,
    },
    Remove {
        at: Index,
        len: usize,
    },
    Insert {
        at: Index,
        bytes: Vec<u8>,
    },
    Repeat {
        at: Index,
        len: usize,
    },
    /// A length that promises more than there is, as a number of varying length or of fixed ones.
    Promise {
        at: Index,
        number: Vec<u8>,
    },
}

impl Damage {
    fn happen(self, bytes: &mut Vec<u8>) {
        let place = |at: &Index, bytes: &Vec<u8>| at.index(bytes.len() + 1);
        let end = |start: usize, len: usize, bytes: &Vec<u8>| (start + len).min(bytes.len());
        match self {
            Self::Flip { at, bit } => {
                let at = place(&at, bytes);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << bit);
            }
            Self::Set { at, to } => {
                let at = place(&at, bytes);
                bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = to);
            }
            Self::Cut { at } => bytes.truncate(place(&at, bytes)),
            Self::Remove { at, len } => {
                let start = place(&at, bytes);
                bytes.drain(start..end(start, len, bytes));
            }
            Self::Insert { at, bytes: more } => {
                let start = place(&at, bytes);
                bytes.splice(start..start, more);
            }
            Self::Repeat { at, len } => {
                let start = place(&at, bytes);
                let again = bytes[start..end(start, len, bytes)].to_vec();
                bytes.splice(start..start, again);
            }
            Self::Promise { at, number } => {
                let start = place(&at, bytes);
                bytes.splice(start..end(start, 1, bytes), number);
            }
        }
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    let numbers = [
        vec![0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
        vec![0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
        vec![0x80, 0x80, 0x80, 0x80, 0x04],
        vec![0xFF; 4],
        vec![0xFF; 8],
    ];
    let number = proptest::sample::select(numbers.to_vec());
    prop_oneof![
        (at(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip { at, bit }),
        (at(), any::<u8>()).prop_map(|(at, to)| Damage::Set { at, to }),
        at().prop_map(|at| Damage::Cut { at }),
        (at(), 1..9_usize).prop_map(|(at, len)| Damage::Remove { at, len }),
        (at(), vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Damage::Insert { at, bytes }),
        (at(), 1..33_usize).prop_map(|(at, len)| Damage::Repeat { at, len }),
        (at(), number).prop_map(|(at, number)| Damage::Promise { at, number }),
    ]
}

/// One of `valid` after up to four things have happened to it, or bytes that were never right.
pub(crate) fn damaged(valid: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let broken = (proptest::sample::select(valid), vec(damage(), 1..5)).prop_map(|(mut bytes, all)| {
        for damage in all {
            damage.happen(&mut bytes);
        }
        bytes
    });
    prop_oneof![9 => broken, 1 => vec(any::<u8>(), 0..200)]
}

/// How many cases a test runs: many, since each is quick, or what `PROPTEST_CASES` says.
pub(crate) fn many() -> ProptestConfig {
    let usual = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { usual.cases } else { 2000 };
    ProptestConfig { cases, failure_persistence: None, ..usual }
}
