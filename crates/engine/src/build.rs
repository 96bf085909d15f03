//! Which build of an application this process runs: [`Build`].
//!
//! Entry points travel as places in the image that holds the engine, the executable or a shared library, so driver and
//! executors must have loaded the very same one.

use std::{fmt, io, sync::OnceLock};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::ship::Image;

/// What tells one image from another: the id that the linker gave it, or a hash of its code and constants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Build(Vec<u8>);

impl Build {
    /// The build of this process.
    pub(crate) fn of_this_process() -> io::Result<Self> {
        static OWN: OnceLock<Build> = OnceLock::new();
        if let Some(own) = OWN.get() {
            return Ok(own.clone());
        }
        // As it was loaded: another file may have its name by now.
        let image = Image::own().map_err(io::Error::other)?;
        let found = Self::of_memory(image.start(), &|address, len| image.bytes(address, len));
        let found = found.ok_or_else(|| io::Error::other("the engine's image is no 64-bit ELF file"))?;
        Ok(OWN.get_or_init(|| found).clone())
    }

    /// The build of the image that begins at `start`.
    fn of_memory(start: usize, read: Read<'_, '_>) -> Option<Self> {
        let segments = Segment::all(start, read)?;
        if let Some(id) = segments.iter().find_map(|segment| linker_id(segment, read)) {
            return Some(Self(id));
        }
        let mut hash = Xxh3::new();
        // Writable segments hold addresses, which differ in every process.
        for segment in segments.iter().filter(|segment| segment.kind == Segment::LOAD && !segment.is_writable)
        {
            hash.update(read(segment.address, segment.len)?);
        }
        Some(Self(hash.digest128().to_be_bytes().to_vec()))
    }
}

impl fmt::Display for Build {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// The bytes of the image at an address, if they are part of it.
type Read<'r, 'a> = &'r dyn Fn(usize, usize) -> Option<&'a [u8]>;

/// A part of an ELF image, as its program headers describe it.
struct Segment {
    kind: u64,
    is_writable: bool,
    address: usize,
    len: usize,
}

impl Segment {
    const LOAD: u64 = 1;
    const NOTE: u64 = 4;

    /// The segments of the 64-bit little-endian ELF image whose first byte is at `start`.
    fn all(start: usize, read: Read<'_, '_>) -> Option<Vec<Self>> {
        let header = read(start, 64)?;
        if header[..6] != *b"\x7fELF\x02\x01" {
            return None;
        }
        let (table, size, count) = (number(header, 32, 8)?, number(header, 54, 2)?, number(header, 56, 2)?);
        let table = start.checked_add(usize::try_from(table).ok()?)?;
        let entries = (0..count).map(|index| read(table.checked_add((index * size) as usize)?, 56));
        let entries = entries.collect::<Option<Vec<&[u8]>>>()?;
        // Addresses are relative to where the file's first byte is meant to be.
        let first = entries.iter().find(|entry| number(entry, 0, 4) == Some(Self::LOAD))?;
        let meant = number(first, 16, 8)?.wrapping_sub(number(first, 8, 8)?);
        let segment = |entry: &&[u8]| {
            let address = (start as u64).wrapping_add(number(entry, 16, 8)?.wrapping_sub(meant));
            Some(Self {
                kind: number(entry, 0, 4)?,
                is_writable: number(entry, 4, 4)? & 2 != 0,
                address: usize::try_from(address).ok()?,
                len: usize::try_from(number(entry, 32, 8)?).ok()?,
            })
        };
        entries.iter().map(segment).collect()
    }
}

/// The build id in a segment of notes, which linkers make from the content of the image.
fn linker_id(segment: &Segment, read: Read<'_, '_>) -> Option<Vec<u8>> {
    (segment.kind == Segment::NOTE).then(|| id_in_notes(read(segment.address, segment.len)?))?
}

/// Each note is the lengths of its name and content, its type, then both, padded to four bytes.
fn id_in_notes(mut notes: &[u8]) -> Option<Vec<u8>> {
    const BUILD_ID: u64 = 3;
    while notes.len() >= 12 {
        let (name, content) = (number(notes, 0, 4)? as usize, number(notes, 4, 4)? as usize);
        let content_at = 12 + name.next_multiple_of(4);
        let found = notes.get(content_at..content_at.checked_add(content)?)?;
        if number(notes, 8, 4)? == BUILD_ID && notes.get(12..12 + name)? == b"GNU\0" && content >= 8 {
            return Some(found.to_vec());
        }
        notes = notes.get(content_at + content.next_multiple_of(4)..)?;
    }
    None
}

fn number(bytes: &[u8], at: usize, len: usize) -> Option<u64> {
    let mut number = [0; 8];
    number[..len].copy_from_slice(bytes.get(at..at + len)?);
    Some(u64::from_le_bytes(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest image: a header, a segment of code, a writable one, and notes if there are any.
    fn image(code: &[u8], data: &[u8], notes: &[u8]) -> Vec<u8> {
        const END: usize = 64 + 3 * 56;
        let mut image = vec![0; END];
        image[..6].copy_from_slice(b"\x7fELF\x02\x01");
        image[32] = 64;
        (image[54], image[56]) = (56, 3);
        let segments = [(1, 4, 0, END + 8), (1, 6, END + 8, 8), (4, 4, END + 16, notes.len())];
        for (entry, (kind, flags, offset, len)) in image[64..].chunks_exact_mut(56).zip(segments) {
            (entry[0], entry[4]) = (kind, flags);
            entry[8..16].copy_from_slice(&(offset as u64).to_le_bytes());
            entry[16..24].copy_from_slice(&(0x40_0000 + offset as u64).to_le_bytes());
            entry[32..40].copy_from_slice(&(len as u64).to_le_bytes());
        }
        [&image[..], code, data, notes].concat()
    }

    /// The build of an image that was loaded at `start`.
    fn build_at(start: usize, image: &[u8]) -> Option<Build> {
        Build::of_memory(start, &|address, len| image.get(address.checked_sub(start)?..)?.get(..len))
    }

    #[test]
    fn a_build_is_told_by_its_image_wherever_that_is_loaded() {
        let plain = image(b"code one", b"address1", b"");
        let id = [&[4, 0, 0, 0, 8, 0, 0, 0, 3, 0, 0, 0][..], b"GNU\0", b"build id"].concat();

        let build = build_at(0x1000, &plain).unwrap();
        assert_eq!(build_at(0x7000, &image(b"code one", b"address2", b"")), Some(build.clone()));
        assert_ne!(build_at(0x1000, &image(b"code two", b"address1", b"")), Some(build));
        assert_eq!(
            build_at(0x1000, &image(b"code one", b"address1", &id)),
            Some(Build(b"build id".to_vec()))
        );
        for end in 0..plain.len() {
            build_at(0x1000, &plain[..end]);
        }
    }

    #[test]
    fn this_process_has_the_build_of_its_executable() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        // Its notes lie in the first segment, which is loaded as it stands in the file.
        let in_file = build_at(0, &file).unwrap();

        assert_eq!(Build::of_this_process().unwrap(), in_file);
        assert_ne!(build_at(0, &image(b"code one", b"address1", b"")), Some(in_file));
    }

    #[test]
    fn the_linkers_id_is_found_behind_other_notes() {
        let note = |name: &[u8], kind: u8, content: &[u8]| {
            let mut note = vec![name.len() as u8, 0, 0, 0, content.len() as u8, 0, 0, 0, kind, 0, 0, 0];
            note.extend(name);
            note.resize(note.len().next_multiple_of(4), 0);
            note.extend(content);
            note.resize(note.len().next_multiple_of(4), 0);
            note
        };
        let id = b"0123456789abcdef";
        let notes = [note(b"GNU\0", 1, b"abi"), note(b"Go\0", 3, id), note(b"GNU\0", 3, id)].concat();

        assert_eq!(id_in_notes(&notes).as_deref(), Some(&id[..]));
        assert_eq!(id_in_notes(&notes[..40]), None);
        for end in 0..notes.len() {
            id_in_notes(&notes[..end]);
        }
    }
}
