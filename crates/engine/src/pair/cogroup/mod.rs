//! All values of each key of several RDDs, brought together.

mod adaptor;
mod groups;
mod spilled;

pub use adaptor::{Cogroup, Cogroup3, Cogroup4};
use groups::Groups;
pub(crate) use spilled::{Side, Together, two_sides};
