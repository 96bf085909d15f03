//! What the rows of a file must be, by the plainest of means, and texts that are likely to go wrong.

use std::io::Write;

use firesteel::Codec;

pub(crate) const CODECS: [Codec; 4] = [Codec::Gzip, Codec::Zstd, Codec::Bzip2, Codec::Lz4];

pub(crate) const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The lines of a text, found one byte after the other.
pub(crate) fn lines(data: &[u8]) -> Vec<String> {
    let data = data.strip_prefix(MARK).unwrap_or(data);
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut has_begun = false;
    let mut after_return = false;
    for &byte in data {
        let ends_return = std::mem::take(&mut after_return) && byte == b'\n';
        if ends_return {
            continue;
        }
        if matches!(byte, b'\n' | b'\r') {
            lines.push(String::from_utf8_lossy(&line).into_owned());
            line.clear();
            has_begun = false;
            after_return = byte == b'\r';
        } else {
            line.push(byte);
            has_begun = true;
        }
    }
    if has_begun {
        lines.push(String::from_utf8_lossy(&line).into_owned());
    }
    lines
}

/// Short texts of every form, each with a name.
pub(crate) fn texts() -> Vec<(String, Vec<u8>)> {
    let mut texts = vec![
        ("empty".to_owned(), Vec::new()),
        ("one line".to_owned(), b"one line".to_vec()),
        ("one end".to_owned(), b"\n".to_vec()),
        ("only returns".to_owned(), b"\r\r\r\n\r".to_vec()),
        ("only a mark".to_owned(), MARK.to_vec()),
        ("half a mark".to_owned(), b"\xEF\xBBa\nb".to_vec()),
        ("not UTF-8".to_owned(), b"a\xff\xfeb\n\xf0\x9f\x98\r\nfine\r\xc3".to_vec()),
        ("mixed ends".to_owned(), b"a\nbb\r\nccc\rdddd\n\re\r\r\n\n\nf\n".to_vec()),
    ];
    for (name, end) in [("newlines", "\n"), ("returns", "\r"), ("both", "\r\n")] {
        for closed in [true, false] {
            let rows: Vec<String> =
                (0..30).map(|row: usize| "äx€y".repeat(row % 7) + &row.to_string()).collect();
            let mut text = rows.join(end).into_bytes();
            if closed {
                text.extend(end.as_bytes());
            }
            texts.push((format!("{name}, closed: {closed}"), text.clone()));
            texts.push((format!("{name} behind a mark, closed: {closed}"), [MARK, &text].concat()));
        }
    }
    texts
}

/// Texts with lines that are longer than any buffer, and line ends on both sides of where a buffer ends.
pub(crate) fn long_texts() -> Vec<(String, Vec<u8>)> {
    let buffer = 256 << 10;
    let mut texts = Vec::new();
    for end in ["\n", "\r", "\r\n"] {
        for short_by in 0..3 {
            let first = "x".repeat(buffer - short_by);
            texts.push((
                format!("{end:?} {short_by} bytes before the end of a buffer"),
                format!("{first}{end}b{end}{}{end}{end}d", "ü".repeat(400_000)).into_bytes(),
            ));
        }
    }
    texts.push(("one long line".to_owned(), vec![b'x'; 1_500_000]));
    texts
}

/// A compressed file of several streams behind each other, which end anywhere in the text.
pub(crate) fn compressed(codec: Codec, text: &[u8], streams: usize) -> Vec<u8> {
    let step = text.len().div_ceil(streams).max(1);
    let parts: Vec<&[u8]> = if text.is_empty() { vec![text] } else { text.chunks(step).collect() };
    parts.into_iter().flat_map(|part| one_stream(codec, part)).collect()
}

/// A stream with the checksum that its format has.
pub(crate) fn one_stream(codec: Codec, text: &[u8]) -> Vec<u8> {
    match codec {
        Codec::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        Codec::Zstd => {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            encoder.include_checksum(true).unwrap();
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        Codec::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        Codec::Lz4 => {
            let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
            let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        codec => panic!("{codec:?} is new"),
    }
}
