//! What a type looks like in bytes: [`Shape`].
//!
//! The bytes of a row do not tell its type, so a file that outlives an application must record it. A shape is
//! found without a value: the type's `Deserialize` is run on made-up values by a deserializer that writes down what it
//! is asked for ([`trace`](mod@trace)), again and again until every variant of every enum was seen.
//!
//! Names of structs do not count, nor do newtypes, boxes and the kind of a collection; names and order of fields and
//! variants do. What cannot be seen, because a type refuses all made-up values, is `_` and equals nothing but `_`.

mod explore;
mod node;
#[cfg(test)]
mod tests;
mod text;
mod trace;

pub(super) use explore::{Explored, explore_values};
pub use text::Shape;
