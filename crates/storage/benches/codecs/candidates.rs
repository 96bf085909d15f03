//! The codecs behind one trait, each used as its documentation has it for many small values in a row.

use std::io;

use bincode::config::{Configuration, Fixint, LittleEndian};
use firesteel_storage::codec::Rows;

use crate::rows::Row;

/// A codec; bytes are always what it wrote itself, so it may panic.
pub(crate) trait Candidate {
    const NAME: &'static str;

    fn encode<T: Row>(rows: &[T], out: &mut Vec<u8>);

    fn decode<T: Row>(bytes: &[u8], rows: usize, out: &mut Vec<T>);
}

const SOUND: &str = "its own rows and bytes";

/// The fixed form where there is one, else nothing to compare.
pub(crate) struct Fixed;

impl Candidate for Fixed {
    const NAME: &'static str = "own fixed";

    fn encode<T: Row>(rows: &[T], out: &mut Vec<u8>) {
        Rows::fixed().expect("a plain type").encode(rows, out).expect(SOUND);
    }

    fn decode<T: Row>(bytes: &[u8], rows: usize, out: &mut Vec<T>) {
        Rows::fixed().expect("a plain type").decode(bytes, rows, out).expect(SOUND);
    }
}

/// The compact form.
pub(crate) struct Own;

impl Candidate for Own {
    const NAME: &'static str = "own";

    fn encode<T: Row>(rows: &[T], out: &mut Vec<u8>) {
        Rows::compact().encode(rows, out).expect(SOUND);
    }

    fn decode<T: Row>(bytes: &[u8], rows: usize, out: &mut Vec<T>) {
        Rows::compact().decode(bytes, rows, out).expect(SOUND);
    }
}

/// bincode 2 through serde, with fixed or with variable width of numbers.
pub(crate) struct Bincode<const FIXED: bool>;

const FIXED: Configuration<LittleEndian, Fixint> = bincode::config::standard().with_fixed_int_encoding();

impl<const FIXED_WIDTH: bool> Candidate for Bincode<FIXED_WIDTH> {
    const NAME: &'static str = if FIXED_WIDTH { "bincode fixed" } else { "bincode var" };

    fn encode<T: Row>(rows: &[T], out: &mut Vec<u8>) {
        for row in rows {
            if FIXED_WIDTH {
                bincode::serde::encode_into_std_write(row, out, FIXED).expect(SOUND);
            } else {
                bincode::serde::encode_into_std_write(row, out, bincode::config::standard()).expect(SOUND);
            }
        }
    }

    fn decode<T: Row>(mut bytes: &[u8], rows: usize, out: &mut Vec<T>) {
        for _ in 0..rows {
            let (row, used) = if FIXED_WIDTH {
                bincode::serde::decode_from_slice(bytes, FIXED).expect(SOUND)
            } else {
                bincode::serde::decode_from_slice(bytes, bincode::config::standard()).expect(SOUND)
            };
            out.push(row);
            bytes = &bytes[used..];
        }
    }
}

pub(crate) struct Postcard;

/// Where postcard appends; its own flavours give the vector away and take it back for each row.
struct Appender<'a>(&'a mut Vec<u8>);

impl postcard::ser_flavors::Flavor for Appender<'_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

impl Candidate for Postcard {
    const NAME: &'static str = "postcard";

    fn encode<T: Row>(rows: &[T], out: &mut Vec<u8>) {
        for row in rows {
            postcard::serialize_with_flavor(row, Appender(out)).expect(SOUND);
        }
    }

    fn decode<T: Row>(mut bytes: &[u8], rows: usize, out: &mut Vec<T>) {
        for _ in 0..rows {
            let (row, rest) = postcard::take_from_bytes(bytes).expect(SOUND);
            out.push(row);
            bytes = rest;
        }
    }
}

/// bitcode takes all rows at once and puts equal fields together.
pub(crate) struct Bitcode;

impl Candidate for Bitcode {
    const NAME: &'static str = "bitcode";

    fn encode<T: Row>(rows: &[T], out: &mut Vec<u8>) {
        out.extend_from_slice(&bitcode::serialize(rows).expect(SOUND));
    }

    fn decode<T: Row>(bytes: &[u8], _rows: usize, out: &mut Vec<T>) {
        *out = bitcode::deserialize(bytes).expect(SOUND);
    }
}

pub(crate) struct MessagePack;

impl Candidate for MessagePack {
    const NAME: &'static str = "rmp-serde";

    fn encode<T: Row>(rows: &[T], out: &mut Vec<u8>) {
        let mut serializer = rmp_serde::Serializer::new(out);
        for row in rows {
            row.serialize(&mut serializer).expect(SOUND);
        }
    }

    fn decode<T: Row>(bytes: &[u8], rows: usize, out: &mut Vec<T>) {
        let mut deserializer = rmp_serde::Deserializer::new(io::Cursor::new(bytes));
        out.extend((0..rows).map(|_| T::deserialize(&mut deserializer).expect(SOUND)));
    }
}
