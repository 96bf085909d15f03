//! From a call to its value: the jobs that an action, or an operator that needs to know something first, runs.
//!
//! A [`Call`] (name and line) with a [`JobFunction`] (what each task does with its rows), or [`Steps`] (one job after the
//! other), becomes a flow; [`JobHandle`] is what the application has of it. The actions themselves are in `action/`.

mod call;
mod flow;
mod job_handle;
mod progress;
mod result_task;

pub(crate) use call::{Call, Finish, Next, Steps, listed, submission};
pub use job_handle::JobHandle;
pub use progress::{JobProgress, JobState};
pub(crate) use result_task::{JobFunction, ResultTask};
