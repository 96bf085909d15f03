//! From what a user writes to the files that are meant: [`expand`].
//!
//! Lists, patterns and folders become files with their sizes. A folder stands for the files directly in it, or at any
//! depth when asked for; hidden names are left out, as Hadoop does, unless they are written out. What a folder holds
//! besides files is refused and not passed over in silence. Http addresses stand for themselves.
//!
//! A file that one pattern reaches in several ways is read once. A list is read as it was written, repetitions included.

use std::path::PathBuf;

use super::cloud;
use super::codec::Codec;
use super::error::IoError;
use super::list::{self, Kind};
use super::location::{self, Location};
use super::pattern::{self, Segment};

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Where it is.
    pub location: Location,
    /// Its size in bytes.
    pub size: u64,
    /// Whether a reader may begin in the middle of the file; some web servers give whole files only.
    pub has_ranges: bool,
}

/// A file on a web server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HttpFile {
    pub size: u64,
    /// Whether the server gives parts of it.
    pub has_ranges: bool,
}

/// How deep a folder is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// The files directly in it; a folder in it is refused, as Hadoop does.
    #[default]
    Flat,
    /// Everything below it.
    Recursive,
}

/// Finds the files that `paths` stands for, in the order of the list, each item's files in the order of their paths.
///
/// A folder without files is no error; a pattern without a match and a path without a file are.
pub fn expand(paths: &str, depth: Depth) -> Result<Vec<InputFile>, IoError> {
    let mut files = Vec::new();
    for item in pattern::split_list(paths) {
        files.extend(expand_item(item, depth)?);
    }
    Ok(files)
}

/// Finds the files that `paths` stands for and that will be read decompressed; one that this program cannot decompress
/// is an error.
pub fn expand_decoded(paths: &str, depth: Depth) -> Result<Vec<InputFile>, IoError> {
    let files = expand(paths, depth)?;
    for file in &files {
        if let Some(codec) = Codec::of(&file.location) {
            codec.require(&file.location)?;
        }
    }
    Ok(files)
}

fn expand_item(item: &str, depth: Depth) -> Result<Vec<InputFile>, IoError> {
    if item.starts_with("http://") || item.starts_with("https://") {
        return Ok(vec![http_file(&Location::parse(&item.replace("\\,", ","))?)?]);
    }
    let alternatives = pattern::alternatives(item)?;
    let mut found = Vec::new();
    let mut is_pattern = alternatives.len() > 1;
    for path in &alternatives {
        let (base, rest) = location::split_base(path)?;
        let segments: Vec<Segment> = location::segments(rest)
            .map(|segment| Segment::parse(segment, item))
            .collect::<Result<_, IoError>>()?;
        is_pattern |= segments.iter().any(|segment| matches!(segment, Segment::Glob(_)));
        found.extend(matches(base, &segments)?);
    }
    if found.is_empty() {
        let item = item.to_owned();
        return Err(if is_pattern {
            IoError::NoMatch { pattern: item }
        } else {
            IoError::Missing { location: item }
        });
    }
    let mut files = Vec::new();
    for (place, kind) in found {
        collect_files(place, kind, depth, &mut Vec::new(), &mut files)?;
    }
    files.sort_unstable_by(|a, b| a.location.cmp(&b.location));
    // Alternatives may name a file twice.
    files.dedup_by(|a, b| a.location == b.location);
    Ok(files)
}

/// Walks down the segments and keeps what exists at the end.
fn matches(base: Location, segments: &[Segment]) -> Result<Vec<(Location, Kind)>, IoError> {
    let mut reached: Vec<(Location, Option<Kind>)> = vec![(base, None)];
    for segment in segments {
        let mut next = Vec::new();
        for (place, _) in reached {
            match segment {
                // Resolved here, so that a file has one name by whichever way it is reached.
                Segment::Literal(name) if name == ".." => {
                    next.extend(list::parent(&place)?.map(|parent| (parent, None)));
                }
                // Not looked at before the end of the path: a request to a remote store is worth saving.
                Segment::Literal(name) => next.push((place.join(name), None)),
                Segment::Glob(_) => {
                    let entries = list::list(&place)?.into_iter();
                    let fitting = entries.filter(|entry| segment.matches(entry.location.name()));
                    next.extend(fitting.map(|entry| (entry.location, Some(entry.kind))));
                }
            }
        }
        reached = next;
    }
    let mut found = Vec::new();
    for (place, kind) in reached {
        let kind = match kind {
            Some(kind) => Some(kind),
            None => list::look_up(&place)?,
        };
        found.extend(kind.map(|kind| (place, kind)));
    }
    Ok(found)
}

/// Adds the file, or the files of the folder. `above` has the folders on this machine that lead here.
fn collect_files(
    place: Location,
    kind: Kind,
    depth: Depth,
    above: &mut Vec<PathBuf>,
    files: &mut Vec<InputFile>,
) -> Result<(), IoError> {
    match kind {
        Kind::File { size } => {
            files.push(InputFile { location: place, size, has_ranges: true });
            return Ok(());
        }
        Kind::Special => return Err(IoError::NotAFile { location: place.to_string() }),
        Kind::Folder => (),
    }
    let level = above.len();
    if depth == Depth::Recursive {
        let real = list::real_path(&place)?;
        if real.as_ref().is_some_and(|real| above.contains(real)) {
            let reason = "it is a link to a folder that holds it".to_owned();
            return Err(IoError::BadLocation { location: place.to_string(), reason });
        }
        above.extend(real);
    }
    for entry in list::list(&place)? {
        if pattern::is_hidden(entry.location.name()) {
            continue;
        }
        if entry.kind == Kind::Folder && depth == Depth::Flat {
            let (folder, nested) = (place.to_string(), entry.location.name().to_owned());
            return Err(IoError::NestedFolder { folder, nested });
        }
        collect_files(entry.location, entry.kind, depth, above, files)?;
    }
    above.truncate(level);
    Ok(())
}

fn http_file(location: &Location) -> Result<InputFile, IoError> {
    let HttpFile { size, has_ranges } =
        cloud::http_file(location)?.ok_or_else(|| IoError::missing(location))?;
    Ok(InputFile { location: location.clone(), size, has_ranges })
}

#[cfg(test)]
mod tests;
