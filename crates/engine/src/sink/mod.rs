//! Where rows go: files that the driver publishes when all of their tasks have succeeded.

mod save;
mod save_rdd;

pub(crate) use save::save_objects;
pub use save_rdd::SaveRdd;
