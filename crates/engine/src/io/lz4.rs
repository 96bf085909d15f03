//! Reading LZ4 files of any number of frames: [`Lz4Decoder`].
//!
//! The decoder of `lz4_flex` ends at the end of a frame and takes a file cut between two blocks for a whole one; this
//! one goes on to the next frame and tells a cut file from a whole one.

use std::io::{self, BufRead, Read};

use lz4_flex::frame::FrameDecoder;

/// Decompresses frame after frame until the input ends.
#[derive(Debug)]
pub(crate) struct Lz4Decoder<R: BufRead> {
    state: State<R>,
}

#[derive(Debug)]
enum State<R: BufRead> {
    /// Before a frame, or after the last one.
    Between(EndNoting<R>),
    Within(FrameDecoder<EndNoting<R>>),
    /// An error ended it all, which the caller knows.
    Broken,
}

impl<R: BufRead> Lz4Decoder<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { state: State::Between(EndNoting { input, ended: false }) }
    }
}

impl<R: BufRead> Read for Lz4Decoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, State::Broken) {
                State::Between(mut input) => {
                    if input.input.fill_buf()?.is_empty() {
                        self.state = State::Between(input);
                        return Ok(0);
                    }
                    // A new decoder for each frame, because the buffers of the old one have the old frame's size.
                    self.state = State::Within(FrameDecoder::new(input));
                }
                State::Within(mut frame) => {
                    let read = frame.read(out)?;
                    if read > 0 {
                        self.state = State::Within(frame);
                        return Ok(read);
                    }
                    if frame.get_ref().ended {
                        let message = "the data ends in the middle of a frame";
                        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
                    }
                    self.state = State::Between(frame.into_inner());
                }
                State::Broken => {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "read on after an error"));
                }
            }
        }
    }
}

/// Notes that somebody wanted to read beyond the end of the input.
#[derive(Debug)]
struct EndNoting<R> {
    input: R,
    ended: bool,
}

impl<R: Read> Read for EndNoting<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(out)?;
        self.ended |= read == 0 && !out.is_empty();
        Ok(read)
    }
}
