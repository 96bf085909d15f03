//! Each codec through the same laws: what is written comes back, in any number of streams; damage is an error.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

fn compress(codec: Codec, data: &[u8]) -> Vec<u8> {
    let mut encoder = Encoder::new(Some(codec), Vec::new()).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn decompress(codec: Codec, data: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    decoder(codec, Box::new(Cursor::new(data)))?.read_to_end(&mut out)?;
    Ok(out)
}

/// Bytes that compress a little, so that there are several blocks.
fn sample(bytes: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 % 40
    };
    (0..bytes).map(|_| next()).collect()
}

/// Behaviours: RDD-026.
#[test]
fn what_was_compressed_comes_back() {
    for codec in Codec::ALL {
        for data in [Vec::new(), b"one line\n".to_vec(), sample(300_000)] {
            assert_eq!(decompress(codec, compress(codec, &data)).unwrap(), data, "{codec}");
        }
    }
}

#[test]
fn streams_may_follow_one_another() {
    for codec in Codec::ALL {
        let parts = [sample(100_000), Vec::new(), b"end".to_vec()];
        let joined: Vec<u8> = parts.iter().flat_map(|part| compress(codec, part)).collect();

        assert_eq!(decompress(codec, joined).unwrap(), parts.concat(), "{codec}");
    }
}

#[test]
fn frames_of_different_block_sizes_may_follow_one_another() {
    use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};

    let mut joined = Vec::new();
    for (size, mode) in [(BlockSize::Max4MB, BlockMode::Linked), (BlockSize::Max64KB, BlockMode::Independent)]
    {
        let info = FrameInfo::new().block_size(size).block_mode(mode);
        let mut encoder = FrameEncoder::with_frame_info(info, &mut joined);
        encoder.write_all(&sample(200_000)).unwrap();
        encoder.finish().unwrap();
    }

    assert_eq!(decompress(Codec::Lz4, joined).unwrap(), [sample(200_000), sample(200_000)].concat());
}

/// The frame format of the first versions: blocks of 8 MiB behind a magic number, without an end mark.
fn legacy_lz4(blocks: &[&[u8]]) -> Vec<u8> {
    let mut out = 0x184C_2102_u32.to_le_bytes().to_vec();
    for block in blocks {
        let packed = lz4_flex::block::compress(block);
        out.extend((packed.len() as u32).to_le_bytes());
        out.extend(packed);
    }
    out
}

/// A frame that decoders pass over.
fn skippable(number: u32, content: &[u8]) -> Vec<u8> {
    let magic = 0x184D_2A50 + number;
    [&magic.to_le_bytes()[..], &(content.len() as u32).to_le_bytes(), content].concat()
}

#[test]
fn legacy_lz4_files_are_read() {
    let full_block = sample(8 << 20);
    let noise: Vec<u8> =
        (0_u64..1 << 20).flat_map(|n| xxhash_rust::xxh3::xxh3_64(&n.to_le_bytes()).to_le_bytes()).collect();

    assert_eq!(decompress(Codec::Lz4, legacy_lz4(&[b"one line\n"])).unwrap(), b"one line\n");
    assert_eq!(decompress(Codec::Lz4, legacy_lz4(&[])).unwrap(), b"");
    let two = decompress(Codec::Lz4, legacy_lz4(&[&full_block, b"end"])).unwrap();
    assert!(two == [&full_block[..], b"end"].concat());
    assert_eq!(noise.len(), 8 << 20);
    assert!(
        legacy_lz4(&[&noise]).len() > noise.len(),
        "a block that does not compress is larger than its content"
    );
    assert!(decompress(Codec::Lz4, legacy_lz4(&[&noise])).unwrap() == noise);
}

#[test]
fn frames_of_every_kind_may_follow_one_another() {
    let lz4 = [
        skippable(0, b"first"),
        legacy_lz4(&[b"a"]),
        legacy_lz4(&[b"b", b"c"]),
        skippable(15, b""),
        compress(Codec::Lz4, b"d"),
        legacy_lz4(&[b"e"]),
        compress(Codec::Lz4, b"f"),
        skippable(7, &sample(300_000)),
    ];
    let zstd = [
        skippable(0, b"first"),
        compress(Codec::Zstd, b"ab"),
        skippable(3, b""),
        compress(Codec::Zstd, b"c"),
    ];

    assert_eq!(decompress(Codec::Lz4, lz4.concat()).unwrap(), b"abcdef");
    assert_eq!(decompress(Codec::Zstd, zstd.concat()).unwrap(), b"abc");
}

#[test]
fn legacy_and_skippable_frames_cut_within_a_block_are_errors() {
    let whole = [legacy_lz4(&[b"some text"]), skippable(2, b"passed over")].concat();
    let ends_of_frames = [4, legacy_lz4(&[b"some text"]).len()];

    for length in (1..whole.len()).filter(|length| !ends_of_frames.contains(length)) {
        let error = decompress(Codec::Lz4, whole[..length].to_vec()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "cut at {length}: {error}");
    }
    let huge = [&0x184C_2102_u32.to_le_bytes()[..], &(8_u32 << 20).to_le_bytes(), b"short"].concat();
    assert_eq!(decompress(Codec::Lz4, huge).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn an_empty_file_is_empty() {
    for codec in Codec::ALL {
        assert_eq!(decompress(codec, Vec::new()).unwrap(), b"", "{codec}");
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    for codec in Codec::ALL {
        let whole = compress(codec, &sample(2_000));
        for length in 1..whole.len() {
            let error = decompress(codec, whole[..length].to_vec());
            assert!(error.is_err(), "{codec} cut at {length} of {}", whole.len());
        }
    }
}

#[test]
fn a_file_cut_between_two_blocks_is_an_error() {
    for codec in Codec::ALL {
        let whole = compress(codec, &sample(300_000));
        for length in (1..whole.len()).step_by(997) {
            assert!(decompress(codec, whole[..length].to_vec()).is_err(), "{codec} cut at {length}");
        }
    }
    // The lz4 encoder above writes blocks of 64 KiB; this is the end of the first one.
    let whole = compress(Codec::Lz4, &sample(200_000));
    let header = 7;
    let not_compressed = 1 << 31;
    let block = u32::from_le_bytes(whole[header..header + 4].try_into().unwrap()) & !not_compressed;
    let cut = whole[..header + 4 + block as usize].to_vec();
    assert_eq!(decompress(Codec::Lz4, cut).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn other_data_is_an_error() {
    for codec in Codec::ALL {
        for garbage in [b"plain text\n".to_vec(), sample(5_000), vec![0; 100], vec![0x1f]] {
            let error = decompress(codec, garbage).unwrap_err();
            assert_eq!(error.raw_os_error(), None, "{codec}");
        }
        let mut trailing = compress(codec, b"good\n");
        trailing.extend_from_slice(b"garbage garbage");
        assert!(decompress(codec, trailing).is_err(), "{codec}");
    }
}

#[test]
fn the_suffix_tells_the_codec() {
    let of = |name: &str| Codec::of(&Location::Local(format!("/folder.gz/{name}")));

    assert_eq!(of("a.gz"), Some(Codec::Gzip));
    assert_eq!(of("a.txt.zst"), Some(Codec::Zstd));
    assert_eq!(of("a.bz2"), Some(Codec::Bzip2));
    assert_eq!(of("a.lz4"), Some(Codec::Lz4));
    assert_eq!(
        [of("A.GZ"), of("a.Bz2"), of("ä.ZST")],
        [Some(Codec::Gzip), Some(Codec::Bzip2), Some(Codec::Zstd)]
    );
    assert_eq!([of("a.txt"), of("gz"), of("a.gz.txt")], [None, None, None]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Damage is found by a checksum or by the format; it never panics, and never gives other data in silence.
    #[test]
    fn a_damaged_byte_never_gives_other_data(
        at in any::<prop::sample::Index>(),
        mask in 1_u8..=255,
        bytes in 1_usize..3_000,
    ) {
        for codec in Codec::ALL {
            let data = sample(bytes);
            let mut damaged = compress(codec, &data);
            let at = at.index(damaged.len());
            damaged[at] ^= mask;
            // Some bytes, such as the time in a gzip header, carry nothing of the content.
            if let Ok(read) = decompress(codec, damaged) {
                prop_assert_eq!(read, data, "{} byte {}", codec, at);
            }
        }
    }

    #[test]
    fn garbage_never_panics(garbage in prop::collection::vec(any::<u8>(), 0..400)) {
        for codec in Codec::ALL {
            let mut tail = compress(codec, b"x");
            tail.truncate(8);
            tail.extend_from_slice(&garbage);
            let _ = decompress(codec, tail);
            let _ = decompress(codec, garbage.clone());
        }
    }
}
