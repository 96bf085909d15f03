//! Frames: what comes back, and what damage of every byte does.

use std::io::{self, Read, Write};

use proptest::prelude::*;

use super::super::{CodecError, Compression};
use super::*;

const ALL: [Compression; 3] = [Compression::None, Compression::Lz4, Compression::Zstd { level: 1 }];

fn write(compression: Compression, frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut writer = FrameWriter::new(Vec::new(), compression).unwrap();
    for (rows, raw) in frames {
        writer.write_frame(*rows, Layout::Compact, raw).unwrap();
    }
    writer.into_inner()
}

fn read(bytes: impl Read) -> Result<Vec<(u32, Vec<u8>)>, CodecError> {
    let mut reader = FrameReader::new(bytes);
    let mut frames = Vec::new();
    let mut raw = Vec::new();
    while let Some(frame) = reader.next_frame(&mut raw)? {
        frames.push((frame.rows, raw.clone()));
    }
    Ok(frames)
}

fn text(lines: usize) -> Vec<u8> {
    (0..lines).flat_map(|line| format!("line {} of a text\n", line % 17).into_bytes()).collect()
}

fn noise(bytes: usize) -> Vec<u8> {
    let mut rng = firesteel_types::Rng::new(5);
    (0..bytes).map(|_| rng.next_u64() as u8).collect()
}

#[test]
fn frames_come_back_under_every_compression() {
    let frames =
        [(1, text(1)), (900, text(5000)), (1, Vec::new()), (7, noise(3000)), (FRAME_ROWS_MAX, text(3))];
    for compression in ALL {
        assert_eq!(read(&write(compression, &frames)[..]).unwrap(), frames, "{compression}");
    }
}

#[test]
fn compression_shrinks_text_and_leaves_noise_alone() {
    for compression in [Compression::Lz4, Compression::Zstd { level: 3 }] {
        assert!(write(compression, &[(1, text(5000))]).len() < text(5000).len() / 4, "{compression}");
        assert_eq!(write(compression, &[(1, noise(4000))]).len(), 4000 + 16, "{compression}");
    }
}

#[test]
fn frames_of_different_compression_follow_each_other() {
    let blocks: Vec<u8> = ALL.iter().flat_map(|compression| write(*compression, &[(2, text(90))])).collect();

    assert_eq!(read(&blocks[..]).unwrap(), vec![(2, text(90)); 3]);
}

#[test]
fn every_flipped_bit_of_a_frame_is_found() {
    for compression in ALL {
        let sound = write(compression, &[(3, text(40))]);
        for byte in 0..sound.len() {
            for bit in 0..8 {
                let mut damaged = sound.clone();
                damaged[byte] ^= 1 << bit;

                let error = read(&damaged[..]).unwrap_err();

                assert!(error.is_damage(), "{compression}, byte {byte}, bit {bit}: {error}");
            }
        }
    }
}

#[test]
fn a_frame_cut_anywhere_is_found() {
    let sound = write(Compression::Lz4, &[(3, text(40))]);
    for length in 1..sound.len() {
        let error = read(&sound[..length]).unwrap_err();

        let CodecError::Truncated { missing } = error else { panic!("{length}: {error}") };
        let whole = if length < 16 { 16 } else { sound.len() };
        assert_eq!(missing, whole - length);
    }
}

#[test]
fn a_header_that_promises_gigabytes_reserves_what_is_there() {
    let mut huge = write(Compression::None, &[(1, text(1))]);
    huge[..4].copy_from_slice(&0x7000_0000_u32.to_le_bytes());
    huge[4..8].copy_from_slice(&0x7000_0000_u32.to_le_bytes());
    let mut reader = FrameReader::new(&huge[..]);
    let mut raw = Vec::new();

    let error = reader.next_frame(&mut raw).unwrap_err();

    assert!(matches!(error, CodecError::Truncated { .. }), "{error}");
    assert!(raw.capacity() <= 4 << 20, "{}", raw.capacity());
}

#[test]
fn headers_that_no_writer_writes_are_refused() {
    let sound = write(Compression::None, &[(1, text(1))]);
    let with = |at: usize, value: u32| {
        let mut bytes = sound.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let refused = |bytes: &[u8]| matches!(read(bytes), Err(CodecError::Header { .. }));

    assert!(refused(&with(0, u32::MAX)), "longer than a frame can be");
    assert!(refused(&with(4, 1_000_000)), "payload longer than the rows");
    assert!(refused(&with(8, 0)), "no rows");
    assert!(refused(&with(8, FRAME_ROWS_MAX + 1)), "too many rows");
    assert!(refused(&with(8, 1 | 3 << 25)), "no such compression");
    assert!(refused(&with(8, 1 | 1 << 31)), "an unknown flag");
    assert!(refused(&[0; 64]), "a hole in a file");
}

#[test]
fn a_row_larger_than_a_frame_is_refused_before_it_is_compressed() {
    let mut writer = FrameWriter::new(io::sink(), Compression::Lz4).unwrap();
    // Zeroed pages that are not touched take no memory.
    let huge = vec![0; FRAME_MAX + 1];

    let error = writer.write_frame(1, Layout::Compact, &huge).unwrap_err();

    assert!(matches!(error, CodecError::TooLarge { .. }), "{error}");
}

#[test]
fn a_stream_that_gives_single_bytes_is_read_whole() {
    struct Drip<'a>(&'a [u8], bool);
    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let length = out.len().min(1);
            self.0.read(&mut out[..length])
        }
    }
    let frames = [(3, text(40)), (1, noise(50))];

    assert_eq!(read(Drip(&write(Compression::Lz4, &frames), false)).unwrap(), frames);
}

#[test]
fn a_failing_stream_is_no_damage() {
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = FrameWriter::new(Broken, Compression::Lz4).unwrap();

    let error = writer.write_frame(1, Layout::Compact, b"row").unwrap_err();

    assert!(!error.is_damage());
    assert!(matches!(error, CodecError::Io { source } if source.kind() == io::ErrorKind::StorageFull));
}

proptest! {
    #[test]
    fn any_bytes_are_frames_or_an_error(bytes: Vec<u8>) {
        prop_assert!(bytes.is_empty() || read(&bytes[..]).is_err());
    }
}
