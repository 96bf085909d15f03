//! All values of each key of several RDDs, brought together.

mod adaptor;
mod groups;

pub use adaptor::{Cogroup, Cogroup3, Cogroup4};
use groups::Groups;
