//! The context: an application's way in.

mod builder;
mod context;

pub use builder::ContextBuilder;
pub use context::Context;
