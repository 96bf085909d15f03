//! Binary records and whole files.

use std::fs;

use firesteel::prelude::*;

use crate::{
    reference::{CODECS, MARK, compressed, texts},
    support::each_backend,
};

#[test]
fn records_of_any_length_come_back_plain_and_compressed() {
    let ctx = Context::local(2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data: Vec<u8> = (0..2520_u32).map(|byte| (byte % 251) as u8).collect();
    let plain = folder.path().join("plain").to_str().unwrap().to_owned();
    fs::write(&plain, &data).unwrap();

    for length in [1, 2, 3, 7, 8, 9, 10, 252, 1260, 2520] {
        let expected: Vec<&[u8]> = data.chunks(length).collect();
        let rows = ctx.binary_records(&plain, length as u64).unwrap();
        assert_eq!(rows.collect().unwrap(), expected, "{length}");
        for codec in CODECS {
            let path = format!("{plain}{}", codec.suffix());
            fs::write(&path, compressed(codec, &data, 3)).unwrap();
            let rows = ctx.binary_records(&path, length as u64).unwrap();
            assert_eq!(rows.collect().unwrap(), expected, "{codec} {length}");
        }
    }
    let refused = ctx.binary_records(&plain, 11).err().unwrap().to_string();
    assert!(refused.contains("2520 bytes, which is not a multiple of the record length 11"), "{refused}");
    let packed = ctx.binary_records(&format!("{plain}.gz"), 11).unwrap().collect().unwrap_err().to_string();
    assert!(packed.contains("not a multiple of the record length 11"), "{packed}");
    assert!(ctx.binary_records(&plain, 0).is_err());
}

/// Behaviours: RDD-027.
#[test]
fn whole_files_come_back_to_the_letter_on_every_backend() {
    each_backend(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        let mut expected = Vec::new();
        for (number, (_, text)) in texts().into_iter().enumerate() {
            let path = format!("{root}/{number:02}");
            fs::write(&path, &text).unwrap();
            expected.push((path, text));
        }

        let bytes = ctx.binary_files(root).unwrap().collect().unwrap();
        let texts = ctx.whole_text_files(root).unwrap().collect().unwrap();

        assert_eq!(bytes, expected);
        let lossy =
            |(path, text): &(String, Vec<u8>)| (path.clone(), String::from_utf8_lossy(text).into_owned());
        assert_eq!(texts, expected.iter().map(lossy).collect::<Vec<_>>());
        assert!(
            texts.iter().any(|(_, text)| text.as_bytes().starts_with(MARK)),
            "a mark is part of the whole"
        );
    });
}

#[test]
fn compressed_files_are_whole_as_text_and_as_they_are_as_bytes() {
    let ctx = Context::local(2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for codec in CODECS {
        let path = folder.path().join(format!("a{}", codec.suffix())).to_str().unwrap().to_owned();
        let stored = compressed(codec, b"one\r\ntwo\rthree", 2);
        fs::write(&path, &stored).unwrap();

        assert_eq!(ctx.whole_text_files(&path).unwrap().first().unwrap().1, "one\r\ntwo\rthree", "{codec}");
        assert_eq!(ctx.binary_files(&path).unwrap().first().unwrap().1, stored, "{codec}");
    }
}
