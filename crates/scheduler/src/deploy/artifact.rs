//! The files that a process needs before it can start: its executable and what the user sends along.
//!
//! [`Artifact`] names content by its hash, so that a worker fetches the same content once, and knows whether it got
//! what was meant. Nothing here reads, hashes or sends a file.

use std::{fmt, str::FromStr};

use firesteel_types::is_plain_name;
use serde::{Deserialize, Serialize};

/// One file that a process needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// The name it has in the directory of the process.
    pub name: String,
    /// The hash of its content.
    pub sha256: ContentHash,
    /// Its length in bytes.
    pub len: u64,
    /// What it is for.
    pub kind: ArtifactKind,
    /// Where it can be had.
    pub from: ArtifactSource,
}

/// What an artifact is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArtifactKind {
    /// It is the program, which takes the place of [`Command::EXECUTABLE`](super::Command::EXECUTABLE).
    Executable,
    /// It is a file that the program reads.
    File,
}

/// Who has the content of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArtifactSource {
    /// The application's driver, at its url.
    Driver,
    /// The master: a client has uploaded it for a driver that the cluster runs.
    Master,
    /// A file of the worker's own machine. Believed only by the workers of a local cluster: to others it would be a
    /// way to read any file they can.
    Path(String),
}

impl Artifact {
    /// Whether the name leads to nothing outside of the directory it is put into.
    pub fn has_plain_name(&self) -> bool {
        is_plain_name(&self.name)
    }
}

/// The SHA-256 of some content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContentHash(pub [u8; 32]);

/// A text that is not 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a SHA-256: 64 hexadecimal digits are expected")]
pub struct NotAHash {
    /// What was written.
    pub text: String,
}

impl fmt::Display for ContentHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl FromStr for ContentHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let not_a_hash = || NotAHash { text: text.to_owned() };
        let digits: Vec<u32> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
        if text.len() != 64 || digits.len() != 64 {
            return Err(not_a_hash());
        }
        let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect();
        bytes.try_into().map(Self).map_err(|_| not_a_hash())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_as_it_is_written() {
        let hash = ContentHash(std::array::from_fn(|at| at as u8 * 7));

        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert!(hash.to_string().starts_with("00070e15"));
    }

    #[test]
    fn other_texts_are_no_hashes() {
        for bad in ["", "0123", &"g".repeat(64), &"0".repeat(63), &"ä".repeat(32)] {
            assert_eq!(bad.parse::<ContentHash>(), Err(NotAHash { text: bad.to_owned() }));
        }
    }

    #[test]
    fn a_name_must_stay_in_its_directory() {
        let named = |name: &str| Artifact {
            name: name.to_owned(),
            sha256: ContentHash([0; 32]),
            len: 0,
            kind: ArtifactKind::File,
            from: ArtifactSource::Driver,
        };

        assert!(named("words.txt").has_plain_name());
        for bad in ["", "..", "../words.txt", "/etc/passwd"] {
            assert!(!named(bad).has_plain_name(), "{bad}");
        }
    }
}
