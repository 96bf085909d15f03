//! Files on web servers: [`look_up`], and why a server's answer is of no use, [`Refusal`].
//!
//! A file is looked up by asking for its first byte, as its reader will ask for the others. `HEAD` would cost less and is
//! not asked: servers that refuse it, or answer it with a length of 0, are common.

use std::error::Error;
use std::iter;

use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore};

use super::runtime;
use super::stores::RemoteObject;
use crate::codec::Codec;
use crate::error::IoError;
use crate::expand::HttpFile;
use crate::location::Location;

/// Says what is at an address, or `None` when there is nothing.
pub(crate) fn look_up(location: &Location) -> Result<Option<HttpFile>, IoError> {
    let object = RemoteObject::at(location)?;
    let first_byte = GetOptions { range: Some(GetRange::Bounded(0..1)), ..GetOptions::default() };
    match ask(&object, first_byte)? {
        Ok(meta) => return Ok(Some(HttpFile { size: meta.size, has_ranges: true })),
        // Servers without ranges send the whole; and an empty file has no first byte.
        Err(error) if is_whole_only(&error) => (),
        Err(object_store::Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(read_error(location, 0, error)),
    }
    match ask(&object, GetOptions::default())? {
        Ok(meta) => Ok(Some(HttpFile { size: meta.size, has_ranges: false })),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(read_error(location, 0, error)),
    }
}

/// Begins a request and drops it when it is known what will come.
fn ask(object: &RemoteObject, options: GetOptions) -> Result<object_store::Result<ObjectMeta>, IoError> {
    let RemoteObject { store, key, .. } = object.clone();
    runtime::block_on(async move { store.get_opts(&key, options).await.map(|answer| answer.meta) })
}

/// Whether a request for a part failed in a way that one for the whole need not.
pub(super) fn is_whole_only(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotSupported { .. })
        || matches!(Refusal::inside(error), Some(Refusal::Range))
}

/// The error of a read from a web server or another store.
pub(super) fn read_error(location: &Location, offset: u64, error: object_store::Error) -> IoError {
    match Refusal::inside(&error) {
        Some(refusal @ Refusal::Encoded { .. }) => {
            IoError::BadAnswer { location: location.to_string(), reason: refusal.to_string() }
        }
        Some(Refusal::Method | Refusal::Range) | None => IoError::read(location, offset, error),
    }
}

/// Why the answer of a web server is of no use. Travels inside of [`object_store::Error`].
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// There is something at the address, but it is not for reading.
    #[error("the server refuses the method GET (status 405)")]
    Method,

    /// No byte of the file is in the range, or the server takes no ranges.
    #[error("the server refuses the range (status 416)")]
    Range,

    /// The bytes are those of the file in another form.
    #[error(
        "it came with `Content-Encoding: {coding}`, though the file as it is was asked for; \
         turn that off on the server, or save the compressed file under a name that ends so"
    )]
    Encoded { coding: String },
}

impl Refusal {
    /// What is wrong with an answer by its status and its `Content-Encoding`, if anything is. `name` is that of the file.
    pub(super) fn of(status: u16, coding: Option<&str>, name: &str) -> Option<Self> {
        match status {
            405 => Some(Self::Method),
            416 => Some(Self::Range),
            200..300 => {
                let coding = coding.map(str::trim).filter(|coding| !coding.is_empty())?;
                (!is_file_itself(coding, name)).then(|| Self::Encoded { coding: coding.to_owned() })
            }
            _ => None,
        }
    }

    fn inside(error: &object_store::Error) -> Option<&Self> {
        let error: &(dyn Error + 'static) = error;
        iter::successors(Some(error), |&error| error.source()).find_map(<dyn Error>::downcast_ref)
    }
}

/// Whether bytes of this encoding are those of the file: many servers say `gzip` of a file that ends in `.gz`.
fn is_file_itself(coding: &str, name: &str) -> bool {
    let coding = coding.to_ascii_lowercase();
    let codec = match coding.strip_prefix("x-").unwrap_or(&coding) {
        "identity" => return true,
        "gzip" => Codec::Gzip,
        "zstd" => Codec::Zstd,
        "bzip2" => Codec::Bzip2,
        "lz4" => Codec::Lz4,
        _ => return false,
    };
    Codec::of_name(name) == Some(codec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_refused_unless_the_name_says_the_same() {
        let is_refused = |coding, name| Refusal::of(200, Some(coding), name).is_some();

        for (coding, name) in
            [("identity", "a"), ("", "a"), ("gzip", "a.gz"), ("x-GZIP", "a.GZ"), ("zstd", "a.zst")]
        {
            assert!(!is_refused(coding, name), "{coding} {name}");
        }
        for (coding, name) in
            [("gzip", "a"), ("gzip", "a.zst"), ("br", "a.txt"), ("gzip, gzip", "a.gz"), ("deflate", "a.gz")]
        {
            assert!(is_refused(coding, name), "{coding} {name}");
        }
        assert!(Refusal::of(200, None, "a").is_none());
        assert!(Refusal::of(404, Some("gzip"), "a").is_none(), "the page of an error is not the file");
    }
}
