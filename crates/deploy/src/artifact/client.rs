//! The other end of the service of artifacts: [`ArtifactClient`].

use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
    time::{Duration, Instant},
};

use firesteel_net::{Address, Dialer, Service, Stream, frame, is_timeout};
use firesteel_scheduler::deploy::ContentHash;

use super::{
    error::ArtifactError,
    message::{Answer, MAX_FRAME, Request},
};

/// How often a read that waits checks whether the request was cancelled.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How long the server may neither send nor receive a byte.
const STALL_TIMEOUT: Duration = Duration::from_mins(1);

/// One connection for artifacts.
pub(crate) struct ArtifactClient<'a> {
    stream: Stream,
    is_cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> ArtifactClient<'a> {
    /// Connects to the server of artifacts at `to`. Reads end when `is_cancelled` returns true.
    pub(crate) fn connect(
        dialer: &Dialer,
        to: &Address,
        is_cancelled: &'a (dyn Fn() -> bool + Sync),
    ) -> Result<Self, ArtifactError> {
        let mut stream = dialer.stream(to, Service::Artifacts)?;
        let timeouts = stream
            .set_read_timeout(CANCEL_POLL_INTERVAL)
            .and_then(|()| stream.set_write_timeout(STALL_TIMEOUT));
        timeouts.map_err(frame::FrameError::Io)?;
        Ok(Self { stream, is_cancelled })
    }

    /// Asks for content, and gives it to be read.
    pub(crate) fn get(mut self, sha256: ContentHash, len: u64) -> Result<impl Read + 'a, ArtifactError> {
        match self.ask(&Request::Get { sha256 })? {
            Answer::Content { len: there } if there == len => Ok(CancellableRead { client: self }.take(len)),
            Answer::Content { len: there } => {
                Err(ArtifactError::WrongLength { expected: len, actual: there })
            }
            Answer::Refused { reason } => Err(ArtifactError::Refused { sha256, reason }),
            answer @ (Answer::Send | Answer::Stored) => Err(out_of_turn(&answer)),
        }
    }

    /// Gives content that the other side may have already.
    pub(crate) fn put(
        &mut self,
        path: &Path,
        file: &File,
        sha256: ContentHash,
        len: u64,
    ) -> Result<(), ArtifactError> {
        match self.ask(&Request::Put { sha256, len })? {
            Answer::Stored => return Ok(()),
            Answer::Send => {}
            Answer::Refused { reason } => return Err(ArtifactError::Refused { sha256, reason }),
            answer @ Answer::Content { .. } => return Err(out_of_turn(&answer)),
        }
        let sent = self.stream.send_file(file, 0, len).and_then(|()| self.stream.flush());
        // A refusal on the way tells more than the broken connection it leaves.
        match (self.hear(), sent) {
            (Ok(Answer::Stored), _) => Ok(()),
            (Ok(Answer::Refused { reason }), _) => Err(ArtifactError::Refused { sha256, reason }),
            (Ok(answer @ (Answer::Send | Answer::Content { .. })), _) => Err(out_of_turn(&answer)),
            (Err(_), Err(error)) => Err(ArtifactError::local(path, error)),
            (Err(error), Ok(())) => Err(error),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, ArtifactError> {
        let mut bytes = Vec::new();
        frame::put(&mut bytes, request);
        let sent = self.stream.write_all(&bytes).and_then(|()| self.stream.flush());
        sent.map_err(frame::FrameError::Io)?;
        self.hear()
    }

    fn hear(&mut self) -> Result<Answer, ArtifactError> {
        let mut reader = CancellableRead { client: self };
        frame::take(&mut reader, MAX_FRAME, &mut Vec::new()).map_err(|error| match error {
            frame::FrameError::Io(error) => ArtifactError::broken(error),
            error => error.into(),
        })
    }

    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let began = Instant::now();
        loop {
            match self.stream.read(buf) {
                Err(error) if is_timeout(&error) => {
                    if (self.is_cancelled)() {
                        return Err(io::Error::other(ArtifactError::Cancelled));
                    }
                    if began.elapsed() >= STALL_TIMEOUT {
                        return Err(error);
                    }
                }
                read => return read,
            }
        }
    }
}

/// Reads with a long timeout, but ends soon after the request is cancelled.
struct CancellableRead<T> {
    client: T,
}

impl Read for CancellableRead<ArtifactClient<'_>> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.client.read(buf)
    }
}

impl Read for CancellableRead<&mut ArtifactClient<'_>> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.client.read(buf)
    }
}

fn out_of_turn(answer: &Answer) -> ArtifactError {
    let text = format!("the answer {answer:?} came out of turn");
    frame::FrameError::Io(io::Error::new(io::ErrorKind::InvalidData, text)).into()
}
