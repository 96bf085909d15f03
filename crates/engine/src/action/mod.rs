//! Actions: what makes an RDD run.

mod actions;
mod function;
mod handle;
mod run;

pub use actions::Actions;
pub(crate) use function::{JobFunction, ResultTask};
pub use handle::JobHandle;
pub(crate) use run::{Call, Next, Steps};
