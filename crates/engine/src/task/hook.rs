//! What a panic inside a task said, and where.
//!
//! Only the panic hook knows the place of a panic. Ours keeps it for the task's report and prints nothing; panics
//! outside of tasks go on to the hook that was there before.

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    cell::RefCell,
    panic::{self, PanicHookInfo},
    sync::Once,
};

use super::TaskContext;
use crate::contain::{discard, payload_text};

thread_local! {
    static LAST: RefCell<Option<PanicRecord>> = const { RefCell::new(None) };
}

/// A panic as the user should read it.
#[derive(Debug)]
pub(crate) struct PanicRecord {
    /// What it said.
    pub(crate) message: String,
    /// The line that panicked.
    pub(crate) place: Option<String>,
    /// The way there, when `RUST_BACKTRACE` asks for it.
    pub(crate) backtrace: Option<String>,
}

/// Puts our hook in front of the process's hook, once.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| if TaskContext::is_set() { keep(info) } else { before(info) }));
    });
}

/// What the last panic of this thread said, if it was inside a task.
pub(crate) fn take() -> Option<PanicRecord> {
    LAST.take()
}

fn keep(info: &PanicHookInfo<'_>) {
    let backtrace = Backtrace::capture();
    let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
    let message = info.payload_as_str().unwrap_or("a panic whose payload is no text").to_owned();
    LAST.set(Some(PanicRecord { message, place: info.location().map(ToString::to_string), backtrace }));
}

/// The text of a panicked task's report.
pub(crate) fn panic_text(panic: Option<PanicRecord>, payload: Box<dyn std::any::Any + Send>) -> String {
    let text = payload_text(&*payload);
    discard(payload);
    // Without a record it was unwound with `resume_unwind` by user code, which runs no hook.
    let Some(PanicRecord { message, place, backtrace }) = panic else { return text };
    let place = place.map(|place| format!(", panicked at {place}")).unwrap_or_default();
    let backtrace = backtrace.map(|backtrace| format!("\n{backtrace}")).unwrap_or_default();
    format!("{message}{place}{backtrace}")
}
