//! The laws of commit and abort, for a folder on this machine and for one on a remote store alike.

use std::fs;
use std::sync::Arc;

use object_store::memory::InMemory;

use super::*;
use crate::io::codec::Codec;
use crate::io::error::IoError;
use crate::io::list::{self, Kind};
use crate::io::location::Location;
use crate::io::source::ReadOptions;
use crate::io::stores;
use crate::io::whole::{read_bytes, read_text};

const PLAIN: OutputOptions = OutputOptions { codec: None, sync: false };

/// Runs a law on a new place on this machine and on one of a remote store of the given name.
fn on_both(bucket: &str, law: impl Fn(Location)) {
    let folder = tempfile::tempdir().unwrap();
    law(Location::parse(folder.path().to_str().unwrap()).unwrap().join("deep").join("out"));
    stores::install(&format!("s3://{bucket}"), Arc::new(InMemory::new()));
    law(Location::parse(&format!("s3://{bucket}/deep/out")).unwrap());
}

/// All names in a place, hidden ones too.
fn names(location: &Location) -> Vec<String> {
    list::list(location).unwrap().iter().map(|entry| entry.location.name().to_owned()).collect()
}

/// Names of finished files, which stand beside the folder for temporaries on this machine.
fn visible(location: &Location) -> Vec<String> {
    names(location).into_iter().filter(|name| name != "_temporary").collect()
}

fn content(location: &Location) -> String {
    read_text(location, ReadOptions::default()).unwrap().unwrap()
}

fn write(folder: &OutputFolder, attempt: u64, text: &str) -> OutputFile {
    let mut file = OutputFile::create(folder, &part_name(0), attempt, PLAIN).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// Behaviours: RDD-026.
#[test]
fn an_existing_folder_is_refused() {
    on_both("output-exists", |location| {
        let folder = OutputFolder::create(&location).unwrap();
        write(&folder, 0, "a").commit().unwrap();

        let error = OutputFolder::create(&location).unwrap_err();

        let message = format!("output directory {location} already exists; remove it or choose another");
        assert_eq!(error.to_string(), message);
        assert_eq!(content(&location.join("part-00000")), "a");
    });
}

#[test]
fn an_empty_folder_and_a_file_are_refused_too() {
    let folder = tempfile::tempdir().unwrap();
    let root = Location::parse(folder.path().to_str().unwrap()).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all", folder.path().join("link")).unwrap();

    for location in [root.clone(), root.join("file"), root.join("link")] {
        assert!(matches!(OutputFolder::create(&location), Err(IoError::OutputExists { .. })), "{location}");
    }
}

#[test]
fn a_file_appears_at_its_commit_and_not_before() {
    on_both("output-commit", |location| {
        let folder = OutputFolder::create(&location).unwrap();
        let file = write(&folder, 0, "text");
        assert_eq!(visible(&location), Vec::<String>::new());

        let committed = file.commit().unwrap();

        assert_eq!(committed, Committed::Written { bytes: 4 });
        assert_eq!(visible(&location), ["part-00000"]);
        assert_eq!(content(&location.join("part-00000")), "text");
    });
}

#[test]
fn a_dropped_file_leaves_nothing() {
    for codec in [None, Some(Codec::Gzip), Some(Codec::Zstd), Some(Codec::Bzip2), Some(Codec::Lz4)] {
        on_both("output-drop", |location| {
            let location = location.join(codec.map_or("plain", Codec::suffix));
            let folder = OutputFolder::create(&location).unwrap();
            let options = OutputOptions { codec, sync: false };
            let mut file = OutputFile::create(&folder, "part-00000", 0, options).unwrap();
            file.write_all(&vec![b'x'; 500_000]).unwrap();

            drop(file);

            assert_eq!(visible(&location), Vec::<String>::new());
            assert_eq!(names(&location.join("_temporary")), Vec::<String>::new());
        });
    }
}

#[test]
fn the_first_commit_wins() {
    on_both("output-first", |location| {
        let folder = OutputFolder::create(&location).unwrap();
        let (first, second) = (write(&folder, 1, "first"), write(&folder, 2, "second"));

        assert_eq!(second.commit().unwrap(), Committed::Written { bytes: 6 });
        assert_eq!(first.commit().unwrap(), Committed::KeptEarlier);

        assert_eq!(content(&location.join("part-00000")), "second");
        assert_eq!(names(&location.join("_temporary")), Vec::<String>::new());
    });
}

#[test]
fn finishing_marks_success_and_removes_what_is_left_over() {
    on_both("output-finish", |location| {
        let folder = OutputFolder::create(&location).unwrap();
        write(&folder, 0, "a").commit().unwrap();
        let leftover = write(&folder, 1, "b");

        folder.finish().unwrap();
        // An attempt that is still running loses, and brings nothing back.
        let late = leftover.commit();

        assert!(!matches!(late, Ok(Committed::Written { .. })));
        assert_eq!(names(&location), ["_SUCCESS", "part-00000"]);
        assert_eq!(content(&location.join("part-00000")), "a");
    });
}

#[test]
fn aborting_removes_what_was_written() {
    on_both("output-abort", |location| {
        let folder = OutputFolder::create(&location).unwrap();
        write(&folder, 0, "a").commit().unwrap();

        folder.abort().unwrap();

        assert_eq!(list::look_up(&location).unwrap(), None);
        folder.abort().unwrap();
        OutputFolder::create(&location).unwrap();
    });
}

#[test]
fn a_task_that_outlives_its_local_folder_fails() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::parse(folder.path().to_str().unwrap()).unwrap().join("out");
    let output = OutputFolder::create(&location).unwrap();
    let running = write(&output, 0, "a");

    output.abort().unwrap();

    assert!(running.commit().is_err());
    assert!(OutputFile::create(&output, "part-00001", 0, PLAIN).is_err());
    assert_eq!(list::look_up(&location).unwrap(), None);
}

/// Behaviours: RDD-026.
#[test]
fn a_codec_adds_its_suffix_and_the_text_comes_back() {
    for codec in Codec::ALL {
        on_both("output-codec", |location| {
            let location = location.join(codec.suffix());
            let folder = OutputFolder::create(&location).unwrap();
            let options = OutputOptions { codec: Some(codec), sync: true };
            let mut file = OutputFile::create(&folder, &part_name(12), 0, options).unwrap();
            for number in 0..50_000 {
                file.write_line(&format!("line {number}")).unwrap();
            }
            let committed = file.commit().unwrap();

            let part = location.join(&format!("part-00012{}", codec.suffix()));
            assert!(content(&part).lines().map(str::to_owned).eq((0..50_000).map(|n| format!("line {n}"))));
            let Some(Kind::File { size }) = list::look_up(&part).unwrap() else { panic!("{part} is gone") };
            assert_eq!(committed, Committed::Written { bytes: size });
        });
    }
}

#[test]
fn two_attempts_with_one_number_do_not_write_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::parse(folder.path().to_str().unwrap()).unwrap().join("out");
    let output = OutputFolder::create(&location).unwrap();
    let first = write(&output, 7, "a");

    assert!(OutputFile::create(&output, "part-00000", 7, PLAIN).is_err());
    first.commit().unwrap();
}

#[test]
fn large_objects_go_up_in_parts() {
    use std::io::Write;

    use super::remote::RemoteSink;
    use crate::io::stores::RemoteObject;

    stores::install("s3://output-parts", Arc::new(InMemory::new()));
    let location = Location::parse("s3://output-parts/a").unwrap();
    let object = RemoteObject::new(&location, "s3://output-parts", "a").unwrap();
    let data: Vec<u8> = (0..10_001_u32).map(|n| n as u8).collect();
    let sink = || {
        let mut sink = RemoteSink::with_part_bytes(object.clone(), 1000);
        for piece in data.chunks(2345) {
            sink.write_all(piece).unwrap();
        }
        sink
    };

    drop(sink());
    assert_eq!(list::look_up(&location).unwrap(), None, "a dropped upload leaves nothing");
    let late = sink();
    assert_eq!(sink().commit().unwrap(), Committed::Written { bytes: 10_001 });
    assert_eq!(late.commit().unwrap(), Committed::KeptEarlier);

    assert_eq!(read_bytes(&location, ReadOptions::default()).unwrap().unwrap(), data);
}

#[test]
fn http_is_not_written_to() {
    let error = OutputFolder::create(&Location::parse("http://output.invalid/a").unwrap()).unwrap_err();

    assert_eq!(error.to_string(), "cannot write to http://output.invalid/a: http is for reading only");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let error = OutputFolder::create(&Location::Local("/proc/firesteel/out".to_owned())).unwrap_err();

    assert_eq!(error.to_string(), "cannot write /proc/firesteel/out");
    assert!(std::error::Error::source(&error).is_some());
}
