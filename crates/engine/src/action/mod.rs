//! Actions: what makes an RDD run, by theme.
//!
//! What each of them does is a `JobFunction` or `Steps` of `job/`; those whose functions need an environment are methods of
//! [`With`](crate::With). The actions that write files are elsewhere.

mod actions;
mod approx;
mod collect;
mod count_actions;
mod fold;
mod fold_actions;
mod fours;
mod local_rows;
mod numbers;
mod numeric_actions;
mod order;
mod order_actions;
mod pair_actions;
mod partitions;
mod sample;
mod take;
mod tree;
mod with;
mod with_tree;

pub use actions::Actions;
pub use approx::PartialResult;
pub use count_actions::CountActions;
pub use fold_actions::FoldActions;
pub use local_rows::LocalRows;
pub use numbers::Number;
pub use numeric_actions::NumericActions;
pub use order_actions::OrderActions;
pub use pair_actions::PairActions;
