//! The listener that draws, and its thread: [`ConsoleProgress`].

use std::{
    fmt, io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Instant,
};

use firesteel_types::{ListenerEvent, Timestamp};
use indicatif::ProgressDrawTarget;
use parking_lot::{Condvar, Mutex};

use super::{
    bars::{Pace, StageBars},
    lines::Lines,
};
use crate::Listener;

/// Shows on the terminal how far the running stages are.
///
/// Each stage that runs for more than half a second has a line such as `[Stage 3:====>      (12 + 4) / 100]`: 12
/// tasks are done, 4 run, of 100. At most three are shown at once, drawn at most five times a second, and gone when
/// the stage ends.
///
/// It is a cheap handle: clone it, give one to the [`ListenerBus`](crate::ListenerBus), and keep the other
/// to [`clear`](Self::clear) the screen. Events only count; a thread of its own draws, so a terminal that blocks
/// delays no listener. When the last handle is dropped, the bars are removed and the thread ends.
#[derive(Clone)]
pub struct ConsoleProgress {
    shared: Arc<Shared>,
    _thread: Arc<Drawer>,
}

/// A thread that takes both locks takes `lines` first.
struct Shared {
    lines: Mutex<Lines>,
    watched: Mutex<Watched>,
    changed: Condvar,
    started: Instant,
}

struct Watched {
    bars: StageBars,
    /// Whether the thread waits for an event, and for nothing else.
    is_parked: bool,
    is_closed: bool,
}

impl ConsoleProgress {
    /// Draws on standard error.
    ///
    /// `None` if that is not wanted, or is no terminal that can move its cursor: then not a single byte is written.
    ///
    /// ```
    /// use firesteel::listener::{ConsoleProgress, ListenerBus};
    ///
    /// let bus = ListenerBus::new();
    /// let is_wanted = false;
    /// let progress = ConsoleProgress::on_stderr(is_wanted);
    /// if let Some(progress) = &progress {
    ///     bus.add("progress", progress.clone())?;
    /// }
    ///
    /// assert!(progress.is_none());
    /// # Ok::<(), firesteel::listener::BusError>(())
    /// ```
    pub fn on_stderr(is_enabled: bool) -> Option<Self> {
        // Asked first, so that the terminal is not touched where bars are disabled.
        let target = if is_enabled { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self::start(target, Pace::default())
    }

    fn start(target: ProgressDrawTarget, pace: Pace) -> Option<Self> {
        if target.is_hidden() {
            return None;
        }
        let watched = Watched { bars: StageBars::new(pace), is_parked: false, is_closed: false };
        let shared = Arc::new(Shared {
            lines: Mutex::new(Lines::new(target)),
            watched: Mutex::new(watched),
            changed: Condvar::new(),
            started: Instant::now(),
        });
        match Drawer::start(shared.clone()) {
            Ok(drawer) => Some(Self { shared, _thread: Arc::new(drawer) }),
            Err(error) => {
                tracing::warn!(%error, "no progress bar: its thread cannot be started");
                None
            }
        }
    }

    /// Removes all bars now; those of stages that still run come back with the next frame.
    ///
    /// Called when a job ends, so that what the application prints next does not meet a bar that is on its way out.
    pub fn clear(&self) {
        let mut lines = self.shared.lines.lock();
        self.shared.watched.lock().bars.on_cleared(self.shared.now());
        lines.draw(&[]);
    }

    /// Runs `f`, which writes to the terminal, while no bar is on the screen.
    ///
    /// Lines that are written beside the bars without this may be overwritten by them.
    pub fn suspend<R>(&self, f: impl FnOnce() -> R) -> R {
        self.shared.lines.lock().suspend(f)
    }
}

impl Listener for ConsoleProgress {
    fn on_event(&mut self, event: &ListenerEvent) {
        let now = self.shared.now();
        let mut watched = self.shared.watched.lock();
        watched.bars.on_event(now, event);
        if watched.bars.is_stale() || watched.is_parked && !watched.bars.is_idle() {
            watched.is_parked = false;
            drop(watched);
            self.shared.changed.notify_one();
        }
    }
}

impl fmt::Debug for ConsoleProgress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ConsoleProgress").finish_non_exhaustive()
    }
}

impl Shared {
    /// A clock of its own: how long a stage was on the screen does not depend on the scheduler's.
    fn now(&self) -> Timestamp {
        Timestamp::ZERO + self.started.elapsed()
    }

    /// Waits until a frame is due; false when there will be none.
    fn wait_for_frame(&self) -> bool {
        let mut watched = self.watched.lock();
        while !watched.is_closed {
            let now = self.now();
            match watched.bars.next_frame() {
                Some(next) if next <= now => return true,
                Some(next) => {
                    self.changed.wait_for(&mut watched, next.since(now));
                }
                None => {
                    watched.is_parked = true;
                    self.changed.wait(&mut watched);
                }
            }
        }
        false
    }

    fn draw(&self) {
        let mut lines = self.lines.lock();
        let mut watched = self.watched.lock();
        let now = self.now();
        // The screen may have been cleared since.
        if watched.bars.next_frame().is_some_and(|next| next <= now) {
            let frame = watched.bars.frame(now);
            drop(watched);
            lines.draw(&frame);
        }
    }
}

/// The thread, which ends with the last handle.
struct Drawer {
    shared: Arc<Shared>,
    handle: Option<JoinHandle<()>>,
}

impl Drawer {
    fn start(shared: Arc<Shared>) -> io::Result<Self> {
        let of_thread = shared.clone();
        let run = move || {
            while of_thread.wait_for_frame() {
                of_thread.draw();
            }
        };
        let handle = thread::Builder::new().name("progress-bar".to_owned()).spawn(run)?;
        Ok(Self { shared, handle: Some(handle) })
    }
}

impl Drop for Drawer {
    fn drop(&mut self) {
        self.shared.watched.lock().is_closed = true;
        self.shared.changed.notify_one();
        // Then the lines are dropped, and so go from the screen: later output finds it clean.
        if let Some(handle) = self.handle.take()
            && handle.join().is_err()
        {
            tracing::error!("the thread of the progress bar panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use indicatif::InMemoryTerm;

    use super::*;
    use crate::sample::{completed, info, submitted, success, task};

    const AT_ONCE: Pace = Pace { delay: Duration::ZERO, every: Duration::ZERO };
    const NEVER_AGAIN: Pace = Pace { delay: Duration::ZERO, every: Duration::from_secs(1_000_000) };

    fn target(terminal: &InMemoryTerm) -> ProgressDrawTarget {
        ProgressDrawTarget::term_like(Box::new(terminal.clone()))
    }

    /// Waits for what the drawing thread does.
    fn wait_until(terminal: &InMemoryTerm, holds: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !holds(&terminal.contents()) {
            assert!(Instant::now() < deadline, "still on the screen: {:?}", terminal.contents());
            thread::yield_now();
        }
    }

    #[test]
    fn bars_come_and_go_with_their_stages() {
        let terminal = InMemoryTerm::new(5, 40);
        let mut progress = ConsoleProgress::start(target(&terminal), AT_ONCE).unwrap();
        let (first, second) = (info(1, 0, 2), info(2, 0, 2));

        progress.on_event(&submitted(&first));
        wait_until(&terminal, |text| text == "[Stage 1:                   (0 + 0) / 2]");
        for event in success(first.id, task(0, 1)) {
            progress.on_event(&event);
        }
        wait_until(&terminal, |text| text.ends_with("(1 + 0) / 2]"));
        progress.on_event(&completed(&first));
        wait_until(&terminal, str::is_empty);

        progress.on_event(&submitted(&second));
        wait_until(&terminal, |text| text.starts_with("[Stage 2:"));
    }

    #[test]
    fn a_bar_goes_at_once_when_the_screen_is_cleared() {
        let terminal = InMemoryTerm::new(5, 40);
        let mut progress = ConsoleProgress::start(target(&terminal), NEVER_AGAIN).unwrap();
        progress.on_event(&submitted(&info(1, 0, 2)));
        wait_until(&terminal, |text| text.starts_with("[Stage 1:"));

        progress.clear();

        assert_eq!(terminal.contents(), "");
    }

    #[test]
    fn a_bar_goes_at_once_when_its_stage_ends() {
        // Many times, because the thread may look by itself before it falls asleep.
        for _ in 0..50 {
            let terminal = InMemoryTerm::new(5, 40);
            let mut progress = ConsoleProgress::start(target(&terminal), NEVER_AGAIN).unwrap();
            progress.on_event(&submitted(&info(2, 0, 2)));
            wait_until(&terminal, |text| text.starts_with("[Stage 2:"));
            drop(progress.shared.lines.lock());
            thread::yield_now();

            progress.on_event(&completed(&info(2, 0, 2)));

            wait_until(&terminal, str::is_empty);
        }
    }

    #[test]
    fn the_last_handle_leaves_a_clean_screen() {
        let terminal = InMemoryTerm::new(5, 40);
        let mut progress = ConsoleProgress::start(target(&terminal), AT_ONCE).unwrap();
        progress.on_event(&submitted(&info(1, 0, 2)));
        wait_until(&terminal, |text| text.starts_with("[Stage 1:"));
        let other = progress.clone();

        drop(progress);
        // One handle is left. The thread may be in the middle of its first frame, which clears the line before it writes it.
        wait_until(&terminal, |text| !text.is_empty());
        drop(other);

        assert_eq!(terminal.contents(), "");
    }

    #[test]
    fn there_is_no_bar_without_a_terminal_or_if_it_is_not_wanted() {
        assert!(ConsoleProgress::start(ProgressDrawTarget::hidden(), AT_ONCE).is_none());
        assert!(ConsoleProgress::on_stderr(false).is_none());
    }
}
