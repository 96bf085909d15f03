//! What a type looks like in bytes: [`Shape`].
//!
//! The bytes of a row say nothing about its type, so a file that outlives an application needs a word on it. A shape is
//! found without a value: the type's `Deserialize` is run on made-up values by a deserializer that writes down what it
//! is asked for ([`trace`](mod@trace)), again and again until every variant of every enum was seen.
//!
//! Names of structs do not count, nor do newtypes, boxes and the kind of a collection; names and order of fields and
//! variants do. What cannot be seen, because a type refuses all made-up values, is `_` and equals nothing but `_`.

mod node;
#[cfg(test)]
mod tests;
mod trace;

use std::fmt;

use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_128;

use super::format::RowError;
use node::Tree;

/// The text of a shape is not longer than this.
const TEXT_MAX: usize = 4096;

/// What the values of a type look like, as text.
///
/// ```
/// use firesteel_storage::codec::Shape;
///
/// assert_eq!(Shape::of::<(u64, Option<String>)>()?.to_string(), "(u64, Option<String>)");
/// # Ok::<(), firesteel_storage::codec::format::RowError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape(String);

impl Shape {
    /// The shape of `T`. Fails for a type that no bytes of this codec can be read as.
    pub fn of<T: DeserializeOwned>() -> Result<Self, RowError> {
        let mut tree = Tree::default();
        trace::explore::<T>(&mut tree)?;
        Ok(Self::shortened(tree.text()))
    }

    /// The shape with this text, from a file.
    pub fn from_text(text: String) -> Self {
        Self::shortened(text)
    }

    /// The shape as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A long text as its beginning and a hash of all of it.
    fn shortened(mut text: String) -> Self {
        if text.len() > TEXT_MAX {
            let hash = xxh3_128(text.as_bytes());
            text.truncate(text.floor_char_boundary(TEXT_MAX - 64));
            text.push_str(&format!("… #{hash:032x}"));
        }
        Self(text)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
