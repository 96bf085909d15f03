//! Running the jobs of a case and comparing what they give.

mod check;
mod files;
mod folds;
mod keyed;
mod orders;
mod special;

pub(crate) use check::{Setting, Trouble, check};
use check::{compare_codes, compare_rows, equal, same};
