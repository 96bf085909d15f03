//! The laws of publishing and aborting, for a folder on this machine and for one on a remote store alike.

use std::fs;
use std::sync::Arc;

use object_store::memory::InMemory;

use super::*;
use crate::cloud::stores;
use crate::codec::Codec;
use crate::error::IoError;
use crate::list::{self, Kind};
use crate::location::Location;
use crate::source::ReadOptions;

use crate::whole::{read_bytes, read_text};

const PLAIN: OutputOptions = OutputOptions { codec: None, sync: false };

/// Runs a law on a new place on this machine and on one of a remote store of the given name.
fn on_both(bucket: &str, law: impl Fn(Location)) {
    let folder = tempfile::tempdir().unwrap();
    law(Location::parse(folder.path().to_str().unwrap()).unwrap().join("deep").join("out"));
    stores::install_writable(&format!("s3://{bucket}"), Arc::new(InMemory::new()));
    law(Location::parse(&format!("s3://{bucket}/deep/out")).unwrap());
}

/// All names in a place, hidden ones too.
fn names(location: &Location) -> Vec<String> {
    list::list(location).unwrap().iter().map(|entry| entry.location.name().to_owned()).collect()
}

/// Names beside the folder for temporaries.
fn visible(location: &Location) -> Vec<String> {
    names(location).into_iter().filter(|name| name != "_temporary").collect()
}

fn content(location: &Location) -> String {
    read_text(location, ReadOptions::default()).unwrap().unwrap()
}

fn open(folder: &OutputFolder, attempt: u64, text: &str) -> OutputFile {
    let mut file = OutputFile::create(folder, &part_name(0), attempt, PLAIN).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn write(folder: &OutputFolder, attempt: u64, text: &str) -> StagedFile {
    open(folder, attempt, text).close().unwrap()
}

/// Behaviours: RDD-026.
#[test]
fn an_existing_folder_is_refused() {
    on_both("output-exists", |location| {
        let folder = OutputFolder::create(&location).unwrap();
        let message = format!("output directory {location} already exists; remove it or choose another");

        let while_written = OutputFolder::create(&location).unwrap_err();
        folder.publish(&[write(&folder, 0, "a")], &[]).unwrap();
        let when_published = OutputFolder::create(&location).unwrap_err();

        assert_eq!(while_written.to_string(), message);
        assert_eq!(when_published.to_string(), message);
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
fn a_file_appears_when_it_is_published_and_not_before() {
    on_both("output-publish", |location| {
        let folder = OutputFolder::create(&location).unwrap();
        let file = open(&folder, 0, "text");
        assert_eq!(visible(&location), Vec::<String>::new());
        let staged = file.close().unwrap();
        assert_eq!(visible(&location), Vec::<String>::new());

        folder.publish(&[staged], &[("_note", "of the driver".to_owned())]).unwrap();

        assert_eq!(names(&location), ["_SUCCESS", "_note", "part-00000"]);
        assert_eq!(content(&location.join("part-00000")), "text");
        assert_eq!(content(&location.join("_note")), "of the driver");
    });
}

#[test]
fn an_empty_file_is_a_file() {
    on_both("output-empty", |location| {
        let folder = OutputFolder::create(&location).unwrap();

        folder.publish(&[write(&folder, 0, "")], &[]).unwrap();

        assert_eq!(list::look_up(&location.join("part-00000")).unwrap(), Some(Kind::File { size: 0 }));
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
            assert_eq!(names(&folder.staging()), Vec::<String>::new());
        });
    }
}

/// An attempt that died after it had written, one that still writes, and one whose report counts.
#[test]
fn exactly_the_reported_files_are_published() {
    for counts in [0, 1] {
        on_both("output-reported", |location| {
            let folder = OutputFolder::create(&location).unwrap();
            let running = open(&folder, 2, "running");
            let staged = [write(&folder, 0, "0"), write(&folder, 1, "1")];

            folder.publish(&staged[counts..=counts], &[]).unwrap();
            // It may end as it likes: what it wrote is not reported.
            let _ = running.close();

            assert_eq!(names(&location), ["_SUCCESS", "part-00000"]);
            assert_eq!(content(&location.join("part-00000")), counts.to_string());
        });
    }
}

#[test]
fn a_task_of_an_aborted_output_adds_nothing_to_a_new_one_at_the_same_place() {
    on_both("output-zombie", |location| {
        let aborted = OutputFolder::create(&location).unwrap();
        let running = open(&aborted, 0, "old");
        let reported = write(&aborted, 1, "old too");
        aborted.abort(std::slice::from_ref(&reported)).unwrap();
        let folder = OutputFolder::create(&location).unwrap();
        let staged = write(&folder, 0, "new");

        let _ = running.close();
        let late = OutputFile::create(&aborted, &part_name(1), 2, PLAIN).and_then(OutputFile::close);
        let published_late = aborted.publish(&[reported], &[]);
        folder.publish(&[staged], &[]).unwrap();

        assert!(matches!(location, Location::Remote { .. }) || late.is_err(), "its folder is gone");
        assert!(published_late.is_err(), "the place is another output's");
        assert_eq!(names(&location), ["_SUCCESS", "part-00000"]);
        assert_eq!(content(&location.join("part-00000")), "new");
    });
}

#[test]
fn an_abort_leaves_alone_what_is_another_outputs_by_now() {
    on_both("output-replaced", |location| {
        let first = OutputFolder::create(&location).unwrap();
        first.abort(&[]).unwrap();
        let second = OutputFolder::create(&location).unwrap();
        let staged = write(&second, 0, "second");

        first.abort(&[]).unwrap();

        second.publish(&[staged], &[]).unwrap();
        first.abort(&[]).unwrap();
        assert_eq!(content(&location.join("part-00000")), "second");
    });
}

#[test]
fn a_staged_file_that_is_not_there_is_named_and_there_is_no_success() {
    on_both("output-missing", |location| {
        let folder = OutputFolder::create(&location).unwrap();
        let there = write(&folder, 0, "there");
        let content = match &location {
            Location::Local(_) => StagedContent::Local { staged_name: "part-00001-7".to_owned() },
            Location::Remote { .. } => {
                StagedContent::Upload { id: "7".to_owned(), parts: vec![String::new()] }
            }
        };
        let files = [there, StagedFile { name: "part-00001".to_owned(), content }];

        let error = folder.publish(&files, &[]).unwrap_err().to_string();
        let left = visible(&location);
        folder.abort(&files).unwrap();

        assert!(error.starts_with(&format!("cannot write {location}/part-00001")), "{error}");
        if let Location::Local(_) = &location {
            let (missing, remedy) = (folder.staging().join("part-00001-7"), "see the same files");
            assert!(error.contains(&missing.to_string()) && error.contains(remedy), "{error}");
        }
        assert!(!left.contains(&"_SUCCESS".to_owned()), "{left:?}");
        assert_eq!(list::look_up(&location).unwrap(), None, "what was published is removed");
    });
}

#[test]
fn aborting_removes_what_was_written() {
    on_both("output-abort", |location| {
        let folder = OutputFolder::create(&location).unwrap();
        let staged = write(&folder, 0, "a");

        folder.abort(&[staged]).unwrap();

        assert_eq!(list::look_up(&location).unwrap(), None);
        folder.abort(&[]).unwrap();
        OutputFolder::create(&location).unwrap();
    });
}

#[test]
fn a_task_that_outlives_its_local_folder_fails() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::parse(folder.path().to_str().unwrap()).unwrap().join("out");
    let output = OutputFolder::create(&location).unwrap();

    output.abort(&[]).unwrap();

    let error = OutputFile::create(&output, "part-00001", 0, PLAIN).unwrap_err().to_string();
    assert!(error.contains(&output.staging().to_string()) && error.contains("is not there"), "{error}");
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
            folder.publish(&[file.close().unwrap()], &[]).unwrap();

            let part = location.join(&format!("part-00012{}", codec.suffix()));
            assert!(content(&part).lines().map(str::to_owned).eq((0..50_000).map(|n| format!("line {n}"))));
        });
    }
}

#[test]
fn two_attempts_with_one_number_do_not_write_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::parse(folder.path().to_str().unwrap()).unwrap().join("out");
    let output = OutputFolder::create(&location).unwrap();
    let first = open(&output, 7, "a");

    assert!(OutputFile::create(&output, "part-00000", 7, PLAIN).is_err());
    first.close().unwrap();
}

#[test]
fn large_objects_go_up_in_parts() {
    use std::io::Write;

    use crate::cloud::RemoteSink;
    use crate::cloud::stores::RemoteObject;

    stores::install_writable("s3://output-parts", Arc::new(InMemory::new()));
    let folder = OutputFolder::create(&Location::parse("s3://output-parts/out").unwrap()).unwrap();
    let location = folder.location().join("part-00000");
    let object = RemoteObject::new(&location, "s3://output-parts", "out/part-00000").unwrap();
    let data: Vec<u8> = (0..10_001_u32).map(|n| n as u8).collect();
    let mut sink = RemoteSink::with_part_bytes(object, 1000).unwrap();
    for piece in data.chunks(2345) {
        sink.write_all(piece).unwrap();
    }

    let content = sink.close().unwrap();
    assert!(matches!(&content, StagedContent::Upload { parts, .. } if parts.len() == 11), "{content:?}");
    folder.publish(&[StagedFile { name: "part-00000".to_owned(), content }], &[]).unwrap();

    assert_eq!(read_bytes(&location, ReadOptions::default()).unwrap().unwrap(), data);
}

/// More uploads than are completed at a time.
#[test]
fn many_uploads_are_completed() {
    stores::install_writable("s3://output-many", Arc::new(InMemory::new()));
    let folder = OutputFolder::create(&Location::parse("s3://output-many/out").unwrap()).unwrap();
    let part = |partition: usize| {
        let mut file = OutputFile::create(&folder, &part_name(partition), 0, PLAIN).unwrap();
        file.write_line(&partition.to_string()).unwrap();
        file.close().unwrap()
    };

    folder.publish(&(0..100).map(part).collect::<Vec<_>>(), &[]).unwrap();

    for partition in 0..100 {
        assert_eq!(content(&folder.location().join(&part_name(partition))), format!("{partition}\n"));
    }
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
