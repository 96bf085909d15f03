//! Rows with byte strings or lists of floating-point numbers in them, moved whole.
//!
//! serde hands the elements of a `Vec<u8>` over one by one, which is ten times as slow as a copy. For the common types
//! with such lists this writes and reads the very bytes of [`format`](super::format) without serde. Like
//! [`plain`](super::plain) it finds them by their [`TypeId`] in a table that is compiled once.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::LazyLock;

use super::format::{Decoder, Encoder, RowError};

/// How to move rows of one type, whose type is known to the functions only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bulk {
    encode: fn(&dyn Any, &mut Encoder<'_>),
    decode: fn(&[u8], usize, &mut dyn Any) -> Result<(), RowError>,
}

impl Bulk {
    /// The functions for `T`, if it is one of the types here.
    pub(super) fn of<T: 'static>() -> Option<Self> {
        TABLE.get(&TypeId::of::<T>()).copied()
    }

    fn new<C: Cell>() -> Self {
        Self {
            encode: |row, encoder| row.downcast_ref::<C>().expect(SAME_TYPE).put(encoder),
            decode: |bytes, count, rows| {
                let rows: &mut Vec<C> = rows.downcast_mut().expect(SAME_TYPE);
                let mut decoder = Decoder::new(bytes);
                for _ in 0..count {
                    rows.push(C::take(&mut decoder)?);
                }
                decoder.finish()
            },
        }
    }

    /// Appends one row. `T` is the type this was made for.
    #[inline]
    pub(super) fn encode<T: 'static>(self, row: &T, encoder: &mut Encoder<'_>) {
        (self.encode)(row, encoder);
    }

    /// Appends the `count` rows in `bytes`; after an error, some of them.
    #[expect(clippy::ptr_arg, reason = "the vector is what is looked at through `Any`")]
    pub(super) fn decode<T: 'static>(
        self,
        bytes: &[u8],
        count: usize,
        rows: &mut Vec<T>,
    ) -> Result<(), RowError> {
        (self.decode)(bytes, count, rows)
    }
}

const SAME_TYPE: &str = "the table is asked by the type of the rows";

static TABLE: LazyLock<HashMap<TypeId, Bulk>> = LazyLock::new(|| {
    let mut table = HashMap::new();
    add_with::<Vec<u8>>(&mut table);
    add_with::<Vec<f32>>(&mut table);
    add_with::<Vec<f64>>(&mut table);
    table
});

/// The list `C` alone, and in pairs with what keys and values commonly are.
fn add_with<C: Cell>(table: &mut HashMap<TypeId, Bulk>) {
    add::<C>(table);
    add_pairs::<C, u32>(table);
    add_pairs::<C, u64>(table);
    add_pairs::<C, i32>(table);
    add_pairs::<C, i64>(table);
    add_pairs::<C, f64>(table);
    add_pairs::<C, String>(table);
    add_pairs::<C, Vec<u8>>(table);
    add_pairs::<C, Vec<f64>>(table);
}

fn add_pairs<A: Cell, B: Cell>(table: &mut HashMap<TypeId, Bulk>) {
    add::<(A, B)>(table);
    add::<(B, A)>(table);
}

fn add<C: Cell>(table: &mut HashMap<TypeId, Bulk>) {
    table.insert(TypeId::of::<C>(), Bulk::new::<C>());
}

/// A value that can be moved without serde.
trait Cell: Sized + 'static {
    fn put(&self, encoder: &mut Encoder<'_>);

    fn take(decoder: &mut Decoder<'_>) -> Result<Self, RowError>;
}

impl<A: Cell, B: Cell> Cell for (A, B) {
    fn put(&self, encoder: &mut Encoder<'_>) {
        self.0.put(encoder);
        self.1.put(encoder);
    }

    fn take(decoder: &mut Decoder<'_>) -> Result<Self, RowError> {
        Ok((A::take(decoder)?, B::take(decoder)?))
    }
}

impl Cell for Vec<u8> {
    fn put(&self, encoder: &mut Encoder<'_>) {
        encoder.put_bytes(self);
    }

    fn take(decoder: &mut Decoder<'_>) -> Result<Self, RowError> {
        decoder.bytes().map(<[u8]>::to_vec)
    }
}

macro_rules! lists {
    ($($type:ty),*) => {$(
        impl Cell for Vec<$type> {
            fn put(&self, encoder: &mut Encoder<'_>) {
                encoder.put_list(self.len(), size_of::<$type>(), |out| {
                    for (out, value) in out.chunks_exact_mut(size_of::<$type>()).zip(self) {
                        out.copy_from_slice(&value.to_le_bytes());
                    }
                });
            }

            fn take(decoder: &mut Decoder<'_>) -> Result<Self, RowError> {
                let (values, _) = decoder.list(size_of::<$type>())?.as_chunks();
                Ok(values.iter().map(|bytes| <$type>::from_le_bytes(*bytes)).collect())
            }
        }
    )*};
}

lists!(f32, f64);

/// What serde moves as fast goes through it.
macro_rules! values {
    ($($type:ty),*) => {$(
        impl Cell for $type {
            #[inline]
            fn put(&self, encoder: &mut Encoder<'_>) {
                encoder.append(self).expect("numbers and texts can always be written");
            }

            #[inline]
            fn take(decoder: &mut Decoder<'_>) -> Result<Self, RowError> {
                decoder.take()
            }
        }
    )*};
}

values!(u32, u64, i32, i64, f64, String);
