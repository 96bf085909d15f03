//! The settings of one application: where their values come from, and how they are read.
//!
//! [`Conf`] holds what was set; which settings there are is the registry's business
//! ([`settings`](crate::settings)). A value in a program goes before one in the environment, that before
//! one in a file, that before the default.

mod environment;
mod error;
mod lines;
mod origin;
mod pools;
mod scheduler;
mod values;

#[cfg(test)]
mod tests;

pub use error::ConfError;
pub use origin::Origin;
pub use values::Conf;
