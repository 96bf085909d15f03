//! A shape as text: [`Shape`].

use std::fmt::{self, Write as _};

use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_128;

use super::explore::explore;
use super::node::{Goal, Tree};
use crate::codec::format::RowError;

/// The text of a shape is not longer than this.
pub(super) const TEXT_MAX: usize = 4096;

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
        let mut tree = Tree::new(Goal::Seen);
        explore::<T>(&mut tree, |_| true)?;
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
            // Writing to a string does not fail.
            let _ = write!(text, "… #{hash:032x}");
        }
        Self(text)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
