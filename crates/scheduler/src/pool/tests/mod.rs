//! Tests of the pool tree, and what they share.

mod harness;
mod model;
mod order;
mod placement;
mod rounds;
