//! Looking now and then whether a structure has to spill: [`Watch`].

use std::borrow::Cow;

use firesteel_storage::memory::{Consumer, Reserve, is_counting, meter};

use crate::executor::{TaskContext, abort_out_of_memory};

/// Rows between two looks.
const ROWS: u32 = 64;

/// A structure of the running task that can spill, and when to look next whether it must.
pub(crate) struct Watch {
    consumer: Consumer,
    until_look: u32,
    /// What the task held before the structure was made.
    before: i64,
}

/// What a structure holds and will need next, as far as it knows itself.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    /// Its own memory, without what rows own elsewhere.
    pub(crate) held: usize,
    /// What its next growth needs at once, if that is near.
    pub(crate) growth: usize,
}

impl Size {
    /// The same, of a structure that is spilled by way of a copy.
    pub(crate) fn and_copied(self) -> Self {
        Self { growth: self.growth + self.held, ..self }
    }
}

impl Watch {
    /// Watches a structure that is empty now.
    pub(crate) fn new(name: impl Into<Cow<'static, str>>, task: &TaskContext) -> Self {
        Self { consumer: task.consumer(name), until_look: rows_until_look(), before: meter::live() }
    }

    /// Counts a row; says whether it is time to look.
    #[inline]
    pub(crate) fn tick(&mut self) -> bool {
        self.ticks(1)
    }

    /// Counts several rows; says whether it is time to look.
    #[inline]
    pub(crate) fn ticks(&mut self, rows: u32) -> bool {
        self.until_look = self.until_look.saturating_sub(rows);
        self.until_look == 0
    }

    /// Whether the structure has to spill. Ends the task if it is beyond its share and nothing can be spilled.
    #[cold]
    pub(crate) fn must_spill(&mut self, size: Size) -> bool {
        self.until_look = rows_until_look();
        #[cfg(test)]
        if super::chance::strikes() {
            return true;
        }
        let held = if is_counting() { self.measured_bytes() } else { size.held as u64 };
        self.consumer.set_held(held);
        // The growth is counted as if it had happened, so that it does not come as a surprise.
        meter::adopt(size.growth as u64);
        let is_short = self.consumer.is_asked_to_spill() || self.consumer.is_short();
        let verdict = if is_short { self.consumer.reserve() } else { Ok(Reserve::Granted) };
        meter::hand_over(size.growth as u64);
        match verdict {
            Ok(Reserve::Granted) => false,
            Ok(Reserve::Spill) => true,
            Err(out_of_share) => abort_out_of_memory(&out_of_share),
        }
    }

    /// What the task holds more than before the structure was made; nothing where nobody counts.
    pub(crate) fn measured_bytes(&self) -> u64 {
        (meter::live() - self.before).max(0).cast_unsigned()
    }

    /// The structure was spilled and holds nothing any more.
    pub(crate) fn spilled(&self) {
        self.consumer.spilled(0);
    }

    /// Whether another structure of the task needs the memory of this one.
    #[inline]
    pub(crate) fn is_asked_to_spill(&self) -> bool {
        #[cfg(test)]
        if super::chance::strikes() {
            return true;
        }
        self.consumer.is_asked_to_spill()
    }

    /// The structure can no longer spill.
    pub(crate) fn pin(&self) {
        self.consumer.pin();
    }
}

/// Rows until the next look. Tests make them random.
fn rows_until_look() -> u32 {
    #[cfg(test)]
    return super::chance::rows_until_look(ROWS);
    #[cfg(not(test))]
    ROWS
}
