//! Signs of life for the driver: [`Heartbeat`].

use std::{
    io,
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};

use firesteel_scheduler::heartbeat::{HeartbeatConfig, HeartbeatSender, SenderAction};
use firesteel_storage::block::Answer as BlockAnswer;
use firesteel_types::{Rng, Timestamp};
use parking_lot::{Condvar, Mutex};

use super::{End, Process, running::Running};
use crate::protocol::ToDriver;

/// The driver's answers to heartbeats, for the thread that sends them.
#[derive(Default)]
pub(super) struct Heartbeat {
    /// Whether the driver knows the blocks of this executor, once it has answered the last heartbeat.
    answer: Mutex<Option<bool>>,
    answered: Condvar,
}

impl Heartbeat {
    /// Starts the thread, which ends with `running`.
    pub(super) fn start(
        self: &Arc<Self>,
        process: &Arc<Process>,
        running: &Arc<Running>,
        config: &HeartbeatConfig,
        seed: u64,
    ) -> io::Result<()> {
        let (began, mut rng) = (Instant::now(), Rng::new(seed));
        let sender = HeartbeatSender::new(config, Timestamp(0), &mut rng);
        let (heartbeat, process, running) = (self.clone(), Arc::downgrade(process), Arc::downgrade(running));
        let interval = config.interval;
        let thread = thread::Builder::new().name("firesteel-heartbeat".to_owned());
        thread.spawn(move || heartbeat.run(&process, &running, sender, began, interval)).map(drop)
    }

    /// The driver has answered.
    pub(super) fn answered(&self, registered: bool) {
        *self.answer.lock() = Some(registered);
        self.answered.notify_one();
    }

    fn run(
        &self,
        process: &Weak<Process>,
        running: &Weak<Running>,
        mut sender: HeartbeatSender,
        began: Instant,
        interval: Duration,
    ) {
        loop {
            let due = began + Duration::from_micros(sender.next_send().0);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let Some(running) = running.upgrade() else { return };
            self.answer.lock().take();
            let sent = running.driver.tell(&ToDriver::Heartbeat { running: running.executor.figures() });
            sender.on_sent(Timestamp(began.elapsed().as_micros() as u64));
            let action = match sent.ok().and_then(|()| self.wait(interval)) {
                Some(registered) => sender.on_reply(!registered),
                None => sender.on_failed(),
            };
            match action {
                SenderAction::Continue => (),
                SenderAction::ReregisterBlockManager => {
                    let manager = running.environment.blocks.manager();
                    manager.on_answer(BlockAnswer::NotRegistered);
                    if manager.is_refused() {
                        end(process, End::BlocksRefused);
                    }
                }
                SenderAction::Exit { code } => end(process, End::Silenced { code }),
            }
        }
    }

    fn wait(&self, timeout: Duration) -> Option<bool> {
        let until = Instant::now() + timeout;
        let mut answer = self.answer.lock();
        loop {
            if let Some(registered) = answer.take() {
                return Some(registered);
            }
            if self.answered.wait_until(&mut answer, until).timed_out() {
                return answer.take();
            }
        }
    }
}

fn end(process: &Weak<Process>, end: End) {
    if let Some(process) = process.upgrade() {
        process.end(end);
    }
}
