//! Questions that wait for answers: [`Asks`].

use std::{
    fmt,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use hashbrown::HashMap;
use parking_lot::Mutex;

/// Matches answers that arrive on a line with the questions that were sent on it.
///
/// The asking side begins a question and sends its number along; the line's handler gives answers by number. Clones
/// are the same.
///
/// ```
/// use std::time::Duration;
///
/// use firesteel_net::Asks;
///
/// let asks = Asks::default();
/// let (id, pending) = asks.begin();
/// assert!(asks.answer(id, "an answer"));
/// assert_eq!(pending.wait(Duration::from_secs(1)), Some("an answer"));
/// assert!(!asks.answer(id, "too late"));
/// ```
pub struct Asks<T> {
    table: Arc<Mutex<Table<T>>>,
}

struct Table<T> {
    waiting: HashMap<u64, Sender<T>>,
    next: u64,
    closed: bool,
}

/// A question without an answer yet. Dropped, it is forgotten.
pub struct Pending<T> {
    id: u64,
    answer: Receiver<T>,
    asks: Asks<T>,
}

impl<T> Asks<T> {
    /// Makes the number of a new question and something to wait for its answer with.
    pub fn begin(&self) -> (u64, Pending<T>) {
        let (sender, answer) = channel();
        let mut table = self.table.lock();
        let id = table.next;
        table.next += 1;
        if !table.closed {
            table.waiting.insert(id, sender);
        }
        (id, Pending { id, answer, asks: self.clone() })
    }

    /// Delivers an answer; returns false if the request was given up.
    pub fn answer(&self, id: u64, value: T) -> bool {
        let waiting = self.table.lock().waiting.remove(&id);
        waiting.is_some_and(|waiting| waiting.send(value).is_ok())
    }

    /// Ends all waiting, now and for ever, without answers: for the end of the line.
    pub fn close(&self) {
        let mut table = self.table.lock();
        table.closed = true;
        table.waiting.clear();
    }
}

impl<T> Pending<T> {
    /// Waits for the answer; none when it does not come in time or never will.
    pub fn wait(self, timeout: Duration) -> Option<T> {
        self.answer.recv_timeout(timeout).ok()
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.asks.table.lock().waiting.remove(&self.id);
    }
}

impl<T> Default for Asks<T> {
    fn default() -> Self {
        let table = Table { waiting: HashMap::new(), next: 0, closed: false };
        Self { table: Arc::new(Mutex::new(table)) }
    }
}

impl<T> Clone for Asks<T> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone() }
    }
}

impl<T> fmt::Debug for Asks<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Asks").field("waiting", &self.table.lock().waiting.len()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Pending").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Longer than anything takes that works.
    const GUARD: Duration = Duration::from_secs(30);

    #[test]
    fn answers_find_their_questions_in_any_order() {
        let asks = Asks::default();
        let pending: Vec<_> = (0..5).map(|_| asks.begin()).collect();
        let answering = asks.clone();
        let ids: Vec<_> = pending.iter().map(|(id, _)| *id).rev().collect();
        let thread =
            thread::spawn(move || ids.into_iter().for_each(|id| assert!(answering.answer(id, id * 10))));

        for (id, pending) in pending {
            assert_eq!(pending.wait(GUARD), Some(id * 10));
        }
        thread.join().unwrap();
    }

    #[test]
    fn closing_wakes_those_who_wait_and_those_who_will() {
        let asks = Asks::<()>::default();
        let (id, pending) = asks.begin();
        let closing = asks.clone();
        let thread = thread::spawn(move || closing.close());

        assert_eq!(pending.wait(GUARD), None);
        thread.join().unwrap();
        assert_eq!(asks.begin().1.wait(GUARD), None);
        assert!(!asks.answer(id, ()));
    }

    #[test]
    fn a_question_that_nobody_waits_for_is_forgotten() {
        let asks = Asks::default();
        let (late, pending) = asks.begin();
        assert_eq!(pending.wait(Duration::ZERO), None);
        let (dropped, pending) = asks.begin();
        drop(pending);

        assert!(!asks.answer(late, 1) && !asks.answer(dropped, 2));
        assert_eq!(format!("{asks:?}"), "Asks { waiting: 0, .. }");
    }
}
