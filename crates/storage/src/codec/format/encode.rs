//! Rows to bytes: [`Encoder`].

use serde::ser::{self, Serialize};

use super::error::RowError;
use super::limits::{DEPTH_MAX, LONG_NUMBER_MARK, ROW_DEPTH, UNITS_MAX, WEIGHTLESS_MAX};
use super::observe::{Record, WriteObserver};

/// A serde serializer that appends to a vector.
///
/// ```
/// use firesteel_storage::codec::format::Encoder;
///
/// let mut out = Vec::new();
/// Encoder::new(&mut out).append(&(true, "ab"))?;
///
/// assert_eq!(out, [1, 5, b'a', b'b']);
/// # Ok::<(), firesteel_storage::codec::format::RowError>(())
/// ```
#[derive(Debug)]
pub struct Encoder<'a, O = ()> {
    out: &'a mut Vec<u8>,
    depth: u32,
    observer: O,
}

impl<'a> Encoder<'a> {
    /// An encoder behind what is in `out` already.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, depth: 0, observer: () }
    }
}

impl<'a, O: WriteObserver> Encoder<'a, O> {
    /// An encoder that tells an observer what it writes.
    pub(in crate::codec) fn observed(out: &'a mut Vec<u8>, observer: O) -> Self {
        Self { out, depth: 0, observer }
    }

    /// Appends one row. After an error, a part of the row may stand at the end of the vector.
    #[inline]
    pub fn append<T: Serialize + ?Sized>(&mut self, row: &T) -> Result<(), RowError> {
        self.depth = ROW_DEPTH;
        row.serialize(&mut *self)
    }

    /// Appends one value, which may be rows in a list of the engine's own.
    pub(in crate::codec) fn append_value<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<(), RowError> {
        self.depth = 0;
        value.serialize(&mut *self)
    }

    /// How many bytes the vector holds.
    #[inline]
    pub fn written(&self) -> usize {
        self.out.len()
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Appends a number in as few bytes as it needs.
    ///
    /// Writes eight bytes and takes back those that are not needed: cheaper than a branch that mispredicts.
    #[inline]
    fn put_number(&mut self, number: u64) {
        let bits = u64::BITS - (number | 1).leading_zeros();
        let bytes = bits.div_ceil(7);
        if bytes > 8 {
            return self.put_long(number);
        }
        let start = self.out.len();
        let word = ((number << 1) | 1) << (bytes - 1);
        self.put(&word.to_le_bytes());
        self.out.truncate(start + bytes as usize);
    }

    fn put_long(&mut self, number: u64) {
        self.out.push(LONG_NUMBER_MARK);
        self.put(&number.to_le_bytes());
    }

    /// As a number, with the sign in its lowest bit: numbers near zero are short regardless of their sign.
    #[inline]
    fn put_signed(&mut self, number: i64) {
        self.put_number(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    /// Appends bytes behind their number, which is what a byte string and a sequence of bytes are.
    #[inline]
    pub(in crate::codec) fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_number(bytes.len() as u64);
        self.put(bytes);
    }

    /// Appends a sequence of `count` elements of `width` bytes, which `fill` writes.
    pub(in crate::codec) fn put_list(&mut self, count: usize, width: usize, fill: impl FnOnce(&mut [u8])) {
        self.put_number(count as u64);
        let start = self.out.len();
        self.out.resize(start + count * width, 0);
        fill(&mut self.out[start..]);
    }

    /// Begins a struct, a tuple or a variant.
    #[inline]
    fn open(&mut self, record: Record) -> Result<O::Open, RowError> {
        self.observer.open(record, self.out.len())
    }

    #[inline]
    fn close(&mut self, open: O::Open) {
        self.observer.close(open, self.out.len());
    }

    /// Begins a variant, one level deeper.
    #[inline]
    fn open_variant(
        &mut self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<O::Open, RowError> {
        self.put_number(u64::from(index));
        self.deeper()?;
        self.open(Record { name, variant: Some(variant) })
    }

    #[inline]
    fn close_variant(&mut self, open: O::Open) {
        self.close(open);
        self.depth -= 1;
    }

    #[inline]
    fn deeper(&mut self) -> Result<(), RowError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { Err(RowError::Depth) } else { Ok(()) }
    }

    fn start_items(&mut self, length: Option<usize>) -> Result<(), RowError> {
        self.deeper()?;
        match length {
            Some(length) => self.put_number(length as u64),
            // Filled in when the elements have been counted.
            None => self.put_long(0),
        }
        Ok(())
    }
}

macro_rules! numbers {
    ($($method:ident($type:ty) by $put:ident;)*) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<(), RowError> {
            self.$put(value.into());
            Ok(())
        }
    )*};
}

macro_rules! fixed {
    ($($method:ident($type:ty);)*) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<(), RowError> {
            self.put(&value.to_le_bytes());
            Ok(())
        }
    )*};
}

impl<'a, 'b, O: WriteObserver> ser::Serializer for &'a mut Encoder<'b, O> {
    type Ok = ();
    type Error = RowError;
    type SerializeSeq = Items<'a, 'b, O>;
    type SerializeMap = Items<'a, 'b, O>;
    type SerializeTuple = Fields<'a, 'b, O>;
    type SerializeTupleStruct = Fields<'a, 'b, O>;
    type SerializeStruct = Fields<'a, 'b, O>;
    type SerializeTupleVariant = Variant<'a, 'b, O>;
    type SerializeStructVariant = Variant<'a, 'b, O>;

    numbers! {
        serialize_u16(u16) by put_number; serialize_u32(u32) by put_number; serialize_u64(u64) by put_number;
        serialize_i16(i16) by put_signed; serialize_i32(i32) by put_signed; serialize_i64(i64) by put_signed;
        serialize_char(char) by put_number;
    }

    fixed! {
        serialize_u8(u8); serialize_i8(i8); serialize_u128(u128); serialize_i128(i128);
        serialize_f32(f32); serialize_f64(f64);
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), RowError> {
        self.out.push(u8::from(value));
        Ok(())
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), RowError> {
        self.serialize_bytes(value.as_bytes())
    }

    #[inline]
    fn serialize_bytes(self, value: &[u8]) -> Result<(), RowError> {
        self.put_bytes(value);
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<(), RowError> {
        self.serialize_bool(false)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), RowError> {
        self.out.push(1);
        self.deeper()?;
        value.serialize(&mut *self)?;
        self.depth -= 1;
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), RowError> {
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), RowError> {
        Ok(())
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<(), RowError> {
        self.put_number(u64::from(index));
        let open = self.open(Record { name, variant: Some(variant) })?;
        self.close(open);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), RowError> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), RowError> {
        let open = self.open_variant(name, index, variant)?;
        self.observer.field(&open, "");
        value.serialize(&mut *self)?;
        self.close_variant(open);
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, length: Option<usize>) -> Result<Items<'a, 'b, O>, RowError> {
        let start = self.written();
        self.start_items(length)?;
        Ok(Items { start, announced: length, found: 0, encoder: self })
    }

    #[inline]
    fn serialize_map(self, length: Option<usize>) -> Result<Items<'a, 'b, O>, RowError> {
        self.serialize_seq(length)
    }

    #[inline]
    fn serialize_tuple(self, _length: usize) -> Result<Fields<'a, 'b, O>, RowError> {
        let open = self.open(Record::TUPLE)?;
        Ok(Fields { encoder: self, open })
    }

    #[inline]
    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _length: usize,
    ) -> Result<Fields<'a, 'b, O>, RowError> {
        let open = self.open(Record::named(name))?;
        Ok(Fields { encoder: self, open })
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _length: usize) -> Result<Fields<'a, 'b, O>, RowError> {
        let open = self.open(Record::named(name))?;
        Ok(Fields { encoder: self, open })
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Variant<'a, 'b, O>, RowError> {
        let open = self.open_variant(name, index, variant)?;
        Ok(Variant { encoder: self, open })
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Variant<'a, 'b, O>, RowError> {
        self.serialize_tuple_variant(name, index, variant, length)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The elements of a sequence or the entries of a map.
#[derive(Debug)]
pub struct Items<'a, 'b, O> {
    encoder: &'a mut Encoder<'b, O>,
    start: usize,
    announced: Option<usize>,
    found: usize,
}

impl<O: WriteObserver> Items<'_, '_, O> {
    #[inline]
    fn close(self) -> Result<(), RowError> {
        let Self { encoder, start, announced, found } = self;
        encoder.depth -= 1;
        match announced {
            Some(announced) if announced != found => return Err(RowError::Announced { announced, found }),
            Some(_) => (),
            None => encoder.out[start + 1..start + 9].copy_from_slice(&(found as u64).to_le_bytes()),
        }
        let bytes = encoder.written() - start;
        let weightless = found.saturating_sub(bytes);
        // In the outermost list of a value they may be units; whether they are is known to the reader only.
        if weightless > WEIGHTLESS_MAX && (weightless > UNITS_MAX || encoder.depth > 0) {
            return Err(RowError::Weightless { elements: found, bytes });
        }
        Ok(())
    }
}

impl<O: WriteObserver> ser::SerializeSeq for Items<'_, '_, O> {
    type Ok = ();
    type Error = RowError;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), RowError> {
        self.found += 1;
        value.serialize(&mut *self.encoder)
    }

    #[inline]
    fn end(self) -> Result<(), RowError> {
        self.close()
    }
}

impl<O: WriteObserver> ser::SerializeMap for Items<'_, '_, O> {
    type Ok = ();
    type Error = RowError;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), RowError> {
        self.found += 1;
        key.serialize(&mut *self.encoder)
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), RowError> {
        value.serialize(&mut *self.encoder)
    }

    #[inline]
    fn end(self) -> Result<(), RowError> {
        self.close()
    }
}

/// The fields of a tuple or a struct.
#[derive(Debug)]
pub struct Fields<'a, 'b, O: WriteObserver> {
    encoder: &'a mut Encoder<'b, O>,
    open: O::Open,
}

/// The fields of a variant, one level deeper.
#[derive(Debug)]
pub struct Variant<'a, 'b, O: WriteObserver> {
    encoder: &'a mut Encoder<'b, O>,
    open: O::Open,
}

/// A field is its value; `$close` is what follows the last.
macro_rules! fields {
    ($type:ident, $close:ident; $($trait:ident :: $method:ident),*; $($named:ident :: $named_method:ident),*) => {
        $(impl<O: WriteObserver> ser::$trait for $type<'_, '_, O> {
            type Ok = ();
            type Error = RowError;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), RowError> {
                self.encoder.observer.field(&self.open, "");
                value.serialize(&mut *self.encoder)
            }

            #[inline]
            fn end(self) -> Result<(), RowError> {
                self.encoder.$close(self.open);
                Ok(())
            }
        })*
        $(impl<O: WriteObserver> ser::$named for $type<'_, '_, O> {
            type Ok = ();
            type Error = RowError;

            #[inline]
            fn $named_method<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), RowError> {
                self.encoder.observer.field(&self.open, name);
                value.serialize(&mut *self.encoder)
            }

            /// A reader takes all fields one after another, so a field left out would shift the rest.
            fn skip_field(&mut self, field: &'static str) -> Result<(), RowError> {
                Err(RowError::FieldLeftOut { field })
            }

            #[inline]
            fn end(self) -> Result<(), RowError> {
                self.encoder.$close(self.open);
                Ok(())
            }
        })*
    };
}

fields!(Fields, close;
    SerializeTuple::serialize_element, SerializeTupleStruct::serialize_field; SerializeStruct::serialize_field);
fields!(Variant, close_variant;
    SerializeTupleVariant::serialize_field; SerializeStructVariant::serialize_field);
