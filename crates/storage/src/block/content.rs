//! What a block holds: on its way in ([`NewBlock`]), in memory ([`Stored`]) and on its way out ([`BlockData`]).

use std::{any::Any, fmt, io, io::Write, sync::Arc};

use bytes::Bytes;

use super::BlockFile;

/// A value of a type that only its owner knows.
pub type AnyValue = Arc<dyn Any + Send + Sync>;

/// Writes a value in serialized form.
pub type Serialize = Arc<dyn Fn(&(dyn Any + Send + Sync), &mut dyn Write) -> io::Result<()> + Send + Sync>;

/// Saves a value in a place of its own.
pub type SaveElsewhere = Arc<dyn Fn(&(dyn Any + Send + Sync)) -> io::Result<()> + Send + Sync>;

/// How a value in memory can be had outside of it.
#[derive(Clone)]
pub enum Save {
    /// Serialized: to a file when it is evicted and its level has a disk, and to other processes.
    Serialize(Serialize),
    /// In a place that its owner knows, such as a shuffle file. It leaves the block manager with that.
    Elsewhere(SaveElsewhere),
    /// Not at all: it can be dropped, because its owner can make it again.
    Never,
}

impl Save {
    /// Serialized by `write`.
    pub fn serialize(
        write: impl Fn(&(dyn Any + Send + Sync), &mut dyn Write) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::Serialize(Arc::new(write))
    }

    /// Saved by `save`, which returns when the value is safe.
    pub fn elsewhere(
        save: impl Fn(&(dyn Any + Send + Sync)) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::Elsewhere(Arc::new(save))
    }
}

impl fmt::Debug for Save {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Serialize(_) => "Serialize",
            Self::Elsewhere(_) => "Elsewhere",
            Self::Never => "Never",
        })
    }
}

/// The content of a block that is to be stored.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the field names say it")]
pub enum NewBlock {
    /// A value that takes `size` bytes of memory.
    Typed { value: AnyValue, size: u64, save: Save },
    /// Serialized bytes.
    Bytes(Bytes),
}

/// The content of a block in memory. Cloning it copies nothing.
#[derive(Clone, Debug)]
pub enum Stored {
    /// A value.
    Typed(AnyValue),
    /// Serialized bytes.
    Bytes(Bytes),
}

/// The content of a block as a reader gets it.
#[derive(Debug)]
pub enum BlockData {
    /// The value itself, shared.
    Typed(AnyValue),
    /// Serialized bytes in memory.
    Bytes(Bytes),
    /// Serialized bytes in a file, not read yet.
    File(BlockFile),
}

impl BlockData {
    /// The serialized bytes, read from their file if they are in one; `None` for a value.
    pub fn into_bytes(self) -> io::Result<Option<Bytes>> {
        match self {
            Self::Typed(_) => Ok(None),
            Self::Bytes(bytes) => Ok(Some(bytes)),
            Self::File(file) => file.read_all().map(Some),
        }
    }

    /// The value, if it is one of this type.
    pub fn typed<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        match self {
            Self::Typed(value) => value.clone().downcast().ok(),
            Self::Bytes(_) | Self::File(_) => None,
        }
    }
}

impl From<Stored> for BlockData {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Typed(value) => Self::Typed(value),
            Stored::Bytes(bytes) => Self::Bytes(bytes),
        }
    }
}
