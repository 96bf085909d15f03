//! Keeps a panic of the user's code from going further: [`contain`] and [`discard`].
//!
//! For places without a caller to report to: between two tasks, in a turn of the scheduler, in a `drop`.

use std::{
    any::Any,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Runs `call`; if it panics, gives what the panic said.
pub(crate) fn contain<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| {
        let text = payload_text(&*payload);
        discard(payload);
        text
    })
}

/// Drops a value that may be the user's; a panic is logged.
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(value))) {
        tracing::error!(message = payload_text(&*payload), "dropping a value panicked");
        // Its own drop may panic too, and so on; what is left is too small to matter.
        mem::forget(payload);
    }
}

/// What a panic said, as far as its payload is text.
pub(crate) fn payload_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic whose payload is no text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Self);
        }
    }

    #[test]
    fn a_payload_that_panics_when_it_is_dropped_is_contained() {
        discard(Bomb);

        assert_eq!(
            contain(|| std::panic::panic_any(Bomb)),
            Err("a panic whose payload is no text".to_owned())
        );
        assert_eq!(contain(|| panic!("once")), Err::<(), _>("once".to_owned()));
        assert_eq!(contain(|| 7), Ok(7));
    }
}
