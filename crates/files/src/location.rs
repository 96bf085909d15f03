//! Where a file or folder lies, as a user writes it: [`Location`].
//!
//! A plain path (absolute, or relative to the folder the driver was started in), `file:///path`, `s3://bucket/key`,
//! `gs://…`, `az://…`, `abfs://…` or `http://…`. Text behind a scheme is taken as it stands, with no percent decoding,
//! as Hadoop does; only http addresses are decoded. This file knows names only: it opens and lists nothing.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::cloud;
use super::error::IoError;

/// What may stand in front of `://`, for messages.
pub(crate) const KNOWN_SCHEMES: &str = "file, s3, s3a, gs, az, abfs, abfss, http, https";

/// The place of a file or folder, on this machine or on a remote store.
///
/// Displayed as a user would write it, but without the user name, password or query of an http address, which often
/// are secrets.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Location {
    /// An absolute path on this machine, without a slash at its end.
    Local(String),
    /// A key on a store.
    Remote {
        /// Names the store: `s3://bucket`, `http://host?query`.
        store: String,
        /// The name within the store, without slashes at its ends; empty for the store itself.
        key: String,
    },
}

impl Location {
    /// Reads one location, with no list and no pattern in it.
    pub fn parse(text: &str) -> Result<Self, IoError> {
        let (base, rest) = split_base(text)?;
        Ok(segments(rest).fold(base, |folder, name| folder.join(name)))
    }

    /// The file or folder of that name inside this folder.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        let join = |folder: &str| match folder {
            "" => name.to_owned(),
            _ => format!("{}/{name}", folder.trim_end_matches('/')),
        };
        match self {
            Self::Local(path) => Self::Local(join(path)),
            Self::Remote { store, key } => Self::Remote { store: store.clone(), key: join(key) },
        }
    }

    /// The last name of the path; empty for the root.
    pub fn name(&self) -> &str {
        let (Self::Local(path) | Self::Remote { key: path, .. }) = self;
        path.rsplit('/').next().unwrap_or(path)
    }

    /// Whether the location is an http address, which can be read and neither listed nor written.
    pub fn is_http(&self) -> bool {
        match self {
            Self::Local(_) => false,
            Self::Remote { store, .. } => store.starts_with("http://") || store.starts_with("https://"),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => out.write_str(path),
            Self::Remote { store, key } if self.is_http() => {
                let host = store.split('?').next().unwrap_or(store);
                match (host.split_once("://"), host.rsplit_once('@')) {
                    (Some((scheme, _)), Some((_, host))) => write!(out, "{scheme}://{host}/{key}"),
                    _ => write!(out, "{host}/{key}"),
                }
            }
            Self::Remote { store, key } => write!(out, "{store}/{key}"),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// Splits what a user wrote into the place where it begins and the path from there, which may be a pattern.
pub(crate) fn split_base(text: &str) -> Result<(Location, &str), IoError> {
    if text.is_empty() {
        return Err(bad(text, "it is empty"));
    }
    if text.contains('\0') {
        return Err(bad(text, "it contains a zero byte"));
    }
    let Some((scheme, rest)) = split_scheme(text) else { return split_local(text, text) };
    match scheme {
        "file" => {
            let path = rest.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(rest);
            if path.starts_with('/') {
                return split_local(text, path);
            }
            Err(bad(text, "an absolute path must follow `file://`"))
        }
        "s3" | "s3a" | "gs" | "az" | "abfs" | "abfss" => split_bucket(text, scheme, rest),
        "http" | "https" => Ok((cloud::http_location(text)?, "")),
        _ => Err(IoError::UnknownScheme { location: text.to_owned(), scheme: scheme.to_owned() }),
    }
}

/// The names between the slashes; doubled slashes and dots for "here" say nothing.
pub(crate) fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty() && *name != ".")
}

fn split_scheme(text: &str) -> Option<(&str, &str)> {
    // Hadoop prints local files with one slash.
    if let Some(path) = text.strip_prefix("file:").filter(|path| !path.starts_with("//")) {
        return Some(("file", path));
    }
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme.then_some((scheme, rest))
}

fn split_local<'a>(text: &str, path: &'a str) -> Result<(Location, &'a str), IoError> {
    if path.starts_with('/') {
        return Ok((Location::Local("/".to_owned()), path));
    }
    // A path names the same file for every process of a job only if it is made absolute where it was written.
    let folder = std::env::current_dir()
        .map_err(|error| bad(text, &format!("the current directory is unknown: {error}")))?;
    match folder.into_os_string().into_string() {
        Ok(folder) => Ok((Location::Local(folder), path)),
        Err(_) => Err(bad(text, "the name of the current directory is not UTF-8")),
    }
}

fn split_bucket<'a>(text: &str, scheme: &str, rest: &'a str) -> Result<(Location, &'a str), IoError> {
    let (bucket, path) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err(bad(text, "the name of a bucket must follow `://`"));
    }
    cloud::require(text)?;
    Ok((Location::Remote { store: format!("{scheme}://{bucket}"), key: String::new() }, path))
}

fn bad(text: &str, reason: &str) -> IoError {
    IoError::BadLocation { location: text.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> String {
        match Location::parse(text).unwrap() {
            Location::Local(path) => path,
            Location::Remote { store, key } => format!("{store} | {key}"),
        }
    }

    #[test]
    fn locations_are_read_as_users_write_them() {
        let cases = [
            ("/data/a.txt", "/data/a.txt"),
            ("/data//b/./a.txt/", "/data/b/a.txt"),
            ("/", "/"),
            ("file:///data/a%20b", "/data/a%20b"),
            ("file://localhost/data", "/data"),
            ("file:/data", "/data"),
            ("s3://bucket/a/b c", "s3://bucket | a/b c"),
            ("s3a://bucket", "s3a://bucket | "),
            ("gs://bucket/a/", "gs://bucket | a"),
            ("az://box/a", "az://box | a"),
            ("abfss://box@acc.dfs.core.windows.net/a", "abfss://box@acc.dfs.core.windows.net | a"),
            ("http://host:81/a%20b/c", "http://host:81 | a b/c"),
            ("https://host/a?sig=1", "https://host?sig=1 | a"),
        ];

        for (text, expected) in cases {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn a_relative_path_begins_in_the_current_directory() {
        let here = std::env::current_dir().unwrap().into_os_string().into_string().unwrap();

        assert_eq!(parse("data/a.txt"), format!("{here}/data/a.txt"));
        assert_eq!(parse("."), here);
    }

    #[test]
    fn texts_that_name_nothing_are_refused() {
        let cases = [
            ("", "cannot use `` as a path: it is empty"),
            (
                "hdfs://name/a",
                "unknown scheme `hdfs` in hdfs://name/a; known are a plain path, \
                 file, s3, s3a, gs, az, abfs, abfss, http, https",
            ),
            ("file://host/a", "cannot use `file://host/a` as a path: an absolute path must follow `file://`"),
            ("s3:///a", "cannot use `s3:///a` as a path: the name of a bucket must follow `://`"),
            ("http://", "cannot use `http://` as a path: empty host"),
        ];

        for (text, message) in cases {
            assert_eq!(Location::parse(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn secrets_in_an_address_are_not_displayed() {
        let location = Location::parse("https://user:word@host/a/b?sig=secret").unwrap();

        assert_eq!(location.to_string(), "https://host/a/b");
        assert_eq!(format!("{location:?}"), "https://host/a/b");
    }

    #[test]
    fn a_location_displays_as_it_was_written() {
        for text in ["/data/a.txt", "s3://bucket/a/b", "http://host:81/a"] {
            assert_eq!(Location::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn names_are_joined_and_taken_apart() {
        let root = Location::Local("/".to_owned());
        let bucket = Location::parse("s3://bucket").unwrap();

        assert_eq!(root.join("a").join("b.txt").to_string(), "/a/b.txt");
        assert_eq!(bucket.join("a").to_string(), "s3://bucket/a");
        assert_eq!(bucket.join("a").join("b").name(), "b");
        assert_eq!((root.name(), bucket.name()), ("", ""));
    }
}
