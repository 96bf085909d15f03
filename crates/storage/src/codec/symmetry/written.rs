//! What a value wrote beside its bytes: [`Written`].

use crate::codec::format::{Record, RowError, WriteObserver};

/// So many records, or records within so many bytes, are noted. A value that is larger is compared as far as that.
const RECORDS_MAX: usize = 20_000;
const BYTES_MAX: usize = 1 << 20;

/// The structs, tuples and variants of a value, in the order in which they begin.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) records: Vec<WrittenRecord>,
    /// Whether the value was too large to note all of it.
    pub(super) is_cut: bool,
}

/// One struct, tuple or variant.
#[derive(Debug)]
pub(super) struct WrittenRecord {
    pub(super) record: Record,
    pub(super) length: usize,
    /// The names of its fields; empty if they have none.
    pub(super) names: Vec<&'static str>,
    pub(super) start: usize,
    /// Where its bytes end; `None` until then.
    pub(super) end: Option<usize>,
}

impl WriteObserver for &mut Written {
    /// The place in the list.
    type Open = usize;

    fn open(&mut self, record: Record, at: usize) -> Result<usize, RowError> {
        if self.records.len() >= RECORDS_MAX || at > BYTES_MAX {
            self.is_cut = true;
            return Err(RowError::Refused { message: "the value is too large to be compared".to_owned() });
        }
        self.records.push(WrittenRecord { record, length: 0, names: Vec::new(), start: at, end: None });
        Ok(self.records.len() - 1)
    }

    fn field(&mut self, open: &usize, name: &'static str) {
        let record = &mut self.records[*open];
        record.length += 1;
        if !name.is_empty() {
            record.names.push(name);
        }
    }

    fn close(&mut self, open: usize, at: usize) {
        self.records[open].end = Some(at);
    }
}
