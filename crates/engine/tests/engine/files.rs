//! Files in and out.

use std::{fs, path::Path};

use firesteel::{Codec, prelude::*};

use crate::support::{each_backend_that_retries, each_backend_with_room};

fn in_folder(test: impl Fn(&Context, &Path)) {
    // Some compressors take more than the least memory that tasks may have.
    each_backend_with_room(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        test(ctx, folder.path());
    });
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Behaviours: RDD-026.
#[test]
fn text_comes_back_as_it_was_saved_also_compressed() {
    in_folder(|ctx, folder| {
        let lines = ctx.range_into(0..1000_u64, 3).map(|x| format!("line {x}"));
        let expected = lines.collect().unwrap();
        let plain = folder.join("plain");
        lines.save_as_text_file(text(&plain)).unwrap();
        for part in ["part-00000", "part-00001", "part-00002", "_SUCCESS"] {
            assert!(plain.join(part).exists(), "{part}");
        }
        assert_eq!(ctx.text_file(text(&plain)).unwrap().collect().unwrap(), expected);

        for codec in [Codec::Gzip, Codec::Zstd, Codec::Bzip2, Codec::Lz4] {
            let packed = folder.join(format!("{codec:?}"));
            lines.save_as_compressed_text_file(text(&packed), codec).unwrap();

            assert!(packed.join(format!("part-00000{}", codec.suffix())).exists());
            assert_eq!(ctx.text_file(text(&packed)).unwrap().collect().unwrap(), expected, "{codec:?}");
        }
    });
}

/// Behaviours: RDD-026.
#[test]
fn an_existing_folder_is_refused_before_any_task_runs() {
    in_folder(|ctx, folder| {
        let rows = ctx.range(0..3).map(|_| -> u64 { panic!("a task ran") });

        let error = rows.save_as_text_file(text(folder)).unwrap_err().to_string();

        assert!(error.contains(text(folder)), "{error}");
        assert!(ctx.status().unwrap().jobs().is_empty());
    });
}

#[test]
fn a_job_that_fails_leaves_no_output() {
    in_folder(|ctx, folder| {
        let out = folder.join("out");
        let rows = ctx.range_into(0..100_u64, 4).map(|x| {
            assert!(x != 99, "the last row is bad");
            x
        });

        assert!(rows.save_as_text_file(text(&out)).is_err());

        assert!(!out.exists());
    });
}

#[test]
fn a_retried_task_writes_its_file_once() {
    each_backend_that_retries(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let rows = ctx.range_into(0..10_u64, 2).map(|x| {
            let task = TaskContext::current().unwrap();
            assert!(x != 9 || task.attempt_number().0 > 0, "fails once in its last row");
            x
        });

        rows.save_as_text_file(text(&out)).unwrap();

        let saved = ctx.text_file(text(&out)).unwrap().collect().unwrap();
        assert_eq!(saved, (0..10).map(|x| x.to_string()).collect::<Vec<_>>());
        let mut names: Vec<_> = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["_SUCCESS", "part-00000", "part-00001"]);
    });
}

#[test]
fn globs_folders_and_lists_are_read_in_order_and_large_files_are_split() {
    in_folder(|ctx, folder| {
        for name in ["a.txt", "b.txt", "c.log"] {
            fs::write(folder.join(name), format!("{name} 1\n{name} 2")).unwrap();
        }
        let read = |path: String| ctx.text_file(&path).unwrap().collect().unwrap();

        let both = read(format!("{}/*.txt", folder.display()));
        let list = read(format!("{0}/c.log,{0}/a.txt", folder.display()));
        let all = read(folder.display().to_string());
        let long = (0..10_000).map(|x| x.to_string()).collect::<Vec<_>>().join("\n");
        fs::write(folder.join("long.txt"), long).unwrap();
        let long = ctx.text_file_into(text(&folder.join("long.txt")), 7).unwrap();

        assert_eq!(both, ["a.txt 1", "a.txt 2", "b.txt 1", "b.txt 2"]);
        assert_eq!(list, ["c.log 1", "c.log 2", "a.txt 1", "a.txt 2"]);
        assert_eq!(all.len(), 6);
        assert!(long.num_partitions() >= 7);
        assert_eq!(long.collect().unwrap(), (0..10_000).map(|x| x.to_string()).collect::<Vec<_>>());
    });
}

#[test]
fn a_missing_input_is_an_error_that_names_it() {
    in_folder(|ctx, folder| {
        let missing = folder.join("nowhere.txt");

        let error = ctx.text_file(text(&missing)).err().unwrap().to_string();
        assert!(error.contains("nowhere.txt"), "{error}");
        fs::write(&missing, "here now").unwrap();
        let lines = ctx.text_file(text(&missing)).unwrap();
        fs::remove_file(&missing).unwrap();

        let error = lines.count().unwrap_err().to_string();
        assert!(error.contains("nowhere.txt") && error.contains("text_file at "), "{error}");
    });
}

#[test]
fn whole_files_records_and_objects_are_read() {
    in_folder(|ctx, folder| {
        fs::write(folder.join("one.bin"), b"abcdef").unwrap();
        let objects = folder.join("objects");
        let rows = ctx.range_into(0..50_u64, 3).map(|x| (x, format!("row {x}")));
        rows.save_as_object_file(text(&objects)).unwrap();

        let file = folder.join("one.bin");
        let texts = ctx.whole_text_files(text(&file)).unwrap().collect().unwrap();
        let bytes = ctx.binary_files(text(&file)).unwrap().collect().unwrap();
        let records = ctx.binary_records(text(&file), 2).unwrap().collect().unwrap();
        let back = ctx.object_file::<(u64, String)>(text(&objects)).unwrap();

        assert!(texts[0].0.ends_with("one.bin") && texts[0].1 == "abcdef");
        assert_eq!(bytes[0].1, b"abcdef");
        assert_eq!(records, [b"ab", b"cd", b"ef"]);
        assert_eq!(back.collect().unwrap(), rows.collect().unwrap());
        assert!(ctx.binary_records(text(&file), 4).is_err(), "6 is no multiple of 4");
        assert!(ctx.object_file::<u64>(text(&file)).unwrap().count().is_err(), "garbage");
    });
}
