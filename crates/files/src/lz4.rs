//! Reading LZ4 files of any number of frames: [`Lz4Decoder`].
//!
//! The decoder of `lz4_flex` ends at the end of a frame, takes a file cut between two blocks for a whole one and knows
//! no frames that are to be passed over; this one goes on to the next frame and tells a cut file from a whole one. It
//! reads the legacy frames of LZ4's first versions too, which have neither an end mark nor a checksum: such a file that
//! was cut between two blocks cannot be told from a whole one.

use std::io::{self, BufRead, ErrorKind, Read};

use lz4_flex::block::decompress_into;
use lz4_flex::frame::FrameDecoder;

const FRAME_MAGIC: u32 = 0x184D_2204;
const LEGACY_MAGIC: u32 = 0x184C_2102;
const SKIPPABLE_MAGIC: std::ops::RangeInclusive<u32> = 0x184D_2A50..=0x184D_2A5F;

/// What a block of a legacy frame holds at most.
const LEGACY_BLOCK_BYTES: usize = 8 << 20;

/// How large a block of a legacy frame is at most, if its content does not compress. What looks like the size of a larger
/// one is the magic number of the next frame.
const LEGACY_PACKED_MAX: u32 = (LEGACY_BLOCK_BYTES + LEGACY_BLOCK_BYTES / 255 + 16) as u32;

/// Decompresses frame after frame until the input ends.
#[derive(Debug)]
pub(crate) struct Lz4Decoder<R: BufRead> {
    state: State<R>,
}

#[derive(Debug)]
enum State<R: BufRead> {
    /// Before a frame, or after the last one.
    Between(Input<R>),
    Within(FrameDecoder<Input<R>>),
    Legacy(LegacyFrame<R>),
    /// An error ended it all, which the caller knows.
    Broken,
}

impl<R: BufRead> Lz4Decoder<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { state: State::Between(Input { bytes: input, unread: Vec::new(), ended: false }) }
    }
}

impl<R: BufRead> Read for Lz4Decoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, State::Broken) {
                State::Between(mut input) => match input.read_number()? {
                    None => {
                        self.state = State::Between(input);
                        return Ok(0);
                    }
                    Some(magic) => self.state = begin_frame(magic, input)?,
                },
                State::Within(mut frame) => {
                    let read = frame.read(out)?;
                    if read > 0 {
                        self.state = State::Within(frame);
                        return Ok(read);
                    }
                    if frame.get_ref().ended {
                        return Err(cut());
                    }
                    self.state = State::Between(frame.into_inner());
                }
                State::Legacy(mut frame) => {
                    let read = frame.read(out)?;
                    if read > 0 {
                        self.state = State::Legacy(frame);
                        return Ok(read);
                    }
                    self.state = State::Between(frame.input);
                }
                State::Broken => {
                    return Err(io::Error::new(ErrorKind::InvalidData, "read on after an error"));
                }
            }
        }
    }
}

/// Begins the frame of a magic number that was just read.
fn begin_frame<R: BufRead>(magic: u32, mut input: Input<R>) -> io::Result<State<R>> {
    if magic == LEGACY_MAGIC {
        return Ok(State::Legacy(LegacyFrame { input, packed: Vec::new(), content: Vec::new(), given: 0 }));
    }
    if SKIPPABLE_MAGIC.contains(&magic) {
        let length = u64::from(input.read_number()?.ok_or_else(cut)?);
        let skipped = io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
        return if skipped == length { Ok(State::Between(input)) } else { Err(cut()) };
    }
    if magic != FRAME_MAGIC {
        return Err(io::Error::new(ErrorKind::InvalidData, "no frame begins here"));
    }
    input.unread = magic.to_le_bytes().to_vec();
    // A new decoder for each frame, because the buffers of the old one have the old frame's size.
    Ok(State::Within(FrameDecoder::new(input)))
}

/// A frame of LZ4's first versions: blocks with their sizes, up to the end of the input or the next magic number.
#[derive(Debug)]
struct LegacyFrame<R> {
    input: Input<R>,
    packed: Vec<u8>,
    content: Vec<u8>,
    /// How much of the content was given out.
    given: usize,
}

impl<R: BufRead> Read for LegacyFrame<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.given == self.content.len() {
            if !self.next_block()? {
                return Ok(0);
            }
        }
        let read = out.len().min(self.content.len() - self.given);
        out[..read].copy_from_slice(&self.content[self.given..self.given + read]);
        self.given += read;
        Ok(read)
    }
}

impl<R: BufRead> LegacyFrame<R> {
    /// Decompresses the next block; returns whether there was one.
    fn next_block(&mut self) -> io::Result<bool> {
        let Some(size) = self.input.read_number()? else { return Ok(false) };
        if size > LEGACY_PACKED_MAX {
            self.input.unread = size.to_le_bytes().to_vec();
            return Ok(false);
        }
        self.packed.clear();
        // Grows with what is there: a damaged size must not take memory.
        if self.input.by_ref().take(u64::from(size)).read_to_end(&mut self.packed)? < size as usize {
            return Err(cut());
        }
        self.content.resize(LEGACY_BLOCK_BYTES, 0);
        let length = decompress_into(&self.packed, &mut self.content)
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        self.content.truncate(length);
        self.given = 0;
        Ok(true)
    }
}

/// Compressed bytes, of which a number may be given back; notes when more was wanted than there is.
#[derive(Debug)]
struct Input<R> {
    bytes: R,
    /// Comes before `bytes`.
    unread: Vec<u8>,
    ended: bool,
}

impl<R: BufRead> Input<R> {
    /// Reads four bytes as a number; `None` at the end of the input.
    fn read_number(&mut self) -> io::Result<Option<u32>> {
        let mut number = [0; 4];
        let mut filled = 0;
        while filled < number.len() {
            match self.read(&mut number[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(cut()),
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(u32::from_le_bytes(number)))
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if !self.unread.is_empty() {
            let read = out.len().min(self.unread.len());
            out[..read].copy_from_slice(&self.unread[..read]);
            self.unread.drain(..read);
            return Ok(read);
        }
        let read = self.bytes.read(out)?;
        self.ended |= read == 0 && !out.is_empty();
        Ok(read)
    }
}

fn cut() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "the data ends in the middle of a frame")
}
