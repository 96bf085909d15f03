//! Writing operators down and building them again.

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
    /// A value's own `Serialize` failed.
    #[error("cannot serialize a value of type {type_name}")]
    Freeze {
        type_name: &'static str,
        #[source]
        source: postcard::Error,
    },
    /// The bytes are not what the type's `Deserialize` expects.
    #[error("cannot deserialize a value of type {type_name}")]
    Thaw {
        type_name: &'static str,
        #[source]
        source: postcard::Error,
    },
}

/// Bytes under construction.
#[derive(Debug, Default)]
pub struct Frozen(Vec<u8>);

impl Frozen {
    /// Appends a serializable value.
    pub fn value<T: Serialize>(&mut self, value: &T) -> Result<(), ShipError> {
        let bytes = std::mem::take(&mut self.0);
        let type_name = std::any::type_name::<T>();
        self.0 =
            postcard::to_extend(value, bytes).map_err(|source| ShipError::Freeze { type_name, source })?;
        Ok(())
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
        let type_name = std::any::type_name::<T>();
        let (value, rest) =
            postcard::take_from_bytes(self.0).map_err(|source| ShipError::Thaw { type_name, source })?;
        self.0 = rest;
        Ok(value)
    }
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

impl<T: Ship> Ship for Vec<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(&self.len())?;
        self.iter().try_for_each(|value| value.freeze(out))
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let len: usize = input.value()?;
        (0..len).map(|_| T::thaw(input)).collect()
    }
}
