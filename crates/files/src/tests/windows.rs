//! Reading a remote object that is larger than what one request fetches, and one that changes meanwhile.

use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};

use crate::cloud::{runtime, stores};
use crate::{Depth, LineReader, Location, ReadOptions, expand, plan_splits, read_bytes};

fn put(store: &Arc<InMemory>, data: Vec<u8>) {
    let store = Arc::clone(store);
    runtime::block_on(async move { store.put(&Path::from("a"), data.into()).await }).unwrap().unwrap();
}

/// Some 20 MB of lines, so that windows and pieces end within lines.
fn text() -> Vec<u8> {
    (0..500_000).flat_map(|n| format!("line {n} of a text with many lines\n").into_bytes()).collect()
}

#[test]
fn lines_cross_the_ends_of_windows_and_pieces() {
    let store = Arc::new(InMemory::new());
    stores::install("s3://windows-lines", Arc::clone(&store) as Arc<dyn ObjectStore>);
    let data = text();
    put(&store, data.clone());

    let files = expand("s3://windows-lines/a", Depth::Flat).unwrap();
    let splits = plan_splits(&files, 2, None);
    let mut lines = Vec::new();
    for split in &splits {
        let mut reader = LineReader::open(split, ReadOptions::default()).unwrap();
        while reader.next_batch(&mut lines, 1000).unwrap() {}
    }

    assert_eq!(splits.len(), 2);
    assert!(lines.iter().eq(String::from_utf8(data).unwrap().lines()));
}

#[test]
fn a_whole_object_is_read() {
    let store = Arc::new(InMemory::new());
    stores::install("s3://windows-whole", Arc::clone(&store) as Arc<dyn ObjectStore>);
    let location = Location::parse("s3://windows-whole/a").unwrap();

    for data in [Vec::new(), vec![7; 10], text()] {
        put(&store, data.clone());
        assert!(read_bytes(&location, ReadOptions::default()).unwrap() == Some(data));
    }
}

#[test]
fn an_object_replaced_while_it_is_read_is_an_error() {
    let store = Arc::new(InMemory::new());
    stores::install("s3://windows-replaced", Arc::clone(&store) as Arc<dyn ObjectStore>);
    // More than the reader fetches ahead.
    put(&store, text().repeat(2));
    let files = expand("s3://windows-replaced/a", Depth::Flat).unwrap();
    let mut reader =
        LineReader::open(&plan_splits(&files, 1, Some(u64::MAX))[0], ReadOptions::default()).unwrap();
    reader.next_batch(&mut Vec::new(), 1).unwrap();

    put(&store, text().repeat(2));
    let mut lines = Vec::new();
    let error = loop {
        match reader.next_batch(&mut lines, 1000) {
            Ok(true) => lines.clear(),
            Ok(false) => panic!("the reader mixed two versions of an object"),
            Err(error) => break error,
        }
    };

    assert!(error.to_string().starts_with("cannot read s3://windows-replaced/a at byte "), "{error}");
}

#[test]
fn an_object_that_shrank_is_an_error() {
    let store = Arc::new(InMemory::new());
    stores::install("s3://windows-shrunk", Arc::clone(&store) as Arc<dyn ObjectStore>);
    put(&store, text());
    let files = expand("s3://windows-shrunk/a", Depth::Flat).unwrap();
    let splits = plan_splits(&files, 2, None);
    put(&store, b"short\n".to_vec());

    for split in splits {
        let mut reader = LineReader::open(&split, ReadOptions::default()).unwrap();
        let error = reader.next_batch(&mut Vec::new(), 10).unwrap_err();
        assert!(error.is_corrupt(), "{error}");
    }
}

#[test]
fn a_missing_object_is_named() {
    stores::install("s3://windows-missing", Arc::new(InMemory::new()));
    let location = Location::parse("s3://windows-missing/a").unwrap();

    let error = read_bytes(&location, ReadOptions::default()).unwrap_err();

    assert_eq!(error.to_string(), "s3://windows-missing/a does not exist");
}
