//! Spills at random points, regardless of free memory, for tests of what spills.

use std::cell::RefCell;

use firesteel_types::Rng;

thread_local! {
    static CHANCE: RefCell<Option<Chance>> = const { RefCell::new(None) };
}

struct Chance {
    rng: Rng,
    /// One look in so many ends in a spill.
    one_in: usize,
}

/// Runs `f`, where every structure of this thread spills at one in `one_in` looks, and looks after one to `one_in` rows.
pub(crate) fn with_random_spills<R>(seed: u64, one_in: usize, f: impl FnOnce() -> R) -> R {
    CHANCE.set(Some(Chance { rng: Rng::new(seed), one_in }));
    let result = f();
    CHANCE.set(None);
    result
}

/// Whether a structure that looks now has to spill, or finds no more memory.
pub(crate) fn strikes() -> bool {
    CHANCE.with_borrow_mut(|chance| {
        chance.as_mut().is_some_and(|Chance { rng, one_in }| rng.below(*one_in) == 0)
    })
}

/// Rows until the next look; `usual` where nothing is random.
pub(crate) fn rows_until_look(usual: u32) -> u32 {
    CHANCE.with_borrow_mut(|chance| match chance {
        Some(Chance { rng, one_in }) => 1 + rng.below(*one_in) as u32,
        None => usual,
    })
}
