//! Compares what a type asks for with what it wrote: [`Comparison`].

use super::mismatch::Mismatch;
use super::written::{Written, WrittenRecord};
use crate::codec::format::{Asked, ReadObserver, Record};

/// Reads beside a decoder, and finds the first record that is read with other fields than it was written with.
#[derive(Debug)]
pub(super) struct Comparison<'w> {
    written: &'w [WrittenRecord],
    /// The records before this one were met, or passed.
    next: usize,
    bytes: usize,
    /// The enum that is being read, and its variants.
    variants: (&'static str, &'static [&'static str]),
    /// The variant that is being read.
    variant: Record,
    found: Option<Mismatch>,
    /// The same, of a tuple or a record that was written under another name: perhaps one that stands where another should,
    /// or the same bytes in another nesting.
    suspected: Option<Mismatch>,
}

/// A record that is being read, and the one that was written where it begins.
#[derive(Debug)]
pub(super) struct Open<'w> {
    asked: Asked,
    written: Option<&'w WrittenRecord>,
    is_same_name: bool,
}

impl<'w> Comparison<'w> {
    /// A comparison with the records of a value of so many bytes.
    pub(super) fn new(written: &'w Written, bytes: usize) -> Self {
        Self {
            written: &written.records,
            next: 0,
            bytes,
            variants: ("", &[]),
            variant: Record { name: "", variant: None },
            found: None,
            suspected: None,
        }
    }

    /// How the value differs, if it does; `is_read` if all of its bytes, and no more, were read.
    pub(super) fn into_mismatch(self, is_read: bool) -> Option<Mismatch> {
        self.found.or(if is_read { None } else { self.suspected })
    }

    /// The written records that begin at the next byte and were not met yet.
    fn here(&mut self, left: usize) -> &'w [WrittenRecord] {
        let at = self.bytes - left;
        let written = self.written;
        while written.get(self.next).is_some_and(|record| record.start < at) {
            self.next += 1;
        }
        let rest = &written[self.next..];
        &rest[..rest.iter().take_while(|record| record.start == at).count()]
    }
}

impl<'w> ReadObserver for &mut Comparison<'w> {
    type Open = Open<'w>;

    fn open(&mut self, asked: Asked, left: usize) -> Open<'w> {
        let here = self.here(left);
        let record = asked.record.unwrap_or(self.variant);
        let same = here.iter().position(|written| written.record == record);
        // Under another name it may be the same record, as which it was written through a type of its own. One
        // without fields takes no bytes, so it need not have been written at all.
        let place = same.or_else(|| (asked.length > 0 && !here.is_empty()).then_some(0));
        let written = place.map(|place| {
            self.next += place + 1;
            &here[place]
        });
        Open { asked, written, is_same_name: same.is_some() && !record.name.is_empty() }
    }

    fn close(&mut self, open: Open<'w>, left: usize, is_read: bool) {
        let Open { asked, written: Some(written), is_same_name } = open else { return };
        let Some(end) = written.end else { return };
        let takes_its_bytes = is_read && self.bytes - left == end;
        let is_same = written.length == asked.length && written.names == asked.names;
        if is_same || (takes_its_bytes && !has_moved_field(written, &asked)) {
            return;
        }
        let place = if is_same_name { &mut self.found } else { &mut self.suspected };
        place.get_or_insert_with(|| Mismatch::Fields {
            record: Mismatch::record_name(written.record),
            written: written.length,
            written_names: written.names.clone(),
            read: asked.length,
            read_names: asked.names.to_vec(),
        });
    }

    fn variants(&mut self, name: &'static str, variants: &'static [&'static str]) {
        self.variants = (name, variants);
    }

    fn variant(&mut self, index: u32, left: usize) {
        let (name, variants) = self.variants;
        let read = variants.get(index as usize).copied();
        self.variant = Record { name, variant: read };
        // Written under this number, by a variant that has another one when it is read. A variant that only has another
        // name stands nowhere else.
        let Some(written) = self.here(left).first().map(|written| written.record) else { return };
        let (true, Some(variant)) = (written.name == name, written.variant) else { return };
        if read == Some(variant) {
            return;
        }
        if let Some(place) = variants.iter().position(|name| *name == variant)
            && self.found.is_none()
        {
            self.found = Some(Mismatch::Variant { name, variant, written: index, read: place });
        }
    }
}

/// Whether a field is written at another place than it is read at, among fields that are not all the same.
///
/// Names alone may differ, since serde can rename a field on one side. So may the order of the same names: a `Deserialize`
/// written by hand may list them in any.
fn has_moved_field(written: &WrittenRecord, asked: &Asked) -> bool {
    let place_read = |name: &str| asked.names.iter().position(|read| *read == name);
    let is_moved = |(place, name): (usize, &&str)| place_read(name).is_some_and(|read| read != place);
    written.names.len() == asked.names.len()
        && written.names.iter().any(|name| place_read(name).is_none())
        && written.names.iter().enumerate().any(is_moved)
}
