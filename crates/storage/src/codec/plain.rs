//! Rows of a fixed width, moved many at a time: the numbers, and pairs of them.
//!
//! Every field stands in its full width, lowest byte first, so that whole batches are moved by one loop that the compiler
//! can make wide. The types are found by their [`TypeId`] in a table that is compiled once, so a program with many row
//! types pays for none of it again. Nothing here is unsafe: rows change their type through [`Any`], whole arrays and
//! vectors at once.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::LazyLock;

/// So many rows go through one call.
const CHUNK: usize = 128;

/// How to move rows of one type, whose type is known to the functions only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    /// The bytes of a row.
    pub(super) width: usize,
    encode_chunk: fn(&dyn Any, &mut [u8]),
    encode_row: fn(&dyn Any, &mut [u8]),
    decode: fn(&[u8], &mut dyn Any),
}

impl Plain {
    /// The functions for `T`, if it is one of the types here.
    pub(super) fn of<T: 'static>() -> Option<Self> {
        TABLE.get(&TypeId::of::<T>()).copied()
    }

    fn new<W: Word>() -> Self {
        Self {
            width: W::WIDTH,
            encode_chunk: |rows, out| {
                let rows: &[W; CHUNK] = rows.downcast_ref().expect(SAME_TYPE);
                put_all(rows, out);
            },
            encode_row: |row, out| {
                let row: &W = row.downcast_ref().expect(SAME_TYPE);
                row.put(out);
            },
            decode: |bytes, rows| {
                let rows: &mut Vec<W> = rows.downcast_mut().expect(SAME_TYPE);
                rows.extend(bytes.chunks_exact(W::WIDTH).map(W::take));
            },
        }
    }

    /// Appends all rows. `T` is the type this was made for.
    pub(super) fn encode<T: 'static>(self, rows: &[T], out: &mut Vec<u8>) {
        out.reserve(rows.len() * self.width);
        let (chunks, rest) = rows.as_chunks::<CHUNK>();
        // A chunk's zeroes are still in the nearest cache when they are overwritten.
        for chunk in chunks {
            let start = out.len();
            out.resize(start + CHUNK * self.width, 0);
            (self.encode_chunk)(chunk, &mut out[start..]);
        }
        for row in rest {
            let start = out.len();
            out.resize(start + self.width, 0);
            (self.encode_row)(row, &mut out[start..]);
        }
    }

    /// Appends the rows in `bytes`, whose length is a multiple of the width.
    #[expect(clippy::ptr_arg, reason = "the vector is what is looked at through `Any`")]
    pub(super) fn decode<T: 'static>(self, bytes: &[u8], rows: &mut Vec<T>) {
        (self.decode)(bytes, rows);
    }
}

const SAME_TYPE: &str = "the table is asked by the type of the rows";

static TABLE: LazyLock<HashMap<TypeId, Plain>> = LazyLock::new(|| {
    let mut table = HashMap::new();
    add_all(&mut table);
    table
});

fn add<W: Word>(table: &mut HashMap<TypeId, Plain>) {
    table.insert(TypeId::of::<W>(), Plain::new::<W>());
}

fn put_all<W: Word>(rows: &[W], out: &mut [u8]) {
    for (row, out) in rows.iter().zip(out.chunks_exact_mut(W::WIDTH)) {
        row.put(out);
    }
}

/// A value whose bytes are as many for every value.
trait Word: Copy + 'static {
    const WIDTH: usize;

    fn put(&self, out: &mut [u8]);

    fn take(bytes: &[u8]) -> Self;
}

impl<A: Word, B: Word> Word for (A, B) {
    const WIDTH: usize = A::WIDTH + B::WIDTH;

    #[inline]
    fn put(&self, out: &mut [u8]) {
        let (left, right) = out.split_at_mut(A::WIDTH);
        self.0.put(left);
        self.1.put(right);
    }

    #[inline]
    fn take(bytes: &[u8]) -> Self {
        let (left, right) = bytes.split_at(A::WIDTH);
        (A::take(left), B::take(right))
    }
}

/// `usize` stands as `u64`, as serde has it.
macro_rules! words {
    ($($type:ty as $wide:ty),*) => {$(
        impl Word for $type {
            const WIDTH: usize = size_of::<$wide>();

            #[inline]
            #[allow(clippy::cast_lossless, clippy::cast_sign_loss, clippy::cast_possible_wrap)]
            fn put(&self, out: &mut [u8]) {
                out.copy_from_slice(&(*self as $wide).to_le_bytes());
            }

            #[inline]
            fn take(bytes: &[u8]) -> Self {
                let mut word = [0; size_of::<$wide>()];
                word.copy_from_slice(bytes);
                <$wide>::from_le_bytes(word) as Self
            }
        }
    )*};
}

words! {
    u8 as u8, u16 as u16, u32 as u32, u64 as u64, u128 as u128, usize as u64,
    i8 as i8, i16 as i16, i32 as i32, i64 as i64, i128 as i128, isize as i64,
    f32 as f32, f64 as f64
}

macro_rules! table {
    ($($type:ty),*) => {
        fn add_all(table: &mut HashMap<TypeId, Plain>) {
            $(add::<$type>(table); add_pairs_of::<$type>(table);)*
        }

        fn add_pairs_of<A: Word>(table: &mut HashMap<TypeId, Plain>) {
            $(add::<(A, $type)>(table);)*
        }
    };
}

// Where a `usize` is shorter than its bytes, not every number read would be one.
#[cfg(target_pointer_width = "64")]
table!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64);
#[cfg(not(target_pointer_width = "64"))]
table!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64);
