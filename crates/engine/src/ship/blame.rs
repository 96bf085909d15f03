//! Which operator's function was running when a task failed.

use std::cell::Cell;

use firesteel_types::RddId;

thread_local! {
    static BLAMED: Cell<Option<Option<RddId>>> = const { Cell::new(None) };
}

/// A guard around the call of a user's function: if the call unwinds, its operator is remembered.
///
/// Costs nothing while all goes well: only the unwinder runs its `drop`, and a function that cannot panic has no
/// unwinder. The innermost guard runs first and the first one counts.
#[derive(Debug)]
#[must_use]
pub struct Blame(Option<RddId>);

impl Blame {
    /// Blames the operator that makes `operator`.
    #[inline(always)]
    pub const fn new(operator: RddId) -> Self {
        Self(Some(operator))
    }

    /// Blames no operator: for what runs inside of a guarded call, but is not part of it.
    #[inline(always)]
    pub const fn none() -> Self {
        Self(None)
    }

    /// Runs `call` under this guard.
    #[inline(always)]
    pub fn on<T>(self, call: impl FnOnce() -> T) -> T {
        let value = call();
        std::mem::forget(self);
        value
    }
}

impl Drop for Blame {
    #[cold]
    fn drop(&mut self) {
        if BLAMED.get().is_none() {
            BLAMED.set(Some(self.0));
        }
    }
}

/// The operator blamed since the last call, if any.
pub(crate) fn take_blamed() -> Option<RddId> {
    BLAMED.take().flatten()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;

    #[test]
    fn the_innermost_operator_is_blamed_and_only_once() {
        let nested = || Blame::new(RddId(1)).on(|| Blame::new(RddId(2)).on(|| resume_unwind(Box::new(()))));
        let _: Result<(), _> = catch_unwind(AssertUnwindSafe(nested));

        assert_eq!(take_blamed(), Some(RddId(2)));
        assert_eq!(take_blamed(), None);
    }

    #[test]
    fn what_runs_inside_of_a_guarded_call_can_be_spared() {
        let nested = || Blame::new(RddId(1)).on(|| Blame::none().on(|| resume_unwind(Box::new(()))));
        let _: Result<(), _> = catch_unwind(AssertUnwindSafe(nested));

        assert_eq!(take_blamed(), None);
    }

    #[test]
    fn a_call_that_returns_blames_nobody() {
        assert_eq!(Blame::new(RddId(1)).on(|| 7), 7);
        assert_eq!(take_blamed(), None);
    }
}
