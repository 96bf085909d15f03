//! What a master shows: its workers, applications and drivers.
//!
//! `/` is the overview, `/app/?appId=…` one application, `/json` everything in the shape of Spark's master.

mod json;
mod page;
mod routes;
mod source;

#[cfg(test)]
mod tests;

pub use source::MasterSource;
