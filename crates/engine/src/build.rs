//! Which build of an application this process runs: [`Build`].
//!
//! Entry points travel as offsets into the executable, so driver and executors must run the very same one.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
    sync::OnceLock,
};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// What tells one executable from another: the id that the linker gave it, or a hash of the whole file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Build(Vec<u8>);

impl Build {
    /// The build of this process.
    pub(crate) fn of_this_process() -> io::Result<Self> {
        static OWN: OnceLock<Build> = OnceLock::new();
        if let Some(own) = OWN.get() {
            return Ok(own.clone());
        }
        // The file that was started, even if another one has its name by now.
        let found = Self::of_file(&File::open("/proc/self/exe")?)?;
        Ok(OWN.get_or_init(|| found).clone())
    }

    fn of_file(file: &File) -> io::Result<Self> {
        if let Some(id) = linker_id(file) {
            return Ok(Self(id));
        }
        let (mut hash, mut buffer, mut file) = (Xxh3::new(), vec![0; 1 << 20], file);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Self(hash.digest128().to_be_bytes().to_vec())),
                read => hash.update(&buffer[..read]),
            }
        }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// The build id in the notes of a 64-bit little-endian ELF file, which linkers make from its content.
fn linker_id(file: &File) -> Option<Vec<u8>> {
    const NOTE: u32 = 4;
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0).ok()?;
    if header[..6] != *b"\x7fELF\x02\x01" {
        return None;
    }
    let (table, size, count) = (number(&header, 32, 8)?, number(&header, 54, 2)?, number(&header, 56, 2)?);
    (0..count).find_map(|index| {
        let mut entry = [0; 56];
        file.read_exact_at(&mut entry, table.checked_add(index * size)?).ok()?;
        if number(&entry, 0, 4)? != u64::from(NOTE) {
            return None;
        }
        let (offset, len) = (number(&entry, 8, 8)?, number(&entry, 32, 8)?);
        let mut notes = vec![0; usize::try_from(len.min(1 << 16)).ok()?];
        file.read_exact_at(&mut notes, offset).ok()?;
        id_in_notes(&notes)
    })
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
    use std::io::Write;

    use super::*;

    #[test]
    fn an_executable_has_one_build_and_another_file_another() {
        let own = Build::of_this_process().unwrap();
        let mut other = tempfile::tempfile().unwrap();
        other.write_all(b"not an executable").unwrap();

        assert_eq!(Build::of_this_process().unwrap(), own);
        assert_ne!(Build::of_file(&other).unwrap(), own);
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
