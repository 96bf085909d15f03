//! [`Setting`]: a row of the registry together with the Rust type it is read as.

use std::{fmt, marker::PhantomData, time::Duration};

use super::{
    amounts::Permille,
    kind::{Kind, Value},
    registry::{Entry, Preset},
};
use crate::{Cpus, MasterUrl};

/// A setting whose values are read as `T`.
///
/// The compiler refuses a constant whose kind and type do not fit each other, so reading never fails.
pub struct Setting<T> {
    entry: Entry,
    read_as: PhantomData<fn() -> T>,
}

impl<T> Setting<T> {
    /// The registry's entry of this setting.
    pub const fn entry(self) -> Entry {
        self.entry
    }

    /// Its key.
    pub const fn key(self) -> &'static str {
        self.entry.key
    }
}

impl<T: SettingType> Setting<T> {
    /// # Panics
    /// When `T` cannot hold every value of the entry: at compile time, since settings are constants.
    pub(super) const fn new(entry: Entry) -> Self {
        assert!(T::SHAPE as u8 == entry.kind.shape() as u8, "the type does not fit the kind");
        assert!(
            T::MAY_BE_UNSET || !matches!(entry.preset, Preset::Unset),
            "a default or an Option is needed"
        );
        if let Kind::Integer { max, .. } = entry.kind {
            assert!(max <= T::LARGEST, "the type is too small for the range");
        }
        Self { entry, read_as: PhantomData }
    }
}

impl<T> Copy for Setting<T> {}

impl<T> Clone for Setting<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> AsRef<str> for Setting<T> {
    fn as_ref(&self) -> &str {
        self.entry.key
    }
}

impl<T> fmt::Debug for Setting<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Setting({})", self.entry.key)
    }
}

/// The forms of values, without their ranges: what a type is checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the form of the kind of that name")]
pub enum Shape {
    Bool,
    Integer,
    Duration,
    Bytes,
    Fraction,
    Cpus,
    Text,
    Choice,
    Master,
}

impl Kind {
    const fn shape(self) -> Shape {
        match self {
            Self::Bool => Shape::Bool,
            Self::Integer { .. } => Shape::Integer,
            Self::Duration { .. } => Shape::Duration,
            Self::Bytes { .. } => Shape::Bytes,
            Self::Fraction { .. } => Shape::Fraction,
            Self::Cpus => Shape::Cpus,
            Self::Text => Shape::Text,
            Self::Choice(_) => Shape::Choice,
            Self::Master => Shape::Master,
        }
    }
}

/// A Rust type that the values of a setting can be read as.
pub trait SettingType: Sized {
    /// The form of the values it is read from.
    const SHAPE: Shape;
    /// The largest whole number it holds.
    const LARGEST: u64 = u64::MAX;
    /// Whether the type can express that there is no value.
    const MAY_BE_UNSET: bool = false;

    /// The typed form of a value; none when it is of another form.
    fn from_value(value: Option<Value>) -> Option<Self>;
}

impl<T: SettingType> SettingType for Option<T> {
    const SHAPE: Shape = T::SHAPE;
    const LARGEST: u64 = T::LARGEST;
    const MAY_BE_UNSET: bool = true;

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            None => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl SettingType for u32 {
    const SHAPE: Shape = Shape::Integer;
    const LARGEST: u64 = Self::MAX as u64;

    fn from_value(value: Option<Value>) -> Option<Self> {
        match value {
            Some(Value::Integer(number)) => number.try_into().ok(),
            _ => None,
        }
    }
}

macro_rules! read_as {
    ($($shape:ident => $type:ty,)+) => { $(
        impl SettingType for $type {
            const SHAPE: Shape = Shape::$shape;

            fn from_value(value: Option<Value>) -> Option<Self> {
                match value {
                    Some(Value::$shape(value)) => Some(value),
                    _ => None,
                }
            }
        }
    )+ };
}

read_as! {
    Bool => bool,
    Duration => Duration,
    Bytes => u64,
    Fraction => Permille,
    Cpus => Cpus,
    Text => String,
    Master => MasterUrl,
}
