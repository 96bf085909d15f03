//! The context: an application's way in.

mod application;
mod builder;
mod cancel;
mod listeners;
mod properties;

pub use application::Context;
pub use builder::ContextBuilder;
