//! Files that were cut or damaged: the rows are right, or the job fails; it never hangs, panics or gives other rows.

use std::{fs, time::Duration};

use firesteel::prelude::*;
use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};

use crate::{
    damage::{damaged, many},
    reference::{self, CODECS, compressed, one_stream},
    within,
};

const LIMIT: Duration = Duration::from_secs(60);

fn text() -> Vec<u8> {
    (0..40)
        .flat_map(|row| format!("row {row} of a file that something happened to\r\n").into_bytes())
        .collect()
}

#[test]
fn every_beginning_of_a_compressed_file_is_refused() {
    within(LIMIT, || {
        let ctx = Context::local(2).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for codec in CODECS {
            let path = folder.path().join(format!("cut{}", codec.suffix())).to_str().unwrap().to_owned();
            let whole = one_stream(codec, &text());
            for length in 1..whole.len() {
                fs::write(&path, &whole[..length]).unwrap();
                let error = ctx.text_file(&path).unwrap().collect().unwrap_err().to_string();
                assert!(error.contains(&format!("corrupt {codec} data in {path}")), "{length}: {error}");
            }
        }
    });
}

#[test]
fn the_second_of_two_streams_may_not_be_cut_either() {
    within(LIMIT, || {
        let ctx = Context::local(2).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for codec in CODECS {
            let path = folder.path().join(format!("cut{}", codec.suffix())).to_str().unwrap().to_owned();
            let (first, whole) = (one_stream(codec, b"first\n"), compressed(codec, b"first\nsecond\n", 2));
            assert!(whole.len() > first.len());
            let second = one_stream(codec, b"second\n");
            for length in 1..second.len() {
                fs::write(&path, [&first[..], &second[..length]].concat()).unwrap();
                assert!(ctx.text_file(&path).unwrap().collect().is_err(), "{codec} with {length} more bytes");
            }
        }
    });
}

#[test]
fn damaged_bytes_never_give_other_rows() {
    within(LIMIT, || {
        let ctx = Context::local(2).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let expected = reference::lines(&text());
        for codec in CODECS {
            let path = folder.path().join(format!("damaged{}", codec.suffix())).to_str().unwrap().to_owned();
            let valid = one_stream(codec, &text());
            let check = |bytes: Vec<u8>| {
                fs::write(&path, &bytes).unwrap();
                // Bytes that carry nothing of the content, such as the time in a gzip header, may be any.
                if let Ok(rows) = ctx.text_file(&path).unwrap().collect() {
                    assert!(rows == expected || bytes.is_empty(), "{codec} gave {rows:?} for {bytes:?}");
                }
                Ok(())
            };
            // Each case is a job, so there are fewer than of those that only decode.
            let config = ProptestConfig { cases: many().cases / 8, ..many() };
            let seed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
            TestRunner::new_with_rng(config, seed).run(&damaged(vec![valid]), check).unwrap();
        }
    });
}

#[test]
fn a_file_that_was_cut_after_its_splits_were_planned_fails_the_job() {
    within(LIMIT, || {
        let ctx = Context::local(2).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shrinking").to_str().unwrap().to_owned();
        let whole = text();
        for splits in [1, 3, 40] {
            for length in (0..whole.len()).step_by(61) {
                fs::write(&path, &whole).unwrap();
                let rows = ctx.text_file_into(&path, splits).unwrap();
                fs::write(&path, &whole[..length]).unwrap();
                let error = rows.collect().unwrap_err().to_string();
                let reason = format!("{path} ends at byte ");
                assert!(error.contains(&reason), "{splits} splits, cut at {length}: {error}");
            }
        }
    });
}

#[test]
fn a_file_that_became_something_else_is_refused_at_once() {
    within(LIMIT, || {
        let ctx = Context::local(2).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let text = path.to_str().unwrap();
        fs::write(&path, "0123456789").unwrap();
        let lines = ctx.text_file(text).unwrap();
        let wholes = ctx.whole_text_files(text).unwrap();
        let records = ctx.binary_records(text, 5).unwrap();
        let refused = || {
            let errors = [lines.collect().err(), wholes.collect().err(), records.collect().err()];
            errors.map(|error| error.unwrap().to_string())
        };

        fs::remove_file(&path).unwrap();
        let owner = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, owner).unwrap();
        let as_pipe = refused();
        let listed = ctx.text_file(text).err().unwrap().to_string();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let as_folder = refused();

        for error in as_pipe.into_iter().chain([listed]).chain(as_folder) {
            assert!(error.contains(&format!("{text} is not a regular file")), "{error}");
        }
    });
}
