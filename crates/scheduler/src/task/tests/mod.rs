//! Tests of one task set manager, offered directly at a chosen level.

mod harness;
mod locality;
