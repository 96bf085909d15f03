//! Messages over a connection, both ways: [`Line`].
//!
//! A line has one thread that reads and gives what arrived to its [`Handler`]. There is no thread that writes as long
//! as the socket takes what is sent: `send` writes on the thread of its caller, without waiting. Only what the socket
//! does not take at once is left to a writer, which is started for it and goes away when it has nothing to do.
//!
//! ```text
//! frame := length body        length: four bytes, little-endian; body: postcard
//!        | ff ff ff ff        a ping: I am alive
//!        | fe ff ff ff        goodbye: this was all
//! ```
//!
//! A line ends in order when one side says goodbye; an end without it is a broken line, for example because the peer's
//! process died. Does not connect again: who needs that makes a new line.

mod closed;
mod conf;
mod core;
mod end;
mod handler;
mod inbox;
mod pulse;
mod queue;
mod reader;
mod wire;

pub use closed::{Closed, SendError};
pub use conf::LineConf;
pub use end::Line;
pub use handler::Handler;

pub(crate) use self::{core::Core, reader::STACK_BYTES};
