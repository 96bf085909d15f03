//! What commands print.

use std::io::{Write, stdout};

/// Prints lines on standard output. The reader may close the pipe early, as `head` does.
pub(crate) fn print(text: &str) {
    let mut out = stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Tells something beside the result, on standard error.
#[expect(clippy::print_stderr, reason = "what a command tells beside its result")]
pub(crate) fn tell(text: &str) {
    eprintln!("{text}");
}
