//! Lines of pieces against a naive reader of the whole text, and every kind of bad input.

use std::fs;
use std::io::Write;

use firesteel_storage::memory::{TaskMeter, is_counting, meter};
use proptest::prelude::*;

use super::*;
use crate::codec::{Codec, Encoder};
use crate::expand::InputFile;
use crate::location::Location;
use crate::split::plan_splits;

const OPTIONS: ReadOptions = ReadOptions { ignore_corrupt_files: false, ignore_missing_files: false };

fn location(path: &std::path::Path) -> Location {
    Location::parse(path.to_str().unwrap()).unwrap()
}

fn input(location: Location, size: usize) -> InputFile {
    InputFile { location, size: size as u64, has_ranges: true }
}

fn split(location: &Location, start: u64, length: u64) -> FileSplit {
    FileSplit { location: location.clone(), start, length, whole: false }
}

fn lines_of(split: &FileSplit, buffer_bytes: usize, batch: usize) -> Vec<String> {
    let mut reader = LineReader::with_buffer(split, OPTIONS, buffer_bytes).unwrap();
    let mut lines = Vec::new();
    loop {
        let before = lines.len();
        let more = reader.next_batch(&mut lines, batch).unwrap();
        assert!(lines.len() - before <= batch);
        if !more {
            return lines;
        }
    }
}

/// The lines of a text by the plainest of means, one byte after the other.
fn naive_lines(data: &[u8]) -> Vec<String> {
    let data = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut at = 0;
    while at < data.len() {
        let is_end = matches!(data[at], b'\n' | b'\r');
        if is_end {
            if data[at] == b'\r' && data.get(at + 1) == Some(&b'\n') {
                at += 1;
            }
            lines.push(String::from_utf8_lossy(&line).into_owned());
            line.clear();
        } else {
            line.push(data[at]);
        }
        at += 1;
    }
    if !line.is_empty() {
        lines.push(String::from_utf8_lossy(&line).into_owned());
    }
    lines
}

/// A text with or without a byte-order mark, of pieces that are likely to go wrong at a cut.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let mark = prop::sample::select(vec![&b""[..], b"\xEF\xBB\xBF", b"\xEF\xBB"]);
    (mark, prop::collection::vec(token(), 0..40)).prop_map(|(mark, tokens)| [mark, &tokens.concat()].concat())
}

fn token() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => Just(b"\n".to_vec()),
        2 => Just(b"\r".to_vec()),
        3 => Just(b"\r\n".to_vec()),
        3 => "[a-z]{0,12}".prop_map(String::into_bytes),
        2 => "[äß€𝄞]{1,3}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 1..4),
        1 => (20_usize..90).prop_map(|length| vec![b'x'; length]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Behaviours: RDD-026.
    #[test]
    fn pieces_cut_anywhere_give_each_line_once(
        data in text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        buffer_bytes in 1_usize..40,
        batch in 1_usize..5,
    ) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), &data).unwrap();
        let location = location(file.path());
        let mut bounds: Vec<u64> = cuts.iter().map(|cut| cut.index(data.len() + 1) as u64).collect();
        bounds.extend([0, data.len() as u64]);
        bounds.sort_unstable();

        let mut lines = Vec::new();
        for piece in bounds.windows(2) {
            let split = split(&location, piece[0], piece[1] - piece[0]);
            lines.extend(lines_of(&split, buffer_bytes, batch));
        }

        prop_assert_eq!(lines, naive_lines(&data));
    }

    #[test]
    fn planned_pieces_give_each_line_once_whatever_the_codec(
        data in text(),
        codec in prop::option::of(prop::sample::select(Codec::ALL.to_vec())),
        min_partitions in 1_usize..8,
        buffer_bytes in 1_usize..40,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("a{}", codec.map_or("", Codec::suffix)));
        let mut encoder = Encoder::new(codec, Vec::new()).unwrap();
        encoder.write_all(&data).unwrap();
        let stored = encoder.finish().unwrap();
        fs::write(&path, &stored).unwrap();

        let splits = plan_splits(&[input(location(&path), stored.len())], min_partitions, None);
        let lines: Vec<String> =
            splits.iter().flat_map(|split| lines_of(split, buffer_bytes, 100)).collect();

        prop_assert_eq!(lines, naive_lines(&data));
    }
}

#[test]
fn a_line_belongs_to_the_piece_of_its_first_byte() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "ab\ncd\r\nef").unwrap();
    let location = location(file.path());
    let lines = |start, length| lines_of(&split(&location, start, length), 4, 10);

    assert_eq!(lines(0, 3), ["ab"]);
    assert_eq!(lines(0, 4), ["ab", "cd"]);
    assert_eq!(lines(3, 1), ["cd"]);
    assert_eq!(lines(4, 3), Vec::<String>::new());
    assert_eq!(lines(6, 3), ["ef"], "a cut between the two characters of a line's end");
    assert_eq!(lines(7, 2), ["ef"]);
    assert_eq!(lines(8, 1), Vec::<String>::new());
}

#[test]
fn a_line_may_be_far_longer_than_the_buffer() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let long = "ü".repeat(500_000);
    fs::write(file.path(), format!("a\n{long}\nb")).unwrap();
    let location = location(file.path());

    let lines = lines_of(&split(&location, 0, 1_000_004), 16, 1);

    assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [1, 1_000_000, 1]);
    assert_eq!(lines_of(&split(&location, 3, 10), 16, 1), Vec::<String>::new());
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), b"a\xffb\nfine\n\xf0\x9f\x98").unwrap();

    let lines = lines_of(&split(&location(file.path()), 0, 12), 64, 10);

    assert_eq!(lines, ["a\u{fffd}b", "fine", "\u{fffd}"]);
}

#[test]
fn a_piece_inside_a_long_line_holds_none_of_it() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), format!("{}\nlast", "x".repeat(4 << 20))).unwrap();
    let location = location(file.path());
    let peak = |start, length| {
        let meter = TaskMeter::start();
        let lines = lines_of(&split(&location, start, length), 1 << 10, 10);
        let peak = meter::peak();
        drop(meter);
        (lines.iter().map(String::len).collect::<Vec<_>>(), peak)
    };

    let (inside, held) = peak(1 << 20, 1 << 20);
    let (behind, held_behind) = peak(2 << 20, (2 << 20) + 5);

    assert_eq!(inside, [0; 0]);
    assert_eq!(behind, [4]);
    if is_counting() {
        assert!(
            held.max(held_behind) < 64 << 10,
            "{held} and {held_behind} bytes for a line of another piece"
        );
    }
}

#[test]
fn a_long_line_is_kept_without_spare_room() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), format!("{}\nb", "x".repeat(1_100_000))).unwrap();

    let lines = lines_of(&split(&location(file.path()), 0, 1_100_002), BUFFER_BYTES, 10);

    assert_eq!(lines.iter().map(String::len).collect::<Vec<_>>(), [1_100_000, 1]);
    assert!(lines[0].capacity() < 1_200_000, "{}", lines[0].capacity());
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let cases: [(&[u8], &[&str]); 6] = [
        (b"\xEF\xBB\xBFa\nb", &["a", "b"]),
        (b"\xEF\xBB\xBF\nb", &["", "b"]),
        (b"\xEF\xBB\xBF", &[]),
        (b"\xEF\xBB\xBF\xEF\xBB\xBFa", &["\u{feff}a"]),
        (b"a\n\xEF\xBB\xBFb", &["a", "\u{feff}b"]),
        (b"\xEF\xBBa", &["\u{fffd}a"]),
    ];

    for (data, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        for codec in [None, Some(Codec::Gzip), Some(Codec::Lz4)] {
            let path = folder.path().join(format!("a{}", codec.map_or("", Codec::suffix)));
            let mut encoder = Encoder::new(codec, Vec::new()).unwrap();
            encoder.write_all(data).unwrap();
            let stored = encoder.finish().unwrap();
            fs::write(&path, &stored).unwrap();
            for pieces in 1..=data.len() {
                let splits = plan_splits(&[input(location(&path), stored.len())], pieces, None);
                let lines: Vec<String> =
                    splits.iter().flat_map(|split| lines_of(split, BUFFER_BYTES, 10)).collect();
                assert_eq!(lines, expected, "{data:?} in {pieces} pieces, {codec:?}");
            }
        }
    }
}

#[test]
fn a_file_that_shrank_is_an_error_after_its_whole_lines() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "a\nb\ncut of").unwrap();
    let location = location(file.path());
    let whole = split(&location, 0, 100);
    let mut reader = LineReader::open(&whole, OPTIONS).unwrap();
    let mut lines = Vec::new();

    let error = loop {
        match reader.next_batch(&mut lines, 1) {
            Ok(more) => assert!(more, "the reader ended as if all was well"),
            Err(error) => break error,
        }
    };

    let message = format!("{location} ends at byte 10, but had at least 100 bytes when the job was planned");
    assert_eq!(error.to_string(), message);
    assert!(error.is_corrupt());
    assert_eq!(lines, ["a", "b"]);
    assert!(!reader.next_batch(&mut lines, 1).unwrap(), "nothing comes after an error");
    // A piece that lies behind the new end.
    let mut reader = LineReader::open(&split(&location, 50, 10), OPTIONS).unwrap();
    assert!(reader.next_batch(&mut lines, 1).unwrap_err().is_corrupt());
}

#[test]
fn a_missing_file_is_named_or_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let location = location(&folder.path().join("gone"));
    let split = split(&location, 0, 10);

    let error = LineReader::open(&split, OPTIONS).unwrap_err();
    let lenient = ReadOptions { ignore_missing_files: true, ..OPTIONS };
    let mut ignored = LineReader::open(&split, lenient).unwrap();

    assert_eq!(error.to_string(), format!("{location} does not exist"));
    assert!(!ignored.next_batch(&mut Vec::new(), 1).unwrap());
    let corrupt_only = ReadOptions { ignore_corrupt_files: true, ..OPTIONS };
    assert!(LineReader::open(&split, corrupt_only).unwrap_err().is_missing());
}

/// Behaviours: RDD-026.
#[test]
fn a_corrupt_file_is_an_error_unless_ignored() {
    let folder = tempfile::tempdir().unwrap();
    for codec in Codec::ALL {
        let mut encoder = Encoder::new(Some(codec), Vec::new()).unwrap();
        for number in 0..200_000 {
            writeln!(encoder, "line {number}").unwrap();
        }
        let mut stored = encoder.finish().unwrap();
        stored.truncate(stored.len() - 5);
        let path = folder.path().join(format!("a{}", codec.suffix()));
        fs::write(&path, &stored).unwrap();
        let location = location(&path);
        let split = &plan_splits(&[input(location.clone(), stored.len())], 1, None)[0];
        let read = |options| {
            let mut lines = Vec::new();
            let mut reader = LineReader::open(split, options).unwrap();
            let result = loop {
                match reader.next_batch(&mut lines, usize::MAX) {
                    Ok(true) => (),
                    ended => break ended,
                }
            };
            (result, lines)
        };

        let (strict, _) = read(OPTIONS);
        let (lenient, lines) = read(ReadOptions { ignore_corrupt_files: true, ..OPTIONS });

        let message = strict.unwrap_err().to_string();
        assert!(message.starts_with(&format!("corrupt {codec} data in {location}, after ")), "{message}");
        assert!(!lenient.unwrap());
        assert!(lines.len() > 100_000, "what was read before the damage counts: {codec} {}", lines.len());
    }
}

#[test]
fn garbage_with_the_suffix_of_a_codec_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for codec in Codec::ALL {
        let path = folder.path().join(format!("a{}", codec.suffix()));
        fs::write(&path, b"not compressed at all").unwrap();
        let location = location(&path);
        let split = FileSplit { location: location.clone(), start: 0, length: 21, whole: true };

        let error = LineReader::open(&split, OPTIONS)
            .and_then(|mut reader| reader.next_batch(&mut Vec::new(), 10))
            .unwrap_err();

        let message = format!("corrupt {codec} data in {location}, after 0 decompressed bytes");
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_folder_in_the_place_of_a_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let location = location(folder.path());

    let result = LineReader::open(&split(&location, 0, 10), OPTIONS)
        .and_then(|mut reader| reader.next_batch(&mut Vec::new(), 1));

    assert_eq!(result.unwrap_err().to_string(), format!("{location} is not a regular file"));
}

#[test]
fn a_read_that_the_system_refuses_is_named_with_its_place() {
    // Nothing of this process's memory lies at its first bytes, so the system answers with an error.
    let location = Location::Local("/proc/self/mem".to_owned());
    let mut reader = LineReader::open(&split(&location, 8, 100), OPTIONS).unwrap();

    let error = reader.next_batch(&mut Vec::new(), 1).unwrap_err();

    assert_eq!(error.to_string(), "cannot read /proc/self/mem at byte 7");
    assert!(std::error::Error::source(&error).is_some());
    assert!(!error.is_corrupt() && !error.is_missing());
}

#[test]
fn a_file_that_became_a_pipe_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let location = location(&path);

    let error = LineReader::open(&split(&location, 0, 10), OPTIONS).unwrap_err();

    assert_eq!(error.to_string(), format!("{location} is not a regular file"));
}

#[test]
fn a_batch_of_long_lines_ends_when_they_are_as_much_as_the_buffer() {
    let folder = tempfile::tempdir().unwrap();
    for (line_bytes, lines, batch_max) in
        [(2 * BUFFER_BYTES, 7, 1), (BUFFER_BYTES / 4, 30, 8), (100, 5_000, 1_024)]
    {
        let path = folder.path().join(line_bytes.to_string());
        let text = ["x".repeat(line_bytes), "\n".to_owned()].concat().repeat(lines);
        fs::write(&path, &text).unwrap();
        let split = split(&location(&path), 0, text.len() as u64);
        let mut reader = LineReader::open(&split, OPTIONS).unwrap();
        let (mut batch, mut found, mut most, mut more) = (Vec::new(), 0, 0, true);

        while more {
            more = reader.next_batch(&mut batch, 1_024).unwrap();
            most = most.max(batch.len());
            found += batch.drain(..).filter(|line| line.len() == line_bytes).count();
        }

        assert_eq!(found, lines);
        assert!(most <= batch_max, "{most} lines of {line_bytes} bytes");
    }
}
