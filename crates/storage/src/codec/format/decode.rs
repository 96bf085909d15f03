//! Bytes to rows: [`Decoder`].

use serde::de::value::U32Deserializer;
use serde::de::{self, Deserialize, DeserializeSeed, IntoDeserializer, Visitor};

use super::error::RowError;
use super::limits::{DEPTH_MAX, ROW_DEPTH, UNITS_MAX, WEIGHTLESS_MAX};
use super::observe::{Asked, ReadObserver, Record};

/// A serde deserializer over untrusted bytes.
///
/// ```
/// use firesteel_storage::codec::format::Decoder;
///
/// let mut decoder = Decoder::new(&[1, 5, b'a', b'b']);
/// assert_eq!(decoder.take::<(bool, String)>()?, (true, "ab".to_owned()));
/// decoder.finish()?;
///
/// assert!(Decoder::new(&[5, b'a']).take::<String>().is_err());
/// # Ok::<(), firesteel_storage::codec::format::RowError>(())
/// ```
#[derive(Debug)]
pub struct Decoder<'de, O = ()> {
    input: &'de [u8],
    depth: u32,
    observer: O,
}

impl<'de> Decoder<'de> {
    /// A decoder at the beginning of `input`.
    pub fn new(input: &'de [u8]) -> Self {
        Self { input, depth: 0, observer: () }
    }
}

impl<'de, O: ReadObserver> Decoder<'de, O> {
    /// A decoder that tells an observer what it is asked for.
    pub(in crate::codec) fn observed(input: &'de [u8], observer: O) -> Self {
        Self { input, depth: 0, observer }
    }

    /// Takes one row.
    #[inline]
    pub fn take<T: Deserialize<'de>>(&mut self) -> Result<T, RowError> {
        self.depth = ROW_DEPTH;
        T::deserialize(&mut *self)
    }

    /// Takes one value, which may be rows in a list of the engine's own.
    pub(in crate::codec) fn take_value<T: Deserialize<'de>>(&mut self) -> Result<T, RowError> {
        self.depth = 0;
        T::deserialize(&mut *self)
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.input.len()
    }

    /// Makes sure that nothing is left.
    pub fn finish(self) -> Result<(), RowError> {
        match self.input.len() {
            0 => Ok(()),
            bytes => Err(RowError::Left { bytes }),
        }
    }

    #[inline]
    fn chunk<const N: usize>(&mut self) -> Result<[u8; N], RowError> {
        let (chunk, rest) = self.input.split_first_chunk().ok_or(RowError::Ends)?;
        self.input = rest;
        Ok(*chunk)
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, RowError> {
        let (&byte, rest) = self.input.split_first().ok_or(RowError::Ends)?;
        self.input = rest;
        Ok(byte)
    }

    /// Reads a number of as many bytes as the lowest set bit of the first one encodes.
    #[inline]
    fn number(&mut self) -> Result<u64, RowError> {
        let Some(chunk) = self.input.first_chunk() else { return self.number_near_end() };
        let word = u64::from_le_bytes(*chunk);
        let bytes = (word | 0x100).trailing_zeros() + 1;
        if bytes > 8 {
            return self.long_number();
        }
        self.input = &self.input[bytes as usize..];
        Ok(word << (64 - 8 * bytes) >> (64 - 7 * bytes))
    }

    /// The same with less than eight bytes left.
    #[cold]
    fn number_near_end(&mut self) -> Result<u64, RowError> {
        let mut chunk = [0; 8];
        chunk[..self.input.len()].copy_from_slice(self.input);
        let word = u64::from_le_bytes(chunk);
        let bytes = (word | 0x100).trailing_zeros() + 1;
        self.input = self.input.get(bytes as usize..).ok_or(RowError::Ends)?;
        Ok(word << (64 - 8 * bytes) >> (64 - 7 * bytes))
    }

    #[cold]
    fn long_number(&mut self) -> Result<u64, RowError> {
        self.byte()?;
        Ok(u64::from_le_bytes(self.chunk()?))
    }

    #[inline]
    fn signed_number(&mut self) -> Result<i64, RowError> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// A length, of which 32 bits of address space may not have enough.
    #[inline]
    fn length(&mut self) -> Result<usize, RowError> {
        let length = self.number()?;
        usize::try_from(length).map_err(|_| RowError::Length { length, left: self.input.len() })
    }

    /// Bytes behind their number.
    #[inline]
    pub(in crate::codec) fn bytes(&mut self) -> Result<&'de [u8], RowError> {
        let length = self.length()?;
        let too_long = RowError::Length { length: length as u64, left: self.input.len() };
        let (bytes, rest) = self.input.split_at_checked(length).ok_or(too_long)?;
        self.input = rest;
        Ok(bytes)
    }

    /// The bytes of a sequence whose elements have `width` bytes each.
    pub(in crate::codec) fn list(&mut self, width: usize) -> Result<&'de [u8], RowError> {
        let count = self.length()?;
        let too_long = RowError::Length { length: count as u64, left: self.input.len() };
        let split = count.checked_mul(width).and_then(|length| self.input.split_at_checked(length));
        let (bytes, rest) = split.ok_or(too_long)?;
        self.input = rest;
        Ok(bytes)
    }

    #[inline]
    fn text(&mut self) -> Result<&'de str, RowError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| RowError::NotText)
    }

    /// The elements that follow behind their number; no more than the rest can hold.
    #[inline]
    fn items(&mut self) -> Result<Items<'_, 'de, O>, RowError> {
        let (count, bytes) = (self.length()?, self.input.len());
        let left = count.min(bytes.saturating_add(WEIGHTLESS_MAX));
        let units = count - left;
        // A list in a list could ask for so much time at every level.
        if units > 0 && (units > UNITS_MAX || self.depth > 1) {
            return Err(RowError::Length { length: count as u64, left: bytes });
        }
        Ok(Items { decoder: self, left, units })
    }

    /// Reads the fields of a struct, a tuple or a variant.
    #[inline]
    fn fields<V: Visitor<'de>>(&mut self, asked: Asked, visitor: V) -> Result<V::Value, RowError> {
        let open = self.observer.open(asked, self.input.len());
        let mut items = Items { decoder: self, left: asked.length, units: 0 };
        let mut read = visitor.visit_seq(&mut items);
        // The names of a struct's fields include those that serde's `alias` adds, so it takes fewer fields than names.
        if asked.names.is_empty() {
            read = read.and_then(|value| items.finish(value));
        }
        self.observer.close(open, self.input.len(), read.is_ok());
        read
    }

    /// Runs `visit` one level deeper.
    #[inline]
    fn deeper<T>(&mut self, visit: impl FnOnce(&mut Self) -> Result<T, RowError>) -> Result<T, RowError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(RowError::Depth);
        }
        let value = visit(self)?;
        self.depth -= 1;
        Ok(value)
    }
}

macro_rules! numbers {
    ($($method:ident, $visit:ident($type:ty) by $take:ident;)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
            let number = self.$take()?;
            let value = <$type>::try_from(number).map_err(|_| RowError::TooLarge {
                number: number.into(),
                expected: stringify!($type),
            })?;
            visitor.$visit(value)
        }
    )*};
}

macro_rules! fixed {
    ($($method:ident, $visit:ident($type:ty);)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
            visitor.$visit(<$type>::from_le_bytes(self.chunk()?))
        }
    )*};
}

impl<'de, O: ReadObserver> de::Deserializer<'de> for &mut Decoder<'de, O> {
    type Error = RowError;

    numbers! {
        deserialize_u16, visit_u16(u16) by number; deserialize_i16, visit_i16(i16) by signed_number;
        deserialize_u32, visit_u32(u32) by number; deserialize_i32, visit_i32(i32) by signed_number;
    }

    #[inline]
    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_u64(self.number()?)
    }

    #[inline]
    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_i64(self.signed_number()?)
    }

    fixed! {
        deserialize_u8, visit_u8(u8); deserialize_i8, visit_i8(i8);
        deserialize_u128, visit_u128(u128); deserialize_i128, visit_i128(i128);
        deserialize_f32, visit_f32(f32); deserialize_f64, visit_f64(f64);
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        match self.byte()? {
            0 => visitor.visit_bool(false),
            1 => visitor.visit_bool(true),
            found => Err(RowError::Invalid { found: u64::from(found), expected: "a bool" }),
        }
    }

    #[inline]
    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        let code = self.number()?;
        let Some(value) = u32::try_from(code).ok().and_then(char::from_u32) else {
            return Err(RowError::Invalid { found: code, expected: "a character" });
        };
        visitor.visit_char(value)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_borrowed_str(self.text()?)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        self.deserialize_str(visitor)
    }

    #[inline]
    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_borrowed_bytes(self.bytes()?)
    }

    #[inline]
    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        match self.byte()? {
            0 => visitor.visit_none(),
            1 => self.deeper(|inner| visitor.visit_some(inner)),
            found => Err(RowError::Invalid { found: u64::from(found), expected: "an option" }),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, RowError> {
        visitor.visit_unit()
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, RowError> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        self.deeper(|decoder| {
            let mut items = decoder.items()?;
            let value = visitor.visit_seq(&mut items)?;
            items.finish(value)
        })
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, RowError> {
        self.deeper(|decoder| {
            let mut items = decoder.items()?;
            let value = visitor.visit_map(&mut items)?;
            items.finish(value)
        })
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, RowError> {
        self.fields(Asked::tuple(Record::TUPLE, length), visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, RowError> {
        self.fields(Asked::tuple(Record::named(name), length), visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, RowError> {
        self.fields(Asked::of_struct(name, fields), visitor)
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, RowError> {
        self.observer.variants(name, variants);
        self.deeper(|decoder| visitor.visit_enum(decoder))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, RowError> {
        Err(RowError::NotSelfDescribing)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, RowError> {
        Err(RowError::NotNamed)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, RowError> {
        Err(RowError::NotNamed)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

impl<'de, O: ReadObserver> de::EnumAccess<'de> for &mut Decoder<'de, O> {
    type Error = RowError;
    type Variant = Self;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), RowError> {
        let index = self.number()?;
        let Ok(index) = u32::try_from(index) else {
            return Err(RowError::Invalid { found: index, expected: "a variant" });
        };
        self.observer.variant(index, self.input.len());
        let index: U32Deserializer<RowError> = index.into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de, O: ReadObserver> de::VariantAccess<'de> for &mut Decoder<'de, O> {
    type Error = RowError;

    #[inline]
    fn unit_variant(self) -> Result<(), RowError> {
        let left = self.input.len();
        let open = self.observer.open(Asked::of_variant(0, &[]), left);
        self.observer.close(open, left, true);
        Ok(())
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, RowError> {
        let open = self.observer.open(Asked::of_variant(1, &[]), self.input.len());
        let read = seed.deserialize(&mut *self);
        self.observer.close(open, self.input.len(), read.is_ok());
        read
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, RowError> {
        self.fields(Asked::of_variant(length, &[]), visitor)
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, RowError> {
        self.fields(Asked::of_variant(fields.len(), fields), visitor)
    }
}

/// The elements of a sequence, the entries of a map, or the fields of a tuple.
struct Items<'a, 'de, O> {
    decoder: &'a mut Decoder<'de, O>,
    left: usize,
    /// Elements behind those, more than the bytes can hold unless elements take no memory.
    units: usize,
}

impl<'de, O: ReadObserver> Items<'_, 'de, O> {
    /// A visitor that stops early would leave the rest of the row to be read as something else.
    #[inline]
    fn finish<T>(self, value: T) -> Result<T, RowError> {
        match self.left + self.units {
            0 => Ok(value),
            left => Err(RowError::Invalid { found: left as u64, expected: "the end of a sequence" }),
        }
    }

    /// An element that takes no memory.
    #[cold]
    fn next_unit<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, RowError> {
        if size_of::<S::Value>() > 0 {
            let (elements, bytes) = (WEIGHTLESS_MAX + self.units, self.decoder.input.len());
            return Err(RowError::Weightless { elements, bytes });
        }
        self.units -= 1;
        seed.deserialize(&mut *self.decoder).map(Some)
    }
}

impl<'de, O: ReadObserver> de::SeqAccess<'de> for &mut Items<'_, 'de, O> {
    type Error = RowError;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, RowError> {
        if self.left == 0 {
            return if self.units == 0 { Ok(None) } else { self.next_unit(seed) };
        }
        self.left -= 1;
        seed.deserialize(&mut *self.decoder).map(Some)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de, O: ReadObserver> de::MapAccess<'de> for &mut Items<'_, 'de, O> {
    type Error = RowError;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, RowError> {
        de::SeqAccess::next_element_seed(self, seed)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, RowError> {
        seed.deserialize(&mut *self.decoder)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}
