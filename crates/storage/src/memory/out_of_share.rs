//! [`OutOfShare`]: a task needs more memory than it can have.

use std::{borrow::Cow, fmt};

use firesteel_types::AttemptId;

use super::amount::Amount;

/// A task holds more than its share of the memory, and none of that can be spilled.
///
/// The message tells which consumers hold what, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct OutOfShare {
    /// The task.
    pub attempt: AttemptId,
    /// What it holds.
    pub held: u64,
    /// What it may hold.
    pub share: u64,
    /// How many tasks divide the budget.
    pub tasks: usize,
    /// The budget.
    pub budget: u64,
    /// What its consumers hold.
    pub consumers: Vec<ConsumerHolding>,
}

/// What one consumer of a task holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerHolding {
    /// Its name.
    pub name: Cow<'static, str>,
    /// What it holds.
    pub held: u64,
}

impl OutOfShare {
    /// What the task holds outside of its consumers: rows in flight, and what user functions keep.
    pub fn rest(&self) -> u64 {
        self.held.saturating_sub(self.consumers.iter().map(|consumer| consumer.held).sum())
    }
}

impl fmt::Display for OutOfShare {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { attempt, held, share, tasks, budget, consumers } = self;
        let s = if *tasks == 1 { "" } else { "s" };
        write!(
            out,
            "{attempt} holds {} of memory, its share is {} ({tasks} task{s} divide {}): ",
            Amount(*held),
            Amount(*share),
            Amount(*budget)
        )?;
        for ConsumerHolding { name, held } in consumers {
            write!(out, "{name} {}, ", Amount(*held))?;
        }
        write!(
            out,
            "rows and closures {}; use more partitions, or raise firesteel.executor.memory \
             (firesteel.memory.limit in local mode)",
            Amount(self.rest())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_who_holds_what_and_what_helps() {
        let holding = |name: &'static str, held| ConsumerHolding { name: name.into(), held };
        let error = OutOfShare {
            attempt: AttemptId(7),
            held: 3 << 30,
            share: 1 << 30,
            tasks: 2,
            budget: 2 << 30,
            consumers: vec![holding("sort buffer", 512 << 20), holding("hash table", 1 << 20)],
        };

        assert_eq!(
            error.to_string(),
            "attempt-7 holds 3.0 GiB of memory, its share is 1.0 GiB (2 tasks divide 2.0 GiB): \
             sort buffer 512.0 MiB, hash table 1.0 MiB, rows and closures 2.5 GiB; use more partitions, or raise \
             firesteel.executor.memory (firesteel.memory.limit in local mode)"
        );
    }
}
