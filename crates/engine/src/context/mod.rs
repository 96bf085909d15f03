//! The context: an application's way in.

mod builder;
mod cancel;
mod context;
mod listeners;
mod properties;

pub use builder::ContextBuilder;
pub use context::Context;
