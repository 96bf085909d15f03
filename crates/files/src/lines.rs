//! The lines of a piece of a file: [`LineReader`].
//!
//! A line belongs to the piece in which its first byte lies, so pieces cut anywhere give each line once. Lines end with
//! `\n`, `\r\n` or a lone `\r`, as in Hadoop's `LineRecordReader`; the last one may have no end. As there, a byte-order
//! mark at the beginning of a file is no part of its first line. Bytes that are not UTF-8 become replacement characters.

use std::fmt;

use memchr::memchr2;
use simdutf8::basic::from_utf8;

use super::error::IoError;
use super::source::{ReadOptions, Source};
use super::split::FileSplit;

/// How much is read at a time: enough that a system call costs nothing, small enough to stay in the cache.
const BUFFER_BYTES: usize = 256 << 10;

/// The smallest buffer, which holds a byte-order mark and a byte more.
const BUFFER_BYTES_MIN: usize = 4;

/// How many lines are looked for before they are given out: so many that a pass over them costs little by itself.
const FOUND_MAX: usize = 512;

/// What some programs write in front of UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads the lines that begin in a piece of a file.
pub struct LineReader {
    /// `None` when there is nothing more to read.
    source: Option<Source>,
    options: ReadOptions,
    buffer: Vec<u8>,
    /// The part of the buffer that was read and not yet given out.
    start: usize,
    filled: usize,
    /// Where the first byte of the buffer stands in the file.
    base: u64,
    /// Lines that begin here or later belong to the next piece.
    end: u64,
    /// How many bytes the file is known to have at least.
    length_min: u64,
    at_eof: bool,
    /// Why no more can be read.
    failure: Option<IoError>,
    /// Where lines in the buffer end and the next ones begin; kept for its memory.
    found: Vec<(usize, usize)>,
    /// The beginning of a line that is longer than the buffer, which has what follows.
    long_line: Vec<u8>,
    /// Nothing was read yet of a piece that begins with the file.
    at_file_start: bool,
    /// The first line begins in the piece before and must be passed over.
    skips_first: bool,
}

impl LineReader {
    /// Opens a piece of a file.
    ///
    /// A missing file is an empty one if the options say so.
    pub fn open(split: &FileSplit, options: ReadOptions) -> Result<Self, IoError> {
        Self::with_buffer(split, options, BUFFER_BYTES)
    }

    fn with_buffer(split: &FileSplit, options: ReadOptions, buffer_bytes: usize) -> Result<Self, IoError> {
        let split_end = split.start.saturating_add(split.length);
        // To know whether a line begins at the first byte takes a look at the byte before.
        let base = if split.whole { 0 } else { split.start.saturating_sub(1) };
        let opened = match split.whole {
            _ if split.is_empty() => Ok(None),
            true => Source::open_decoded(&split.location).map(Some),
            false => Source::open_raw(&split.location, base, split_end).map(Some),
        };
        let source = match opened {
            Err(error) if options.forgives(&error) => None,
            opened => opened?,
        };
        let begins_file = split.whole || split.start == 0;
        Ok(Self {
            source,
            options,
            buffer: vec![0; buffer_bytes.max(BUFFER_BYTES_MIN)],
            start: 0,
            filled: 0,
            base,
            end: if split.whole { u64::MAX } else { split_end },
            length_min: split.content_bytes().map_or(0, |_| split_end),
            at_eof: false,
            failure: None,
            found: Vec::with_capacity(FOUND_MAX),
            long_line: Vec::new(),
            at_file_start: begins_file,
            skips_first: !begins_file,
        })
    }

    /// Adds up to `max` lines to `out`, and no more when they are as much as the usual buffer holds: of longer lines, one
    /// at a time. Returns whether there may be more.
    ///
    /// An error, too, comes after the lines before it.
    pub fn next_batch(&mut self, out: &mut Vec<String>, max: usize) -> Result<bool, IoError> {
        let result = self.try_next(out, max);
        if !matches!(result, Ok(true)) {
            self.source = None;
        }
        match result {
            Err(error) if self.options.forgives(&error) => Ok(false),
            result => result,
        }
    }

    fn try_next(&mut self, out: &mut Vec<String>, max: usize) -> Result<bool, IoError> {
        let (mut left, begin) = (max, self.position());
        while self.source.is_some() && self.has_more() {
            let is_full = left < max && self.position() - begin >= BUFFER_BYTES as u64;
            if left == 0 || is_full {
                return Ok(true);
            }
            let has_progressed = if self.skips_first {
                self.skip_line()
            } else {
                let given = if self.long_line.is_empty() {
                    self.take_buffered(out, left)
                } else {
                    usize::from(self.end_long_line(out))
                };
                left -= given;
                given > 0
            };
            if has_progressed {
                continue;
            }
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            if self.at_eof {
                let has_begun = !self.long_line.is_empty() || self.start < self.filled;
                if has_begun && !self.skips_first {
                    self.give_long_line(self.filled, out);
                }
                return Ok(false);
            }
            self.fill();
        }
        Ok(false)
    }

    /// Where what was not yet given out, nor kept of a long line, stands in the file.
    fn position(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Whether a line of this piece has begun or may begin.
    fn has_more(&self) -> bool {
        !self.long_line.is_empty() || self.position() < self.end
    }

    /// Passes over the first line, or over as much of it as is in the buffer; returns whether its end was there.
    fn skip_line(&mut self) -> bool {
        let data = &self.buffer[self.start..self.filled];
        let line = find_line(data, self.at_eof);
        let unread = usize::from(data.last() == Some(&b'\r'));
        self.start += line.map_or(data.len() - unread, |(_, next)| next);
        self.skips_first = line.is_none();
        line.is_some()
    }

    /// Gives out lines whose ends are in the buffer, a bounded number of them; returns how many.
    fn take_buffered(&mut self, out: &mut Vec<String>, max: usize) -> usize {
        let data = &self.buffer[..self.filled];
        let end = usize::try_from(self.end - self.base).unwrap_or(usize::MAX);
        self.found.clear();
        let mut next = self.start;
        while self.found.len() < max.min(FOUND_MAX) && next < end {
            let Some((line, after)) = find_line(&data[next..], self.at_eof) else { break };
            self.found.push((next + line, next + after));
            next += after;
        }
        // Many lines are checked at once, which is much faster than one by one.
        let begin = self.start;
        match from_utf8(&data[begin..next]) {
            Ok(text) => {
                let mut from = 0;
                for (line, after) in &self.found {
                    out.push(text[from..line - begin].to_owned());
                    from = after - begin;
                }
            }
            Err(_) => {
                let mut from = begin;
                for &(line, after) in &self.found {
                    out.push(String::from_utf8_lossy(&data[from..line]).into_owned());
                    from = after;
                }
            }
        }
        self.start = next;
        self.found.len()
    }

    /// Gives out the long line if its end is in the buffer; returns whether it was.
    fn end_long_line(&mut self, out: &mut Vec<String>) -> bool {
        let line = find_line(&self.buffer[self.start..self.filled], self.at_eof);
        if let Some((line, after)) = line {
            let next = self.start + after;
            self.give_long_line(self.start + line, out);
            self.start = next;
        }
        line.is_some()
    }

    /// Gives out the line that ends at `end` in the buffer and may have begun before it.
    fn give_long_line(&mut self, end: usize, out: &mut Vec<String>) {
        let mut line = std::mem::take(&mut self.long_line);
        line.extend_from_slice(&self.buffer[self.start..end]);
        // It grew by doubling, and rows may be kept for long.
        line.shrink_to_fit();
        let text = String::from_utf8(line);
        out.push(text.unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned()));
    }

    /// Reads on behind what is in the buffer; makes room first.
    ///
    /// An error is kept until the lines that were read before it are given out.
    fn fill(&mut self) {
        let Some(source) = &mut self.source else { return };
        if self.start == 0 && self.filled == self.buffer.len() {
            // A line longer than the buffer. Whether a `\r` at its end is a whole line end is not known yet.
            let unread = usize::from(self.buffer.last() == Some(&b'\r'));
            self.start = self.filled - unread;
            self.long_line.extend_from_slice(&self.buffer[..self.start]);
        }
        self.buffer.copy_within(self.start..self.filled, 0);
        self.base += self.start as u64;
        self.filled -= self.start;
        self.start = 0;
        let before = source.offset();
        let result = source.fill(&mut self.buffer[self.filled..]);
        self.filled += (source.offset() - before) as usize;
        let length = self.base + self.filled as u64;
        match result {
            Err(error) => self.failure = Some(error),
            Ok(_) if self.filled == self.buffer.len() => (),
            Ok(_) if length < self.length_min => {
                let location = source.location().to_string();
                self.failure = Some(IoError::Truncated { location, length, expected: self.length_min });
            }
            Ok(_) => self.at_eof = true,
        }
        if std::mem::take(&mut self.at_file_start) && self.buffer[..self.filled].starts_with(BYTE_ORDER_MARK)
        {
            self.start = BYTE_ORDER_MARK.len();
            // The first line began with the mark, so it belongs to a piece that ends within the mark too.
            self.end = self.end.max(self.start as u64 + 1);
        }
    }
}

impl fmt::Debug for LineReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LineReader")
            .field("location", &self.source.as_ref().map(Source::location))
            .field("offset", &self.position())
            .finish_non_exhaustive()
    }
}

/// Finds the first line: where it ends and where the next one begins.
///
/// `None` when its end is not in the data, or may go on behind it.
#[inline]
fn find_line(data: &[u8], at_eof: bool) -> Option<(usize, usize)> {
    let end = memchr2(b'\n', b'\r', data)?;
    if data[end] == b'\n' {
        return Some((end, end + 1));
    }
    match data.get(end + 1) {
        Some(b'\n') => Some((end, end + 2)),
        Some(_) => Some((end, end + 1)),
        None => at_eof.then_some((end, end + 1)),
    }
}

#[cfg(test)]
mod tests;
