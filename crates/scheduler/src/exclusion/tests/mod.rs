//! Facts about exclusion, by the list they are about.

mod health;
mod task_set;
