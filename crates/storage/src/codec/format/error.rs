//! What is wrong with a row: [`RowError`].

use std::fmt;

use crate::codec::symmetry::Mismatch;

/// Why a row cannot be written as bytes, or bytes are not the rows they should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the field names say it")]
pub enum RowError {
    /// The bytes were cut.
    #[error("the bytes end in the middle of a row")]
    Ends,

    /// There are more bytes than rows.
    #[error("{bytes} bytes are left after the last row")]
    Left { bytes: usize },

    /// No value of the type has these bytes.
    #[error("{found} stands where {expected} should")]
    Invalid { found: u64, expected: &'static str },

    /// A number is not one of its type.
    #[error("the number {number} stands where {expected} should")]
    TooLarge { number: i128, expected: &'static str },

    /// A text is none.
    #[error("a text is not valid UTF-8")]
    NotText,

    /// A length points beyond the end.
    #[error("a length of {length} does not fit in the {left} bytes that are left")]
    Length { length: u64, left: usize },

    /// A sequence said that it has another length than it has.
    #[error("a sequence of {found} elements was announced with {announced}")]
    Announced { announced: usize, found: usize },

    /// A sequence has too many elements without bytes.
    #[error(
        "a sequence of {elements} elements takes {bytes} bytes; elements that take no bytes are limited to \
         65536"
    )]
    Weightless { elements: usize, bytes: usize },

    /// Reading it back would need too much stack.
    #[error(
        "values lie more than 128 levels deep in each other; keep deep structures as a flat list of nodes"
    )]
    Depth,

    /// The rows were written in the form of numbers, which this type does not have.
    #[error("the bytes hold plain numbers or pairs of them")]
    NotFixed,

    /// The type can only be read from a format that says what comes next, such as JSON.
    #[error(
        "the type asks what comes next, which these bytes do not say; \
         remove serde's `untagged` or `tag` attribute from it"
    )]
    NotSelfDescribing,

    /// The type can only be read from a format that names its fields, such as JSON.
    #[error(
        "the type asks for the names of its fields, which these bytes do not hold; \
         remove serde's `flatten` or `tag` attribute from it"
    )]
    NotNamed,

    /// A field was left out, and a reader would take the next one in its place.
    #[error(
        "the field `{field}` is left out, and the bytes do not say so; \
         remove serde's `skip_serializing_if` attribute from it"
    )]
    FieldLeftOut { field: &'static str },

    /// The type writes other fields or variants than it reads.
    #[error("{mismatch}")]
    Asymmetric { mismatch: Box<Mismatch> },

    /// The type's own `Serialize` or `Deserialize` refused.
    #[error("{message}")]
    Refused { message: String },
}

impl serde::ser::Error for RowError {
    fn custom<M: fmt::Display>(message: M) -> Self {
        Self::Refused { message: message.to_string() }
    }
}

impl serde::de::Error for RowError {
    fn custom<M: fmt::Display>(message: M) -> Self {
        Self::Refused { message: message.to_string() }
    }
}
