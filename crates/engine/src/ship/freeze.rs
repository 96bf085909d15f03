//! Writing operators down and building them again.

use firesteel_storage::codec::{self, CodecError};
use serde::{Serialize, de::DeserializeOwned};

/// What can travel to an executor as part of a stage's operators.
///
/// Apart from serde on purpose: an RDD is no [`Data`](crate::Data), so it can be neither broadcast nor put into the
/// environment of a closure.
pub trait Ship: Sized {
    /// Appends everything that the other side needs to `out`.
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError>;

    /// Builds the value from what [`freeze`](Ship::freeze) wrote.
    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError>;
}

/// Why operators cannot be shipped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum ShipError {
    /// A value has no bytes, or the bytes are no such value.
    #[error(transparent)]
    Value(CodecError),
    /// Something else was written than is read.
    #[error(
        "{found} stands where {expected} should: an operator's `thaw` must read what its `freeze` wrote, in the same order"
    )]
    OtherItem { expected: &'static str, found: &'static str },
    /// More was written than is read.
    #[error("{bytes} bytes are left: an operator's `thaw` must read all that its `freeze` wrote")]
    Left { bytes: usize },
    /// A list claims to be longer than it can be.
    #[error("a list of {length} operators does not fit in {bytes} bytes")]
    Length { length: usize, bytes: usize },
    /// The bytes name a place of the executable where no such entry point is.
    #[error("the bytes name no way to build {type_name}: they are damaged")]
    NoEntry { type_name: &'static str },
    /// The bytes name the type of another function.
    #[error("the bytes name another function than {type_name}: an operator reads what another one wrote")]
    OtherFunction { type_name: &'static str },
    /// Entry points cannot be named in this process.
    #[error("operators cannot be shipped: {reason}")]
    Image { reason: String },
}

/// What an item of the shipped form is. Values are the only ones that an application writes bytes of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Value,
    Entry,
    Function,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Value, Self::Entry, Self::Function];

    /// The byte in front of an item. Far apart, so that one wrong bit does not make one of the other.
    const fn byte(self) -> u8 {
        match self {
            Self::Value => 0x5A,
            Self::Entry => 0xE7,
            Self::Function => 0x3C,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Value => "a value",
            Self::Entry => "an entry point",
            Self::Function => "a function",
        }
    }
}

/// Bytes under construction: items, each of them its kind, its length and its content.
///
/// So a value of the user's, with any `Serialize`, is never read as an entry point or a function, and what follows it
/// is found.
#[derive(Debug, Default)]
pub struct Frozen(Vec<u8>);

/// The bytes of an item's length.
const LENGTH_BYTES: usize = 8;

impl Frozen {
    /// Appends a serializable value. Refuses one whose type does not read what it writes.
    pub fn value<T: Serialize + DeserializeOwned + 'static>(&mut self, value: &T) -> Result<(), ShipError> {
        let start = self.0.len();
        self.0.push(Kind::Value.byte());
        self.0.extend([0; LENGTH_BYTES]);
        let content = self.0.len();
        codec::append_value(value, &mut self.0).map_err(ShipError::Value)?;
        let length = (self.0.len() - content) as u64;
        self.0[start + 1..content].copy_from_slice(&length.to_le_bytes());
        Ok(())
    }

    /// Appends an entry point by its distance.
    pub(super) fn entry(&mut self, distance: u64) {
        self.item(Kind::Entry, &distance.to_le_bytes());
    }

    /// Appends the id of a function's type.
    pub(super) fn function(&mut self, id: [u8; 16]) {
        self.item(Kind::Function, &id);
    }

    fn item(&mut self, kind: Kind, content: &[u8]) {
        self.0.push(kind.byte());
        self.0.extend((content.len() as u64).to_le_bytes());
        self.0.extend(content);
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Bytes that are read from the front.
#[derive(Debug)]
pub struct Thawing<'a>(&'a [u8]);

impl<'a> Thawing<'a> {
    /// Reads from the front of `bytes`.
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Takes one value off the front.
    pub fn value<T: DeserializeOwned>(&mut self) -> Result<T, ShipError> {
        codec::read_value(self.item(Kind::Value)?).map_err(ShipError::Value)
    }

    /// Takes the distance of an entry point off the front.
    pub(super) fn entry(&mut self) -> Result<u64, ShipError> {
        self.fixed(Kind::Entry).map(u64::from_le_bytes)
    }

    /// Takes the id of a function's type off the front.
    pub(super) fn function(&mut self) -> Result<[u8; 16], ShipError> {
        self.fixed(Kind::Function)
    }

    /// Makes sure that nothing is left.
    pub(crate) fn finish(self) -> Result<(), ShipError> {
        match self.0.len() {
            0 => Ok(()),
            bytes => Err(ShipError::Left { bytes }),
        }
    }

    fn fixed<const N: usize>(&mut self, kind: Kind) -> Result<[u8; N], ShipError> {
        let content = self.item(kind)?;
        content.try_into().map_err(|_| other_item(kind, DAMAGED))
    }

    fn item(&mut self, expected: Kind) -> Result<&'a [u8], ShipError> {
        let (&byte, rest) = self.0.split_first().ok_or_else(|| other_item(expected, "the end"))?;
        if byte != expected.byte() {
            let found = Kind::ALL.iter().find(|kind| kind.byte() == byte).map_or(DAMAGED, |kind| kind.name());
            return Err(other_item(expected, found));
        }
        let cut = || other_item(expected, "a part of it");
        let (length, rest) = rest.split_first_chunk::<LENGTH_BYTES>().ok_or_else(cut)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok();
        let (content, rest) = length.and_then(|length| rest.split_at_checked(length)).ok_or_else(cut)?;
        self.0 = rest;
        Ok(content)
    }
}

/// What stands where no item is.
const DAMAGED: &str = "something unknown";

fn other_item(expected: Kind, found: &'static str) -> ShipError {
    ShipError::OtherItem { expected: expected.name(), found }
}

/// Implements [`Ship`] for a struct, field by field.
///
/// The fields in front are parts that ship themselves: RDDs, handles, and vectors or options of them. Those after
/// `values` are plain serde data. Generic parameters stand, with their bounds, behind `impl`: `ship!(impl[R: Ship] Twice<R>
/// { parent, handle; values times })`. For an [`Rdd`](crate::Rdd) of one's own, where there is an example.
#[macro_export]
macro_rules! ship {
    (impl[$($generics:tt)*] $name:ty { $($field:ident),* $(; values $($value:ident),*)? }) => {
        #[allow(unused_variables, reason = "a struct without fields writes and reads nothing")]
        impl<$($generics)*> $crate::ship::Ship for $name {
            fn freeze(&self, out: &mut $crate::ship::Frozen) -> Result<(), $crate::ship::ShipError> {
                $($crate::ship::Ship::freeze(&self.$field, out)?;)*
                $($(out.value(&self.$value)?;)*)?
                Ok(())
            }

            fn thaw(input: &mut $crate::ship::Thawing<'_>) -> Result<Self, $crate::ship::ShipError> {
                Ok(Self {
                    $($field: $crate::ship::Ship::thaw(input)?,)*
                    $($($value: input.value()?,)*)?
                })
            }
        }
    };
}

macro_rules! ship_plain {
    ($($name:ty),*) => {$(
        impl Ship for $name {
            fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
                out.value(self)
            }

            fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
                input.value()
            }
        }
    )*};
}

ship_plain!((), bool, u32, u64, usize, i64, f64, String);

impl<T: Ship> Ship for Option<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(&self.is_some())?;
        self.as_ref().map_or(Ok(()), |value| value.freeze(out))
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(if input.value()? { Some(T::thaw(input)?) } else { None })
    }
}

/// How many more elements than bytes a list may have: an operator without fields takes no bytes.
const WEIGHTLESS_MAX: usize = 1 << 16;

impl<T: Ship> Ship for Vec<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(&self.len())?;
        let before = out.0.len();
        self.iter().try_for_each(|value| value.freeze(out))?;
        fits(self.len(), out.0.len() - before)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let length: usize = input.value()?;
        fits(length, input.0.len())?;
        (0..length).map(|_| T::thaw(input)).collect()
    }
}

fn fits(length: usize, bytes: usize) -> Result<(), ShipError> {
    if length.saturating_sub(bytes) > WEIGHTLESS_MAX {
        Err(ShipError::Length { length, bytes })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_its_frame_and_no_more() {
        let mut frozen = Frozen::default();
        frozen.value(&(1_u8, 2_u8)).unwrap();
        frozen.value(&3_u8).unwrap();
        let bytes = frozen.into_bytes();

        let mut input = Thawing::new(&bytes);
        assert!(input.value::<u8>().unwrap_err().to_string().contains("1 bytes are left"));
        let mut input = Thawing::new(&bytes);
        assert_eq!(input.value::<(u8, u8)>().unwrap(), (1, 2));
        assert!(input.value::<(u8, u8)>().is_err(), "a value never reads what follows it");

        let mut input = Thawing::new(&bytes);
        input.value::<(u8, u8)>().unwrap();
        assert!(matches!(input.finish(), Err(ShipError::Left { bytes: 10 })));
    }

    #[test]
    fn a_value_is_no_entry_point_and_no_function() {
        let mut frozen = Frozen::default();
        frozen.value(&[0_u64; 4]).unwrap();
        let bytes = frozen.into_bytes();

        let entry = Thawing::new(&bytes).entry().unwrap_err();
        assert!(entry.to_string().starts_with("a value stands where an entry point should"), "{entry}");
        let function = Thawing::new(&bytes).function().unwrap_err();
        assert!(function.to_string().starts_with("a value stands where a function should"), "{function}");
    }

    #[test]
    fn a_list_is_not_longer_than_its_bytes() {
        let mut frozen = Frozen::default();
        frozen.value(&usize::MAX).unwrap();
        let bytes = frozen.into_bytes();

        let error = Vec::<Vec<u32>>::thaw(&mut Thawing::new(&bytes)).unwrap_err();

        assert!(matches!(error, ShipError::Length { length: usize::MAX, bytes: 0 }), "{error}");
    }
}
