//! Pages as text: [`Page`] and what stands on it. All text is escaped; there is no way around.

mod amounts;
mod cell;
mod escape;
mod page;
mod table;

pub(crate) use amounts::{bytes, clock_time, duration, mebibytes, now};
pub(crate) use cell::Cell;
pub(crate) use escape::link;
pub(crate) use page::Page;
pub(crate) use table::Table;
