//! The console progress bar: a line for each stage that takes long.
//!
//! [`ConsoleProgress`] is the listener and owns the thread that draws. `StageBars` decides which stages have a bar and
//! what it shows, with time as an argument; `Lines` puts that on the terminal.

mod bars;
mod console;
mod lines;

pub use console::ConsoleProgress;
