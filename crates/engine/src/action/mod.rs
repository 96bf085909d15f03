//! Actions: what makes an RDD run.
//!
//! An action is a [`Call`] (its name and line) with a [`JobFunction`] (what each task does with its rows) or [`Steps`]
//! (one job after the other). Traits list them by theme; those whose functions need an environment are methods of
//! [`With`](crate::With). The actions that write files are elsewhere.

mod actions;
mod approx;
mod collect;
mod count_actions;
mod flow;
mod fold;
mod fold_actions;
mod fours;
mod function;
mod handle;
mod local_rows;
mod numbers;
mod numeric_actions;
mod order;
mod order_actions;
mod pair_actions;
mod partitions;
mod progress;
mod run;
mod sample;
mod take;
mod tree;
mod with;
mod with_tree;

pub use actions::Actions;
pub use approx::PartialResult;
pub use count_actions::CountActions;
pub use fold_actions::FoldActions;
pub(crate) use function::{JobFunction, ResultTask};
pub use handle::JobHandle;
pub use local_rows::LocalRows;
pub use numbers::Number;
pub use numeric_actions::NumericActions;
pub use order_actions::OrderActions;
pub use pair_actions::PairActions;
pub use progress::{JobProgress, JobState};
pub(crate) use run::{Call, Finish, Next, Steps, submission};
