//! How often and after which waits a broken transfer is tried again: [`Retry`].

use std::time::Duration;

use firesteel_types::Rng;

/// How often a transfer is tried, and how long it waits in between.
///
/// The wait doubles each time up to the longest, and a random part of it, up to a half, is left out: peers that lost
/// the same server do not all come back in the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Tries in all, the first included.
    pub max_tries: u32,
    /// The wait before the second try.
    pub first_wait: Duration,
    /// The longest wait.
    pub max_wait: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { max_tries: 4, first_wait: Duration::from_secs(1), max_wait: Duration::from_secs(30) }
    }
}

impl Retry {
    /// Tries once.
    pub const NEVER: Self = Self { max_tries: 1, first_wait: Duration::ZERO, max_wait: Duration::ZERO };

    /// The wait after the `tried`-th try, none when it was the last.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use firesteel_storage::transfer::Retry;
    /// use firesteel_types::Rng;
    ///
    /// let retry = Retry { max_tries: 3, first_wait: Duration::from_secs(2), max_wait: Duration::from_secs(60) };
    /// let wait = retry.wait_after(2, &mut Rng::new(1)).expect("a third try is allowed");
    /// assert!((Duration::from_secs(2)..=Duration::from_secs(4)).contains(&wait));
    /// assert_eq!(retry.wait_after(3, &mut Rng::new(1)), None);
    /// ```
    pub fn wait_after(&self, tried: u32, rng: &mut Rng) -> Option<Duration> {
        if tried >= self.max_tries {
            return None;
        }
        let doubled = 1_u32.checked_shl(tried.saturating_sub(1)).unwrap_or(u32::MAX);
        let whole = self.first_wait.saturating_mul(doubled).min(self.max_wait);
        let half_micros = usize::try_from(whole.as_micros() / 2).unwrap_or(usize::MAX);
        Some(whole.saturating_sub(Duration::from_micros(rng.below(half_micros) as u64)))
    }
}

/// The wait between two tries: a sleeping thread in production, none in tests.
pub trait Pause: Send + Sync {
    /// Returns after `wait`.
    fn pause(&self, wait: Duration);
}

/// Lets the calling thread sleep.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadPause;

impl Pause for ThreadPause {
    fn pause(&self, wait: Duration) {
        std::thread::sleep(wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_lose_at_most_a_half() {
        let retry = Retry {
            max_tries: 6,
            first_wait: Duration::from_millis(100),
            max_wait: Duration::from_millis(700),
        };
        let mut rng = Rng::new(1);

        for (tried, whole) in [(1, 100), (2, 200), (3, 400), (4, 700), (5, 700)] {
            let wait = retry.wait_after(tried, &mut rng).unwrap();
            assert!(wait <= Duration::from_millis(whole), "{wait:?} after {tried}");
            assert!(wait >= Duration::from_millis(whole / 2), "{wait:?} after {tried}");
        }
        assert_eq!(retry.wait_after(6, &mut rng), None);
    }

    #[test]
    fn waits_differ_from_peer_to_peer() {
        let waits: Vec<_> = (0..5).map(|seed| Retry::default().wait_after(1, &mut Rng::new(seed))).collect();

        assert!(waits.iter().any(|wait| *wait != waits[0]), "{waits:?}");
    }

    #[test]
    fn so_many_tries_that_the_doubling_overflows_wait_the_longest() {
        let retry = Retry { max_tries: u32::MAX, ..Retry::default() };

        assert!(retry.wait_after(500, &mut Rng::new(1)).unwrap() >= retry.max_wait / 2);
        assert_eq!(Retry::NEVER.wait_after(1, &mut Rng::new(1)), None);
    }
}
