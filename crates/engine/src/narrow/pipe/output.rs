//! What a program prints, cut into lines: [`Output`].

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use memchr::memchr2;

/// Reads lines that end as those of a text file do: with `\n`, `\r\n` or a lone `\r`; the last one may have no end.
pub(super) struct Output<R> {
    bytes: BufReader<R>,
    /// The last line ended with `\r`. It was given out at once, since a program may wait before it prints more, so a `\n`
    /// that follows belongs to it.
    after_return: bool,
}

impl<R: Read> Output<R> {
    pub(super) fn new(bytes: R) -> Self {
        Self { bytes: BufReader::new(bytes), after_return: false }
    }

    /// The next line without its end; `None` when the output is over.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut has_begun = false;
        loop {
            let data = match self.bytes.fill_buf() {
                Ok(data) => data,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if data.is_empty() {
                return Ok(has_begun.then_some(line));
            }
            if std::mem::take(&mut self.after_return) && data[0] == b'\n' {
                self.bytes.consume(1);
                continue;
            }
            has_begun = true;
            if let Some(end) = memchr2(b'\n', b'\r', data) {
                line.extend_from_slice(&data[..end]);
                self.after_return = data[end] == b'\r';
                self.bytes.consume(end + 1);
                return Ok(Some(line));
            }
            line.extend_from_slice(data);
            let read = data.len();
            self.bytes.consume(read);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, as a slow program does.
    struct ByteByByte<'a>(&'a [u8]);

    impl Read for ByteByByte<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut out[..1])
        }
    }

    fn lines(bytes: impl Read) -> Vec<String> {
        let mut output = Output::new(bytes);
        std::iter::from_fn(|| output.next_line().unwrap())
            .map(|line| String::from_utf8(line).unwrap())
            .collect()
    }

    #[test]
    fn lines_end_as_those_of_a_text_file_do() {
        let cases: [(&str, &[&str]); 7] = [
            ("", &[]),
            ("a", &["a"]),
            ("a\nb\r\nc\rd", &["a", "b", "c", "d"]),
            ("a\r\n", &["a"]),
            ("\r\r\n\n\r", &["", "", "", ""]),
            ("\r\n\r\n", &["", ""]),
            ("a\rb\n\nc\r", &["a", "b", "", "c"]),
        ];

        for (printed, expected) in cases {
            assert_eq!(lines(printed.as_bytes()), expected, "{printed:?}");
            assert_eq!(lines(ByteByByte(printed.as_bytes())), expected, "{printed:?}");
        }
    }
}
