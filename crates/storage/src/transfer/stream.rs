//! A connection's bytes, plain or encrypted: [`Stream`] over a [`Socket`] that can have a deadline.

use std::{
    fs::File,
    io::{self, IoSlice, Read, Write},
    net::{Shutdown, TcpStream},
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::{buffer::spare_capacity, io::Errno};
use rustls::{ClientConnection, ServerConnection, StreamOwned};

/// From this length on a file is sent by the kernel. Measured over the loopback, a copy that stays in the cache is
/// faster below, since the kernel hands pages over sixteen at a time.
const KERNEL_COPY_MIN: u64 = 4 << 20;

/// The buffer of a copy, small enough for the cache of a processor.
const COPY_BYTES: usize = 128 << 10;

/// How long one read and one write may go without a single byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    pub(super) read: Duration,
    pub(super) write: Duration,
}

/// A TCP socket with time-outs, and with a deadline for as long as a peer must not stretch things.
///
/// Time-outs bound the silence, so a peer that sends one byte now and then could hold on for ever. Under a deadline
/// every read and write may only take what is left of it.
#[derive(Debug)]
pub(super) struct Socket {
    tcp: Arc<TcpStream>,
    timeouts: Timeouts,
    deadline: Option<Instant>,
    /// Whether the time-outs of the operating system are those of a deadline.
    armed: bool,
}

impl Socket {
    pub(super) fn new(tcp: Arc<TcpStream>, timeouts: Timeouts) -> io::Result<Self> {
        // Headers are small and complete; waiting for more to send with them only costs time.
        tcp.set_nodelay(true)?;
        let mut socket = Self { tcp, timeouts, deadline: None, armed: true };
        socket.disarm()?;
        Ok(socket)
    }

    fn arm(&mut self) -> io::Result<()> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.tcp.set_read_timeout(Some(left))?;
        self.tcp.set_write_timeout(Some(left))?;
        self.armed = true;
        Ok(())
    }

    fn disarm(&mut self) -> io::Result<()> {
        self.deadline = None;
        if self.armed {
            self.tcp.set_read_timeout(Some(self.timeouts.read))?;
            self.tcp.set_write_timeout(Some(self.timeouts.write))?;
            self.armed = false;
        }
        Ok(())
    }

    /// Whether the peer has neither closed the connection nor sent anything.
    fn is_quiet(&self) -> bool {
        use rustix::net::{RecvFlags, recv};
        let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
        matches!(recv(&*self.tcp, &mut [0_u8; 1], flags), Err(Errno::AGAIN | Errno::INTR))
    }

    /// Sends the slices as the beginning of something: the kernel may keep them for what follows.
    #[cfg(target_os = "linux")]
    fn write_more(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
        self.arm()?;
        let flags = SendFlags::MORE | SendFlags::NOSIGNAL;
        Ok(sendmsg(&*self.tcp, slices, &mut SendAncillaryBuffer::default(), flags)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn write_more(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.write_vectored(slices)
    }
}

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.arm()?;
        (&*self.tcp).read(buf)
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.arm()?;
        (&*self.tcp).write(buf)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.arm()?;
        (&*self.tcp).write_vectored(slices)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One end of a connection.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(Socket),
    TlsServer(Box<StreamOwned<ServerConnection, Socket>>),
    TlsClient(Box<StreamOwned<ClientConnection, Socket>>),
}

impl Stream {
    fn socket(&mut self) -> &mut Socket {
        match self {
            Self::Plain(socket) => socket,
            Self::TlsServer(tls) => &mut tls.sock,
            Self::TlsClient(tls) => &mut tls.sock,
        }
    }

    /// Everything from now on must be done by `deadline`.
    pub(super) fn set_deadline(&mut self, deadline: Instant) {
        self.socket().deadline = Some(deadline);
    }

    /// Back to the time-outs.
    pub(super) fn clear_deadline(&mut self) -> io::Result<()> {
        self.socket().disarm()
    }

    /// Changes how long the peer may be silent while this side reads.
    pub(super) fn set_read_timeout(&mut self, read: Duration) -> io::Result<()> {
        let socket = self.socket();
        if socket.timeouts.read != read {
            socket.timeouts.read = read;
            socket.tcp.set_read_timeout(Some(read))?;
        }
        Ok(())
    }

    /// Whether an idle connection can be used: the peer has neither closed it nor said anything unasked.
    pub(super) fn is_quiet(&mut self) -> bool {
        self.socket().is_quiet()
    }

    /// Tells the peer that nothing more comes, so that it reads what was sent before the end.
    pub(super) fn finish(&mut self) {
        match self {
            Self::Plain(_) => {}
            Self::TlsServer(tls) => tls.conn.send_close_notify(),
            Self::TlsClient(tls) => tls.conn.send_close_notify(),
        }
        // Nobody is left to tell when this fails.
        let _ = self.flush();
        let _ = self.socket().tcp.shutdown(Shutdown::Write);
    }

    /// Reads at most `want` bytes to the end of `into`, straight into its spare memory where that is possible.
    pub(super) fn read_spare(&mut self, into: &mut Vec<u8>, want: usize) -> io::Result<usize> {
        match self {
            // The system call fills all the spare memory there is, so it must be no more than what is wanted.
            Self::Plain(socket) if into.capacity() - into.len() == want => {
                socket.arm()?;
                loop {
                    match rustix::io::read(&*socket.tcp, spare_capacity(into)) {
                        Err(Errno::INTR) => {}
                        read => return Ok(read?),
                    }
                }
            }
            _ => Read::by_ref(self).take(want as u64).read_to_end(into),
        }
    }

    /// Sends slices that more will follow at once.
    pub(super) fn write_more(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write_more(slices),
            Self::TlsServer(_) | Self::TlsClient(_) => self.write_vectored(slices),
        }
    }

    /// Sends a range of a file: by the kernel alone when it is long and the connection plain, else through a buffer.
    pub(super) fn send_file(&mut self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Plain(socket) if len >= KERNEL_COPY_MIN => kernel_copy(socket, file, offset, len),
            _ => buffered_copy(self, file, offset, len),
        }
    }
}

#[cfg(target_os = "linux")]
fn kernel_copy(socket: &mut Socket, file: &File, mut offset: u64, len: u64) -> io::Result<()> {
    let end = offset + len;
    while offset < end {
        socket.arm()?;
        let count = usize::try_from(end - offset).unwrap_or(usize::MAX);
        match rustix::fs::sendfile(&*socket.tcp, file, Some(&mut offset), count) {
            Ok(0) => return Err(too_short(offset, end)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn buffered_copy(stream: &mut Stream, file: &File, mut offset: u64, len: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let end = offset + len;
    let mut buffer = vec![0; usize::try_from(len).map_or(COPY_BYTES, |len| len.min(COPY_BYTES))];
    while offset < end {
        let most = usize::try_from(end - offset).map_or(buffer.len(), |left| left.min(buffer.len()));
        let read = file.read_at(&mut buffer[..most], offset)?;
        if read == 0 {
            return Err(too_short(offset, end));
        }
        offset += read as u64;
        if offset < end {
            // More follows at once, so the kernel need not send what does not fill a packet.
            write_all_more(stream, &buffer[..read])?;
        } else {
            stream.write_all(&buffer[..read])?;
        }
    }
    Ok(())
}

fn write_all_more(stream: &mut Stream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.write_more(&[IoSlice::new(bytes)]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn too_short(offset: u64, end: u64) -> io::Error {
    let text = format!("the file was cut while it was sent: it ends at byte {offset}, before {end}");
    io::Error::new(io::ErrorKind::UnexpectedEof, text)
}

impl Read for Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buf),
            Self::TlsServer(tls) => tls.read(buf),
            Self::TlsClient(tls) => tls.read(buf),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(buf),
            Self::TlsServer(tls) => tls.write(buf),
            Self::TlsClient(tls) => tls.write(buf),
        }
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write_vectored(slices),
            Self::TlsServer(tls) => tls.write_vectored(slices),
            Self::TlsClient(tls) => tls.write_vectored(slices),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::TlsServer(tls) => tls.flush(),
            Self::TlsClient(tls) => tls.flush(),
        }
    }
}

/// Whether the peer was silent for too long; a blocking socket reports that in two ways.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
