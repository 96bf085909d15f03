//! What the ends, the reader and the writer of a line share: [`Core`].
//!
//! ```text
//! Open ── close ──> Closing ── the peer has ended, or too much time ──┐
//!   └── broken, silent, slow, goodbye of the peer ──────────────> Closed ──> Ended (the handler has heard)
//! ```
//!
//! The bytes of a line are written under the lock of its outgoing side, and never with waiting: either by the thread
//! that sends, or, when the socket is full, by the writer's thread. While the writer is at it the line is *stuck*, and
//! who sends only adds to the queue.

use std::{
    io::{self, IoSlice},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};
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
const WRITER_PATIENCE: Duration = Duration::from_secs(2);

/// A writer lets others at the queue after so many bytes.
const WRITER_TURN: usize = 1 << 20;

const WRITER_STACK_BYTES: usize = 256 << 10;

/// One end of a line.
#[derive(Debug)]
pub(crate) struct Core {
    id: u64,
    peer: SocketAddr,
    conf: LineConf,
    wire: Wire,
    out: Mutex<Out>,
    /// Something in `out` has changed that somebody may wait for.
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
    queue: Queue,
    /// Whether the queue is the writer's business.
    stuck: bool,
    /// Whether there is a writer.
    writer: bool,
    /// Whether something was sent since the last ping was due.
    wrote: bool,
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
                queue: Queue::default(),
                stuck: false,
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

    pub(super) fn wire(&self) -> &Wire {
        &self.wire
    }

    pub(super) fn is_open(&self) -> bool {
        self.out.lock().stage == Stage::Open
    }

    /// How often this end pings.
    pub(super) fn ping_every(&self) -> Option<Duration> {
        self.conf.silence.map(|silence| silence / 4)
    }

    /// Sends whole frames. Takes their memory when they are many bytes that have to wait.
    pub(super) fn send(self: &Arc<Self>, frames: &mut Vec<u8>) -> Result<(), SendError> {
        let mut out = self.out.lock();
        if out.stage != Stage::Open {
            return Err(SendError::Closed);
        }
        out.wrote = true;
        let queued = out.queue.bytes() + frames.len() as u64;
        if out.stuck && !out.queue.is_empty() && queued > self.conf.max_queued {
            self.shut(&mut out, Closed::Slow { queued, max: self.conf.max_queued });
            return Err(SendError::Closed);
        }
        self.put(&mut out, frames);
        if out.stage == Stage::Open { Ok(()) } else { Err(SendError::Closed) }
    }

    /// Says goodbye after everything that was sent, and lets the line end.
    pub(crate) fn close(self: &Arc<Self>) {
        let mut out = self.out.lock();
        if out.stage != Stage::Open {
            return;
        }
        out.stage = Stage::Closing;
        self.put(&mut out, &mut GOODBYE.to_vec());
        drop(out);
        pulse::schedule(self.conf.close_timeout, self, Duty::GiveUp);
    }

    /// Pings unless something was sent anyway; false when there is no need ever again.
    pub(super) fn ping(self: &Arc<Self>) -> bool {
        let mut out = self.out.lock();
        if out.stage != Stage::Open {
            return false;
        }
        if !out.wrote && !out.stuck {
            self.put(&mut out, &mut PING.to_vec());
        }
        out.wrote = false;
        true
    }

    /// Ends a close that takes too long.
    pub(super) fn give_up(&self) {
        let mut out = self.out.lock();
        if out.stage == Stage::Closing {
            self.shut(&mut out, Closed::ByUs);
        }
    }

    /// Lets the session of TLS say what it has to.
    pub(super) fn nudge(self: &Arc<Self>) {
        let mut out = self.out.lock();
        if !out.stuck && out.stage < Stage::Closed {
            self.put(&mut out, &mut Vec::new());
        }
    }

    /// Closes the line for a reason that the reader found, and gives the one that counts. Waits for the writer.
    pub(super) fn end(&self, found: Closed) -> Closed {
        let mut out = self.out.lock();
        // A goodbye is the truth even if a later write found nobody.
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
        let deadline = Instant::now() + timeout;
        let mut out = self.out.lock();
        while out.stage != Stage::Ended {
            if self.changed.wait_until(&mut out, deadline).timed_out() {
                return out.stage == Stage::Ended;
            }
        }
        true
    }

    /// Writes as much as the socket takes and leaves the rest to the writer.
    fn put(self: &Arc<Self>, out: &mut Out, frames: &mut Vec<u8>) {
        if out.stuck {
            return out.queue.append(frames, 0);
        }
        let written = self.write_now(frames);
        match written {
            Ok((_, true)) => self.drained(out),
            Ok((written, false)) => {
                out.queue.append(frames, written);
                self.stick(out);
            }
            Err(error) => self.shut(out, Closed::Broken(error)),
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

    /// Everything is written: a line that closes has nothing more to say.
    fn drained(&self, out: &mut Out) {
        out.stuck = false;
        if out.stage == Stage::Closing {
            self.wire.finish();
        }
    }

    /// Ends the line at once, and wakes its threads.
    fn shut(&self, out: &mut Out, why: Closed) {
        if out.stage < Stage::Closed {
            out.why = Some(if out.stage == Stage::Closing { Closed::ByUs } else { why });
            out.stage = Stage::Closed;
            out.queue.clear();
            self.wire.shut();
            self.changed.notify_all();
        }
    }

    /// Hands the queue to the writer.
    fn stick(self: &Arc<Self>, out: &mut Out) {
        out.stuck = true;
        if out.writer {
            self.changed.notify_all();
            return;
        }
        let core = self.clone();
        let thread = thread::Builder::new().name("line-write".to_owned()).stack_size(WRITER_STACK_BYTES);
        match thread.spawn(move || core.write_queue()) {
            Ok(_) => out.writer = true,
            Err(error) => self.shut(out, Closed::Broken(error)),
        }
    }

    /// The writer's thread.
    fn write_queue(&self) {
        let socket = self.wire.socket();
        let mut out = loop {
            // Ends with an error, too, when the socket is shut.
            let _ = poll(&mut [PollFd::new(socket, PollFlags::OUT)], None);
            let mut out = self.out.lock();
            if out.stage < Stage::Closed {
                match self.write_turn(&mut out) {
                    Ok(false) => continue,
                    Ok(true) => self.drained(&mut out),
                    Err(error) => self.shut(&mut out, Closed::Broken(error)),
                }
            }
            let deadline = Instant::now() + WRITER_PATIENCE;
            while !out.stuck && out.stage == Stage::Open {
                if self.changed.wait_until(&mut out, deadline).timed_out() {
                    break;
                }
            }
            if !out.stuck || out.stage >= Stage::Closed {
                break out;
            }
        };
        out.writer = false;
        self.changed.notify_all();
    }

    /// Writes what the socket takes of the queue; false when more is left.
    fn write_turn(&self, out: &mut Out) -> io::Result<bool> {
        let mut written = 0;
        while !out.queue.is_empty() {
            let more = self.wire.write(&out.queue.slices())?;
            out.queue.advance(more);
            written += more;
            if more == 0 || written > WRITER_TURN {
                return Ok(false);
            }
        }
        self.wire.flush()
    }
}
