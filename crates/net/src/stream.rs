//! A connection's bytes, plain or encrypted: [`Stream`] over a [`Socket`] that can have a deadline.

use std::{
    fs::File,
    io::{self, IoSlice, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::{buffer::spare_capacity, io::Errno};

use crate::{
    address::Address,
    tls::{Session, TlsClient, TlsServer, TlsStream},
};

/// From this length on a file is sent by the kernel. Measured over the loopback, a copy that stays in the cache is
/// faster below, since the kernel hands pages over sixteen at a time.
const KERNEL_COPY_MIN: u64 = 4 << 20;

/// The buffer of a copy, small enough for the cache of a processor.
const COPY_BYTES: usize = 128 << 10;

/// How long one read and one write may go without a single byte; none for ever.
#[derive(Clone, Copy, Debug, Default)]
struct Timeouts {
    read: Option<Duration>,
    write: Option<Duration>,
}

/// A TCP socket with time-outs, and with a deadline for as long as a peer must not stretch things.
///
/// Time-outs bound the silence, so a peer that sends one byte now and then could hold on for ever. Under a deadline
/// every read and write may only take what is left of it.
#[derive(Debug)]
pub(crate) struct Socket {
    tcp: Arc<TcpStream>,
    peer: SocketAddr,
    timeouts: Timeouts,
    deadline: Option<Instant>,
    /// Whether the time-outs of the operating system are those of a deadline.
    armed: bool,
}

impl Socket {
    pub(crate) fn new(tcp: Arc<TcpStream>) -> io::Result<Self> {
        // Messages are small and complete; waiting for more to send with them only costs time.
        tcp.set_nodelay(true)?;
        let peer = tcp.peer_addr()?;
        Ok(Self { tcp, peer, timeouts: Timeouts::default(), deadline: None, armed: false })
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
            self.tcp.set_read_timeout(self.timeouts.read)?;
            self.tcp.set_write_timeout(self.timeouts.write)?;
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

/// One end of a connection whose both ends have proved themselves, as bytes.
///
/// There are no time-outs unless they are set.
#[derive(Debug)]
pub struct Stream(Kind);

#[derive(Debug)]
enum Kind {
    Plain(Socket),
    Tls(TlsStream),
}

impl Stream {
    pub(crate) fn plain(socket: Socket) -> Self {
        Self(Kind::Plain(socket))
    }

    /// Begins TLS on a plain connection; nothing is sent yet.
    pub(crate) fn with_server_tls(self, tls: &TlsServer) -> Result<Self, String> {
        Ok(Self(Kind::Tls(tls.accept(self.into_socket())?)))
    }

    /// Begins TLS on a plain connection; nothing is sent yet.
    pub(crate) fn with_client_tls(self, tls: &TlsClient, to: &Address) -> Result<Self, String> {
        Ok(Self(Kind::Tls(tls.connect(self.into_socket(), to)?)))
    }

    fn into_socket(self) -> Socket {
        match self.0 {
            Kind::Plain(socket) => socket,
            Kind::Tls(tls) => tls.into_parts().0,
        }
    }

    /// The socket, and the session of TLS with what it has read ahead.
    pub(crate) fn into_parts(self) -> (Arc<TcpStream>, Option<Session>) {
        match self.0 {
            Kind::Plain(socket) => (socket.tcp, None),
            Kind::Tls(tls) => {
                let (socket, session) = tls.into_parts();
                (socket.tcp, Some(session))
            }
        }
    }

    fn socket(&self) -> &Socket {
        match &self.0 {
            Kind::Plain(socket) => socket,
            Kind::Tls(tls) => tls.socket(),
        }
    }

    fn socket_mut(&mut self) -> &mut Socket {
        match &mut self.0 {
            Kind::Plain(socket) => socket,
            Kind::Tls(tls) => tls.socket_mut(),
        }
    }

    /// The socket's address at the other end.
    pub fn peer(&self) -> SocketAddr {
        self.socket().peer
    }

    /// Everything from now on must be done by `deadline`.
    pub fn set_deadline(&mut self, deadline: Instant) {
        self.socket_mut().deadline = Some(deadline);
    }

    /// Back to the time-outs.
    pub fn clear_deadline(&mut self) -> io::Result<()> {
        self.socket_mut().disarm()
    }

    /// Changes how long the peer may be silent while this side reads.
    pub fn set_read_timeout(&mut self, read: Duration) -> io::Result<()> {
        let socket = self.socket_mut();
        if socket.timeouts.read != Some(read) {
            socket.timeouts.read = Some(read);
            socket.tcp.set_read_timeout(Some(read))?;
        }
        Ok(())
    }

    /// Changes how long the peer may take nothing while this side writes.
    pub fn set_write_timeout(&mut self, write: Duration) -> io::Result<()> {
        let socket = self.socket_mut();
        if socket.timeouts.write != Some(write) {
            socket.timeouts.write = Some(write);
            socket.tcp.set_write_timeout(Some(write))?;
        }
        Ok(())
    }

    /// Whether an idle connection can be used: the peer has neither closed it nor said anything unasked.
    pub fn is_quiet(&self) -> bool {
        self.socket().is_quiet()
    }

    /// Tells the peer that nothing more comes, so that it reads what was sent before the end.
    pub fn finish(&mut self) {
        if let Kind::Tls(tls) = &mut self.0 {
            tls.send_close_notify();
        }
        // The peer may have gone: there is no one to report to.
        let _ = self.flush();
        let _ = self.socket().tcp.shutdown(Shutdown::Write);
    }

    /// Reads at most `want` bytes to the end of `into`, straight into its spare memory where that is possible.
    pub fn read_spare(&mut self, into: &mut Vec<u8>, want: usize) -> io::Result<usize> {
        match &mut self.0 {
            // The system call fills all the spare memory there is, so it must be no more than what is wanted.
            Kind::Plain(socket) if into.capacity() - into.len() == want => {
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
    pub fn write_more(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(socket) => socket.write_more(slices),
            Kind::Tls(_) => self.write_vectored(slices),
        }
    }

    /// Sends a range of a file: by the kernel alone when it is long and the connection plain, else through a buffer.
    pub fn send_file(&mut self, file: &File, offset: u64, len: u64) -> io::Result<()> {
        match &mut self.0 {
            #[cfg(target_os = "linux")]
            Kind::Plain(socket) if len >= KERNEL_COPY_MIN => kernel_copy(socket, file, offset, len),
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
        match &mut self.0 {
            Kind::Plain(socket) => socket.read(buf),
            Kind::Tls(tls) => tls.read(buf),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(socket) => socket.write(buf),
            Kind::Tls(tls) => tls.write(buf),
        }
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(socket) => socket.write_vectored(slices),
            Kind::Tls(tls) => tls.write_vectored(slices),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Plain(socket) => socket.flush(),
            Kind::Tls(tls) => tls.flush(),
        }
    }
}

/// Whether the peer was silent for too long; a blocking socket reports that in two ways.
pub fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
