//! How operators cross processes: the only `unsafe` code of the engine.
//!
//! Driver and executors run the same executable. A [`Func`] keeps only the type of a closure that captures nothing, an
//! [`Entry`] names a monomorphised function by the place of its record in the same image, and [`Ship`] writes and
//! reads everything else: environments, partition counts, shuffle ids.
//!
//! The shipped form is a sequence of items, each with its kind and length in front: values, entry points, functions. Wrong
//! bytes are an error and never a jump, whether they were damaged or an operator of the user's own reads what it did not
//! write: an entry point is used only if a record for the wanted type lies where it points, a function only if its type
//! was written, and values are read by the codec of all rows, each to its end. Does not open sockets and does not check
//! that both sides run the same build; the handshake between driver and executor does.

mod blame;
mod entry;
mod freeze;
mod func;
mod image;
mod type_id;

pub use blame::Blame;
pub(crate) use blame::take_blamed;
pub use entry::{Entry, Thaw, ThawFn};
pub use freeze::{Frozen, Ship, ShipError, Thawing};
pub use func::{Func, captures_nothing};
pub(crate) use image::Image;
use type_id::id_bytes;
