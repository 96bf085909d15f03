//! How operators cross processes: the only `unsafe` code of the engine.
//!
//! Driver and executors run the same executable. A [`Func`] keeps only the type of a closure that captures nothing, an
//! [`Entry`] names a monomorphised function by its distance from a static of the same image, and [`Ship`] writes and
//! reads everything else: environments, partition counts, shuffle ids. Does not open sockets and does not check
//! that both sides run the same build; the handshake between driver and executor does.

mod entry;
mod freeze;
mod func;

pub use entry::{Entry, ThawFn};
pub use freeze::{Frozen, Ship, ShipError, Thawing};
pub use func::{Func, captures_nothing};
