//! The loaded file that holds the engine's code: [`Image`].
//!
//! An executable, or the shared library that the engine was linked into. Entry points are places in it, and driver and
//! executors must have loaded the same one. Found by the mappings of the process, without the loader's help.

use std::{fs, ops::Range, slice, sync::OnceLock};

/// Where distances are measured from. A static and not a function: a small function may be copied into every codegen
/// unit and then has several addresses. With a value of its own, so that it lies in the file and not in zeroed memory.
static ANCHOR: u64 = 0x5AFE_0F1E_57EE_1000;

/// The parts of the image that can be read and never change while the process runs: code, constants, and tables that
/// the loader has made read-only after it filled in their addresses.
#[derive(Debug)]
pub(crate) struct Image {
    /// In ascending order, none touching the next.
    constant: Vec<Range<usize>>,
}

impl Image {
    /// The image that this code is a part of, or why it cannot be found.
    pub(crate) fn own() -> Result<&'static Self, String> {
        static OWN: OnceLock<Result<Image, String>> = OnceLock::new();
        OWN.get_or_init(Self::find).as_ref().map_err(Clone::clone)
    }

    fn find() -> Result<Self, String> {
        let maps = fs::read_to_string("/proc/self/maps")
            .map_err(|error| format!("/proc/self/maps cannot be read: {error}"))?;
        Self::in_maps(&maps, anchor())
            .ok_or_else(|| "/proc/self/maps does not list the engine's image".into())
    }

    /// The mappings of the file that is mapped at `anchor`.
    fn in_maps(maps: &str, anchor: usize) -> Option<Self> {
        let mappings: Vec<Mapping<'_>> = maps.lines().filter_map(Mapping::parse).collect();
        let file = mappings.iter().find(|mapping| mapping.range.contains(&anchor))?.file;
        let mut constant: Vec<Range<usize>> = Vec::new();
        for mapping in mappings.into_iter().filter(|mapping| mapping.file == file && mapping.is_constant) {
            match constant.last_mut() {
                Some(before) if before.end == mapping.range.start => before.end = mapping.range.end,
                _ => constant.push(mapping.range),
            }
        }
        Some(Self { constant })
    }

    /// The `len` bytes at `address`, if all of them are part of the image and never change.
    pub(crate) fn bytes(&self, address: usize, len: usize) -> Option<&'static [u8]> {
        let end = address.checked_add(len)?;
        self.constant.iter().find(|part| part.start <= address && end <= part.end)?;
        let start = std::ptr::with_exposed_provenance::<u8>(address);
        // SAFETY: the kernel listed these bytes as mapped from the file of the running code, readable and not writable.
        // The image is not unloaded while its code runs, and nothing makes these parts writable again.
        Some(unsafe { slice::from_raw_parts(start, len) })
    }

    /// Where the image begins, which is with its header.
    pub(crate) fn start(&self) -> usize {
        self.constant.first().map_or(0, |part| part.start)
    }
}

/// The address that distances are measured from.
pub(super) fn anchor() -> usize {
    (&raw const ANCHOR).expose_provenance()
}

/// One line of `/proc/self/maps`.
struct Mapping<'a> {
    range: Range<usize>,
    is_constant: bool,
    /// Device and number of the file.
    file: (&'a str, &'a str),
}

impl<'a> Mapping<'a> {
    /// `start-end permissions offset device inode path`; `None` for memory without a file.
    fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        let range = number(start)?..number(end)?;
        let is_constant = words.next()?.starts_with("r-");
        let file = (words.nth(1)?, words.next()?);
        (file.1 != "0").then_some(Self { range, is_constant, file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
1000-2000 r--p 00000000 fd:01 7 /app/first
2000-3000 r-xp 00001000 fd:01 7 /app/first
3000-4000 rw-p 00002000 fd:01 7 /app/first
8000-9000 rw-p 00000000 00:00 0 [heap]
a000-b000 r--p 00000000 fd:01 9 /app/with spaces.so (deleted)
b000-c000 rw-p 00001000 fd:01 9 /app/with spaces.so (deleted)
c000-d000 r--p 00002000 fd:01 9 /app/with spaces.so (deleted)
";

    #[test]
    fn an_image_is_the_file_that_holds_the_anchor_and_no_other() {
        assert_eq!(
            Image::in_maps(MAPS, 0x2800).unwrap().constant,
            vec![Range { start: 0x1000, end: 0x3000 }]
        );
        assert_eq!(Image::in_maps(MAPS, 0xb001).unwrap().constant, [0xa000..0xb000, 0xc000..0xd000]);
        assert!(Image::in_maps(MAPS, 0x8800).is_none());
        assert!(Image::in_maps(MAPS, 0x5000).is_none());
    }

    #[test]
    fn only_bytes_that_never_change_are_given_out() {
        let image = Image::own().unwrap();
        let own = image.bytes(anchor(), 8).unwrap();
        let variable = 7_u64;

        assert_eq!(own, ANCHOR.to_ne_bytes());
        assert!(image.bytes((&raw const variable).expose_provenance(), 1).is_none());
        assert!(image.bytes(0, 1).is_none() && image.bytes(usize::MAX, 2).is_none());
        assert!(image.bytes(anchor(), usize::MAX / 2).is_none());
    }
}
