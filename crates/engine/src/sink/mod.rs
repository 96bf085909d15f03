//! Where rows go: files that appear only when their task's commit was granted.

mod save;
mod save_rdd;

pub(crate) use save::save_objects;
pub use save_rdd::SaveRdd;
