//! The context: an application's way in.

mod application;
mod builder;
mod cancel;
mod checkpoint_dir;
mod listeners;
mod properties;

pub use application::Context;
pub use builder::ContextBuilder;
