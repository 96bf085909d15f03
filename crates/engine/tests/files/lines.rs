//! Lines of every form in every number of partitions.

use std::fs;

use firesteel::prelude::*;

use crate::{
    reference::{self, long_texts, texts},
    support::each_backend,
};

/// The splits that a text is read in: every number of them.
const SPLITS_MAX: u32 = 40;

/// Behaviours: RDD-027.
#[test]
fn every_number_of_splits_gives_each_line_once_and_in_order() {
    let ctx = Context::local(2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text").to_str().unwrap().to_owned();

    for (name, text) in texts() {
        fs::write(&path, &text).unwrap();
        let expected = reference::lines(&text);
        for splits in 1..=SPLITS_MAX {
            let rows = ctx.text_file_into(&path, splits).unwrap();
            assert!(rows.num_partitions() <= SPLITS_MAX + 4, "{name} in {splits}: {}", rows.num_partitions());
            assert_eq!(rows.collect().unwrap(), expected, "{name} in {splits} splits");
        }
    }
}

#[test]
fn lines_longer_than_a_buffer_come_whole_from_any_number_of_splits() {
    let ctx = Context::local(2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text").to_str().unwrap().to_owned();

    for (name, text) in long_texts() {
        fs::write(&path, &text).unwrap();
        let expected = reference::lines(&text);
        for splits in [1, 2, 3, 5, 7, 40] {
            let rows = ctx.text_file_into(&path, splits).unwrap().collect().unwrap();
            assert!(rows == expected, "{name} in {splits} splits");
        }
    }
}

#[test]
fn several_files_keep_their_lines_apart_on_every_backend() {
    each_backend(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        let mut expected = Vec::new();
        for (number, (_, text)) in texts().into_iter().enumerate() {
            fs::write(folder.path().join(format!("{number:02}")), &text).unwrap();
            expected.extend(reference::lines(&text));
        }

        for splits in [1, 7, 40] {
            let rows = ctx.text_file_into(folder.path().to_str().unwrap(), splits).unwrap();
            assert_eq!(rows.collect().unwrap(), expected, "{splits} splits");
        }
    });
}
