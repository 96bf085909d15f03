//! The lines of a piece of a file: [`LineReader`].
//!
//! A line belongs to the piece in which its first byte lies, so pieces cut anywhere give each line once. Lines end with
//! `\n`, `\r\n` or a lone `\r`, as in Hadoop's `LineRecordReader`; the last one may have no end. Bytes that are not
//! UTF-8 become replacement characters.

use std::fmt;
use std::vec;

use memchr::memchr2;
use simdutf8::basic::from_utf8;

use super::error::IoError;
use super::source::{ReadOptions, Source};
use super::split::FileSplit;

/// How much is read at a time: enough that a system call costs nothing, small enough to stay in the cache.
const BUFFER_BYTES: usize = 256 << 10;

/// How many lines are looked for before they are given out: so many that a pass over them costs little by itself.
const FOUND_MAX: usize = 512;

/// Reads the lines that begin in a piece of a file.
pub(crate) struct LineReader {
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
    /// The file is known to reach to `end`.
    must_reach_end: bool,
    at_eof: bool,
    /// Why no more can be read.
    failure: Option<IoError>,
    /// Where lines in the buffer end and the next ones begin; kept for its memory.
    found: Vec<(usize, usize)>,
    /// The first line begins in the piece before and must be passed over.
    skips_first: bool,
}

impl LineReader {
    /// Opens a piece of a file.
    ///
    /// A missing file is an empty one if the options say so.
    pub(crate) fn open(split: &FileSplit, options: ReadOptions) -> Result<Self, IoError> {
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
        Ok(Self {
            source,
            options,
            buffer: vec![0; buffer_bytes],
            start: 0,
            filled: 0,
            base,
            end: if split.whole { u64::MAX } else { split_end },
            must_reach_end: !split.whole,
            at_eof: false,
            failure: None,
            found: Vec::with_capacity(FOUND_MAX),
            skips_first: !split.whole && split.start > 0,
        })
    }

    /// Adds up to `max` lines to `out`; returns whether there may be more.
    pub(crate) fn next_batch(&mut self, out: &mut Vec<String>, max: usize) -> Result<bool, IoError> {
        self.visit_batch(max, |line| out.push(line.to_owned()))
    }

    /// Calls `visit` with up to `max` lines; returns whether there may be more.
    ///
    /// An error, too, comes after the lines before it.
    pub(crate) fn visit_batch(&mut self, max: usize, visit: impl FnMut(&str)) -> Result<bool, IoError> {
        let result = self.try_visit(max, visit);
        if !matches!(result, Ok(true)) {
            self.source = None;
        }
        match result {
            Err(error) if self.options.forgives(&error) => Ok(false),
            result => result,
        }
    }

    fn try_visit(&mut self, max: usize, mut visit: impl FnMut(&str)) -> Result<bool, IoError> {
        let mut left = max;
        while self.source.is_some() && self.base + (self.start as u64) < self.end {
            if left == 0 {
                return Ok(true);
            }
            let has_progressed = if self.skips_first {
                self.skip_line()
            } else {
                let visited = self.visit_buffered(left, &mut visit);
                left -= visited;
                visited > 0
            };
            if has_progressed {
                continue;
            }
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            if self.at_eof {
                if self.start < self.filled && !self.skips_first {
                    visit(&String::from_utf8_lossy(&self.buffer[self.start..self.filled]));
                }
                return Ok(false);
            }
            self.fill();
        }
        Ok(false)
    }

    /// Passes over the first line, if its end is in the buffer.
    fn skip_line(&mut self) -> bool {
        let line = find_line(&self.buffer[self.start..self.filled], self.at_eof);
        self.start += line.map_or(0, |(_, next)| next);
        self.skips_first = line.is_none();
        line.is_some()
    }

    /// Visits lines whose ends are in the buffer, a bounded number of them; returns how many.
    fn visit_buffered(&mut self, max: usize, visit: &mut impl FnMut(&str)) -> usize {
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
                    visit(&text[from..line - begin]);
                    from = after - begin;
                }
            }
            Err(_) => {
                let mut from = begin;
                for &(line, after) in &self.found {
                    visit(&String::from_utf8_lossy(&data[from..line]));
                    from = after;
                }
            }
        }
        self.start = next;
        self.found.len()
    }

    /// Reads on behind what is in the buffer; makes room first.
    ///
    /// An error is kept until the lines that were read before it are given out.
    fn fill(&mut self) {
        let Some(source) = &mut self.source else { return };
        self.buffer.copy_within(self.start..self.filled, 0);
        self.base += self.start as u64;
        self.filled -= self.start;
        self.start = 0;
        if self.filled == self.buffer.len() {
            // A line longer than the buffer. Doubling keeps the cost of looking for its end linear.
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let before = source.offset();
        let result = source.fill(&mut self.buffer[self.filled..]);
        self.filled += (source.offset() - before) as usize;
        let length = self.base + self.filled as u64;
        match result {
            Err(error) => self.failure = Some(error),
            Ok(_) if self.filled == self.buffer.len() => (),
            Ok(_) if self.must_reach_end && length < self.end => {
                let location = source.location().to_string();
                self.failure = Some(IoError::Truncated { location, length, expected: self.end });
            }
            Ok(_) => self.at_eof = true,
        }
    }
}

impl IntoIterator for LineReader {
    type Item = Result<String, IoError>;
    type IntoIter = Lines;

    fn into_iter(self) -> Lines {
        Lines { reader: self, batch: Vec::new().into_iter(), error: None, is_done: false }
    }
}

/// The lines of a piece one by one; an error comes after the lines before it and is the last item.
#[derive(Debug)]
pub(crate) struct Lines {
    reader: LineReader,
    batch: vec::IntoIter<String>,
    error: Option<IoError>,
    is_done: bool,
}

impl Iterator for Lines {
    type Item = Result<String, IoError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(line) = self.batch.next() {
                return Some(Ok(line));
            }
            if self.is_done {
                return self.error.take().map(Err);
            }
            let mut batch = Vec::with_capacity(FOUND_MAX);
            match self.reader.next_batch(&mut batch, FOUND_MAX) {
                Ok(more) => self.is_done = !more,
                Err(error) => {
                    self.is_done = true;
                    self.error = Some(error);
                }
            }
            self.batch = batch.into_iter();
        }
    }
}

impl fmt::Debug for LineReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LineReader")
            .field("location", &self.source.as_ref().map(Source::location))
            .field("offset", &(self.base + self.start as u64))
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
