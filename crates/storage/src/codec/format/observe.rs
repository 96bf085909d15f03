//! What can be noted beside the bytes while a value is written or read: [`WriteObserver`] and [`ReadObserver`].
//!
//! Bytes do not tell where a struct begins or which fields it has. An observer is told, and so can compare what a type
//! writes with what it reads. The encoder and the decoder of rows have `()`, which notes nothing and costs nothing.

use super::error::RowError;

/// A struct, a tuple or a variant that is written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The name of the struct or the enum; empty for a tuple.
    pub name: &'static str,
    /// The variant, if it is one of an enum.
    pub variant: Option<&'static str>,
}

impl Record {
    /// A tuple or an array.
    pub(super) const TUPLE: Self = Self::named("");

    pub(super) const fn named(name: &'static str) -> Self {
        Self { name, variant: None }
    }
}

/// Is told about every struct, tuple and variant that is written. Positions count bytes from the beginning of the vector.
pub trait WriteObserver {
    /// What is kept until the end of a record.
    type Open;

    /// A record begins. An error ends the writing.
    fn open(&mut self, record: Record, at: usize) -> Result<Self::Open, RowError>;

    /// A field of a record follows; its name is empty in a tuple.
    fn field(&mut self, open: &Self::Open, name: &'static str);

    /// A record ends.
    fn close(&mut self, open: Self::Open, at: usize);
}

impl WriteObserver for () {
    type Open = ();

    #[inline]
    fn open(&mut self, _record: Record, _at: usize) -> Result<(), RowError> {
        Ok(())
    }

    #[inline]
    fn field(&mut self, _open: &(), _name: &'static str) {}

    #[inline]
    fn close(&mut self, _open: (), _at: usize) {}
}

/// The fields that a type asks for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The struct or the tuple; of a variant, [`ReadObserver::variant`] has told the name.
    pub record: Option<Record>,
    /// How many fields it is.
    pub length: usize,
    /// Their names; empty for those of a tuple.
    pub names: &'static [&'static str],
}

impl Asked {
    pub(super) const fn tuple(record: Record, length: usize) -> Self {
        Self { record: Some(record), length, names: &[] }
    }

    pub(super) const fn of_struct(name: &'static str, names: &'static [&'static str]) -> Self {
        Self { record: Some(Record::named(name)), length: names.len(), names }
    }

    pub(super) const fn of_variant(length: usize, names: &'static [&'static str]) -> Self {
        Self { record: None, length, names }
    }
}

/// Is told about every struct, tuple and variant that is read. `left` are the bytes that are not read yet.
pub trait ReadObserver {
    /// What is kept until the end of a record.
    type Open;

    /// The fields of a record are asked for.
    fn open(&mut self, asked: Asked, left: usize) -> Self::Open;

    /// They were read, or could not be.
    fn close(&mut self, open: Self::Open, left: usize, is_read: bool);

    /// One of these variants is asked for.
    fn variants(&mut self, name: &'static str, variants: &'static [&'static str]);

    /// It is the one with this number.
    fn variant(&mut self, index: u32, left: usize);
}

impl ReadObserver for () {
    type Open = ();

    #[inline]
    fn open(&mut self, _asked: Asked, _left: usize) {}

    #[inline]
    fn close(&mut self, _open: (), _left: usize, _is_read: bool) {}

    #[inline]
    fn variants(&mut self, _name: &'static str, _variants: &'static [&'static str]) {}

    #[inline]
    fn variant(&mut self, _index: u32, _left: usize) {}
}
