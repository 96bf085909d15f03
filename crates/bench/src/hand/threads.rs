//! Two threads that do the same to their halves.

use std::{ops::Range, thread};

/// How many threads a program by hand has.
pub const THREADS: usize = 2;

/// What `f` gives on each thread, called with the thread's number.
pub fn both<T: Send>(f: impl Fn(usize) -> T + Sync) -> [T; THREADS] {
    thread::scope(|scope| {
        let f = &f;
        let second = scope.spawn(move || f(1));
        let first = f(0);
        [first, second.join().expect("a thread of a program by hand does not panic")]
    })
}

/// The part of `0..rows` that belongs to a thread.
pub fn share(rows: u64, thread: usize) -> Range<u64> {
    let bound = |thread: usize| rows * thread as u64 / THREADS as u64;
    bound(thread)..bound(thread + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_everything_once() {
        for rows in [0, 1, 2, 7] {
            let all: Vec<u64> = both(|thread| share(rows, thread)).into_iter().flatten().collect();

            assert_eq!(all, (0..rows).collect::<Vec<_>>());
        }
    }
}
