//! What the ends, the reader and the writer of a line share: [`Core`].
//!
//! ```text
//! Open ── close ──> Closing ── the peer has ended, or too much time ──┐
//!   └── broken, silent, slow, goodbye of the peer ──────────────> Closed ──> Ended (the handler has heard)
//! ```
//!
//! Bytes are written by one thread at a time and never with waiting. A sender writes itself if no other does, with
//! the lock released; who sends meanwhile only adds to the queue. A sender writes the queue once for the others. If there
//! is still more, or the socket is full, the queue goes to the writer's thread, until it is empty.

use std::{
    io::{self, IoSlice},
    mem,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::event::{PollFd, PollFlags, poll};

use super::{
    closed::{Closed, SendError},
    conf::LineConf,
    inbox::{GOODBYE, PING},
    pulse::{self, Duty},
    queue::Queue,
    wire::Wire,
};
use crate::stream::Stream;

/// A writer without work stays for so long: a line that was stuck once will often be so again.
const WRITER_IDLE_TIMEOUT: Duration = Duration::from_secs(2);

/// No line pings more often, however short a silence it allows.
const PING_MIN: Duration = Duration::from_millis(1);

const WRITER_STACK_BYTES: usize = 256 << 10;

/// One end of a line.
#[derive(Debug)]
pub(crate) struct Core {
    id: u64,
    peer: SocketAddr,
    conf: LineConf,
    wire: Wire,
    out: Mutex<Out>,
    /// Signals a change of `out` to the threads that wait for one.
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Open,
    /// Nothing more is sent or delivered; what was sent is being written, and the peer's end is waited for.
    Closing,
    Closed,
    /// The handler has heard why, and is gone.
    Ended,
}

#[derive(Debug)]
struct Out {
    stage: Stage,
    /// Why it is closed, when it was not the reader who found out.
    why: Option<Closed>,
    writing: Writing,
    /// Empty while no thread writes.
    queue: Queue,
    /// How many bytes were taken from the queue and are being written.
    taken: u64,
    /// Whether there is a writer's thread.
    writer: bool,
    /// Whether something was sent since the last ping was due.
    wrote: bool,
}

/// The line is over and its threads are awake.
#[derive(Debug)]
struct Shut;

/// Which side writes now, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    Idle,
    Sender,
    Writer,
}

impl Core {
    /// Takes over a connection, and begins to ping.
    pub(super) fn new(stream: Stream, conf: &LineConf) -> io::Result<Arc<Self>> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let peer = stream.peer();
        let (tcp, session) = stream.into_parts();
        tcp.set_read_timeout(conf.silence)?;
        let core = Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            peer,
            conf: conf.clone(),
            wire: Wire::new(tcp, session),
            out: Mutex::new(Out {
                stage: Stage::Open,
                why: None,
                writing: Writing::Idle,
                queue: Queue::default(),
                taken: 0,
                writer: false,
                wrote: false,
            }),
            changed: Condvar::new(),
        });
        if let Some(every) = core.ping_every() {
            pulse::schedule(every, &core, Duty::Ping);
        }
        Ok(core)
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn peer(&self) -> SocketAddr {
        self.peer
    }

    pub(super) fn conf(&self) -> &LineConf {
        &self.conf
    }

    pub(crate) fn wire(&self) -> &Wire {
        &self.wire
    }

    pub(super) fn is_open(&self) -> bool {
        self.out.lock().stage == Stage::Open
    }

    /// How often this end pings.
    pub(super) fn ping_every(&self) -> Option<Duration> {
        self.conf.silence.map(|silence| (silence / 4).max(PING_MIN))
    }

    /// Sends whole frames. Takes their memory when they are many bytes that have to wait.
    pub(super) fn send(self: &Arc<Self>, frames: &mut Vec<u8>) -> Result<(), SendError> {
        let mut out = self.out.lock();
        if out.stage != Stage::Open {
            return Err(SendError::Closed);
        }
        if frames.is_empty() {
            return Ok(());
        }
        out.wrote = true;
        let waiting = out.taken + out.queue.bytes();
        let queued = waiting + frames.len() as u64;
        if waiting > 0 && queued > self.conf.max_queued {
            let Shut = self.shut(&mut out, Closed::Slow { queued, max: self.conf.max_queued });
            return Err(SendError::Closed);
        }
        // The stage says nothing here: a line may be closed right after it took the frames.
        self.put(&mut out, frames).map_err(|Shut| SendError::Closed)
    }

    /// Says goodbye after everything that was sent, and lets the line end.
    pub(crate) fn close(self: &Arc<Self>) {
        let mut out = self.out.lock();
        if out.stage != Stage::Open {
            return;
        }
        out.stage = Stage::Closing;
        let _ = self.put(&mut out, &mut GOODBYE.to_vec());
        drop(out);
        pulse::schedule(self.conf.close_timeout, self, Duty::GiveUp);
    }

    /// Pings unless something was sent anyway; false when there is no need ever again.
    pub(super) fn ping(self: &Arc<Self>) -> bool {
        let mut out = self.out.lock();
        if out.stage != Stage::Open {
            return false;
        }
        if !out.wrote && out.writing == Writing::Idle {
            let _ = self.put(&mut out, &mut PING.to_vec());
        }
        out.wrote = false;
        true
    }

    /// Ends a close that takes too long.
    pub(super) fn give_up(&self) {
        let mut out = self.out.lock();
        if out.stage == Stage::Closing {
            let Shut = self.shut(&mut out, Closed::ByUs);
        }
    }

    /// Lets the session of TLS say what it has to, at the latest with what is sent next.
    pub(super) fn nudge(self: &Arc<Self>) {
        let mut out = self.out.lock();
        if out.stage < Stage::Closed {
            let _ = self.put(&mut out, &mut Vec::new());
        }
    }

    /// Closes the line for a reason that the reader found, and gives the one that counts. Waits for the writer.
    pub(super) fn end(&self, found: Closed) -> Closed {
        let mut out = self.out.lock();
        // A goodbye is the truth even if a later write found the connection closed.
        let why = match (out.stage, out.why.take(), found) {
            (Stage::Closing, _, _) | (_, Some(Closed::ByUs), _) => Closed::ByUs,
            (_, _, Closed::ByPeer) | (_, Some(Closed::ByPeer), _) => Closed::ByPeer,
            (_, Some(why), _) | (_, None, why) => why,
        };
        out.stage = Stage::Closed;
        out.queue.clear();
        self.wire.shut();
        self.changed.notify_all();
        while out.writer {
            self.changed.wait(&mut out);
        }
        why
    }

    /// Tells those who wait for the end.
    pub(super) fn set_ended(&self) {
        self.out.lock().stage = Stage::Ended;
        self.changed.notify_all();
    }

    /// Waits until the handler has heard of the end; false when that takes too long.
    pub(super) fn wait_ended(&self, timeout: Duration) -> bool {
        let deadline = pulse::after(timeout);
        let mut out = self.out.lock();
        while out.stage != Stage::Ended {
            if self.changed.wait_until(&mut out, deadline).timed_out() {
                return out.stage == Stage::Ended;
            }
        }
        true
    }

    /// Writes as much as the socket takes, or leaves it to the thread that writes now.
    fn put(self: &Arc<Self>, out: &mut MutexGuard<'_, Out>, frames: &mut Vec<u8>) -> Result<(), Shut> {
        if out.writing != Writing::Idle {
            out.queue.append(frames);
            return Ok(());
        }
        out.writing = Writing::Sender;
        let mut result = MutexGuard::unlocked(out, || self.write_now(frames));
        if let Ok((written, false)) = result {
            out.queue.prepend(frames, written);
        } else if result.is_ok() && !out.queue.is_empty() {
            result = self.write_queue(out).map(|all| (0, all));
        }
        match result {
            Ok((_, true)) if out.queue.is_empty() => {
                self.drained(out);
                Ok(())
            }
            Ok(_) => self.hand_over(out),
            Err(error) => Err(self.shut(out, Closed::Broken(error))),
        }
    }

    /// How many bytes were taken, and whether nothing is left to write.
    fn write_now(&self, bytes: &[u8]) -> io::Result<(usize, bool)> {
        let mut written = 0;
        while written < bytes.len() {
            match self.wire.write(&[IoSlice::new(&bytes[written..])])? {
                0 => return Ok((written, false)),
                more => written += more,
            }
        }
        Ok((written, self.wire.flush()?))
    }

    /// Writes what is in the queue, without the lock; false when the socket does not take all of it.
    fn write_queue(&self, out: &mut MutexGuard<'_, Out>) -> io::Result<bool> {
        let mut batch = mem::take(&mut out.queue);
        out.taken = batch.bytes();
        let result = MutexGuard::unlocked(out, || {
            while !batch.is_empty() {
                match self.wire.write(&batch.slices())? {
                    0 => return Ok(false),
                    written => batch.advance(written),
                }
            }
            self.wire.flush()
        });
        // What is left stands before what came meanwhile.
        batch.join(mem::take(&mut out.queue));
        out.queue = batch;
        out.taken = 0;
        result
    }

    /// Everything is written: a line that closes has nothing more to say.
    fn drained(&self, out: &mut Out) {
        out.writing = Writing::Idle;
        if out.stage == Stage::Closing {
            self.wire.finish();
        }
    }

    /// Ends the line at once, and wakes its threads.
    fn shut(&self, out: &mut Out, why: Closed) -> Shut {
        if out.stage < Stage::Closed {
            out.why = Some(if out.stage == Stage::Closing { Closed::ByUs } else { why });
            out.stage = Stage::Closed;
            out.queue.clear();
            self.wire.shut();
            self.changed.notify_all();
        }
        Shut
    }

    /// Lets the writer go on.
    fn hand_over(self: &Arc<Self>, out: &mut Out) -> Result<(), Shut> {
        if out.stage >= Stage::Closed {
            out.queue.clear();
            return Err(Shut);
        }
        out.writing = Writing::Writer;
        if out.writer {
            self.changed.notify_all();
            return Ok(());
        }
        let core = self.clone();
        let thread = thread::Builder::new().name("line-write".to_owned()).stack_size(WRITER_STACK_BYTES);
        match thread.spawn(move || core.run_writer()) {
            Ok(_) => {
                out.writer = true;
                Ok(())
            }
            Err(error) => Err(self.shut(out, Closed::Broken(error))),
        }
    }

    /// The writer's thread.
    fn run_writer(&self) {
        let socket = self.wire.socket();
        let mut out = self.out.lock();
        let mut deadline = Instant::now() + WRITER_IDLE_TIMEOUT;
        while out.stage < Stage::Closed {
            if out.writing != Writing::Writer {
                let timed_out = self.changed.wait_until(&mut out, deadline).timed_out();
                if timed_out && out.writing != Writing::Writer {
                    break;
                }
                continue;
            }
            match self.write_queue(&mut out) {
                Ok(true) if out.queue.is_empty() => {
                    self.drained(&mut out);
                    deadline = Instant::now() + WRITER_IDLE_TIMEOUT;
                }
                Ok(true) => {}
                // Ends with an error, too, when the socket is shut.
                Ok(false) => drop(MutexGuard::unlocked(&mut out, || {
                    poll(&mut [PollFd::new(socket, PollFlags::OUT)], None)
                })),
                Err(error) => drop(self.shut(&mut out, Closed::Broken(error))),
            }
        }
        out.writer = false;
        self.changed.notify_all();
    }
}
