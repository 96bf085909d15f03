//! Tests of the resource ledger and of the profiles.

mod executor_resources;
mod harness;
mod profiles;
