//! Compressed files of several streams, by names of either case.

use std::fs;

use firesteel::prelude::*;

use crate::reference::{self, CODECS, compressed, long_texts, texts};

/// Behaviours: RDD-027.
#[test]
fn streams_behind_each_other_give_the_lines_of_their_whole_text() {
    let ctx = Context::local(2).unwrap();
    let folder = tempfile::tempdir().unwrap();

    for codec in CODECS {
        for (name, text) in texts() {
            let expected = reference::lines(&text);
            for streams in [1, 2, 5] {
                let path = folder.path().join(format!("text{}", codec.suffix())).to_str().unwrap().to_owned();
                fs::write(&path, compressed(codec, &text, streams)).unwrap();
                for splits in [1, 9] {
                    let rows = ctx.text_file_into(&path, splits).unwrap().collect().unwrap();
                    assert_eq!(rows, expected, "{name} in {streams} streams of {codec}, {splits} splits");
                }
            }
        }
    }
}

#[test]
fn long_lines_and_names_in_capitals_are_read() {
    let ctx = Context::local(2).unwrap();
    let folder = tempfile::tempdir().unwrap();

    for codec in CODECS {
        for (name, text) in long_texts() {
            let suffix = codec.suffix().to_uppercase();
            let path = folder.path().join(format!("TEXT{suffix}")).to_str().unwrap().to_owned();
            fs::write(&path, compressed(codec, &text, 3)).unwrap();

            let rows = ctx.text_file(&path).unwrap().collect().unwrap();

            assert!(rows == reference::lines(&text), "{name} as {suffix}");
        }
    }
}

/// Frames as the first versions of the program `lz4` wrote them.
#[test]
fn legacy_and_skippable_frames_of_lz4_are_read() {
    let ctx = Context::local(2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.lz4").to_str().unwrap().to_owned();
    let packed = lz4_flex::block::compress(b"old\nfra");
    let legacy = [&0x184C_2102_u32.to_le_bytes()[..], &(packed.len() as u32).to_le_bytes(), &packed].concat();
    let skipped = [&0x184D_2A53_u32.to_le_bytes()[..], &5_u32.to_le_bytes(), b"notes"].concat();
    let usual = compressed(firesteel::Codec::Lz4, b"mes\nand new", 1);
    fs::write(&path, [&skipped[..], &legacy, &skipped, &usual].concat()).unwrap();

    assert_eq!(ctx.text_file(&path).unwrap().collect().unwrap(), ["old", "frames", "and new"]);
}
