//! The hash of content: [`hash_reader`], [`hash_file`].

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use firesteel_scheduler::deploy::ContentHash;
use sha2::{Digest, Sha256};

/// How much is read and sent at a time.
pub(super) const CHUNK_BYTES: usize = 1 << 20;

/// Takes content piece by piece.
pub(super) struct Hasher {
    hash: Sha256,
    len: u64,
}

impl Hasher {
    pub(super) fn new() -> Self {
        Self { hash: Sha256::new(), len: 0 }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.len += bytes.len() as u64;
    }

    /// The hash and the length of all that was taken.
    pub(super) fn finish(self) -> (ContentHash, u64) {
        (ContentHash(self.hash.finalize().into()), self.len)
    }
}

/// The hash and the length of everything that `reader` gives.
///
/// ```
/// let (hash, len) = firesteel_deploy::artifact::hash_reader(&mut &b"abc"[..])?;
/// assert_eq!((len, &hash.to_string()[..8]), (3, "ba7816bf"));
/// # std::io::Result::Ok(())
/// ```
pub fn hash_reader(reader: &mut impl Read) -> io::Result<(ContentHash, u64)> {
    let (mut hasher, mut chunk) = (Hasher::new(), vec![0; CHUNK_BYTES]);
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(len) => hasher.update(&chunk[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The hash and the length of a file.
pub fn hash_file(path: impl AsRef<Path>) -> io::Result<(ContentHash, u64)> {
    hash_reader(&mut File::open(path)?)
}
