//! Folders in turn, folders that fail, and folders of dead processes.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::{TempDir, tempdir};

use super::small_disk::SmallDisk;
use super::*;

/// Set for the child process of a test, to the parent folder it is to use.
const CHILD: &str = "FIRESTEEL_STORAGE_TEST_PARENT";

fn parents(count: usize) -> (TempDir, Vec<PathBuf>) {
    let root = tempdir().unwrap();
    let parents = (0..count).map(|index| root.path().join(format!("disk{index}"))).collect();
    (root, parents)
}

fn folders(dirs: &LocalDirs) -> Vec<PathBuf> {
    dirs.folders().map(Path::to_owned).collect()
}

fn names_in(parent: &Path) -> Vec<String> {
    let names = fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}

fn write_named(dirs: &LocalDirs, name: &str, bytes: &[u8]) -> PathBuf {
    let mut file = dirs.create_temp("test").unwrap();
    file.write_all(bytes).unwrap();
    file.persist_as(name).unwrap()
}

#[test]
fn a_folder_is_private_and_named_after_the_application() {
    let (_root, parents) = parents(2);

    let dirs = LocalDirs::create(&parents, "word count/7").unwrap();

    for (parent, folder) in parents.iter().zip(dirs.folders()) {
        assert_eq!(folder.parent(), Some(&**parent));
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("firesteel-word-count-7-"), "{name}");
        assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
    let again = LocalDirs::create(&parents, "word count/7").unwrap();
    assert_ne!(folders(&again), folders(&dirs), "names cannot be foreseen");
}

#[test]
fn files_go_to_the_folders_in_turn_and_to_sub_folders_by_name() {
    let (_root, parents) = parents(3);
    let dirs = LocalDirs::create(&parents, "app").unwrap();

    let paths: Vec<PathBuf> =
        (0..300).map(|index| write_named(&dirs, &format!("block_{index}"), b"x")).collect();

    for folder in dirs.folders() {
        assert_eq!(paths.iter().filter(|path| path.starts_with(folder)).count(), 100);
    }
    let sub_folders: BTreeSet<_> =
        paths.iter().map(|path| path.parent().unwrap().file_name().unwrap()).collect();
    assert!((40..=64).contains(&sub_folders.len()), "{}", sub_folders.len());
    for (index, path) in paths.iter().enumerate() {
        assert_eq!(dirs.find(&format!("block_{index}")).as_ref(), Some(path));
        assert_eq!(&dirs.place(&format!("block_{index}")).unwrap(), path);
    }
    assert_eq!(dirs.find("block_300"), None);
}

#[test]
fn another_process_finds_the_files_and_does_not_remove_them() {
    let (_root, parents) = parents(2);
    let dirs = LocalDirs::create(&parents, "app").unwrap();
    let path = write_named(&dirs, "shared", b"x");

    let attached = LocalDirs::attach(folders(&dirs));

    assert_eq!(attached.find("shared"), Some(path.clone()));
    drop(attached);
    assert!(path.exists());
}

#[test]
fn a_temporary_file_is_removed_unless_it_gets_a_name() {
    let (_root, parents) = parents(1);
    let dirs = LocalDirs::create(&parents, "app").unwrap();

    let temporary = dirs.create_temp("spill").unwrap();
    let path = temporary.path().to_owned();
    assert!(path.exists());
    drop(temporary);
    assert!(!path.exists());

    let named = write_named(&dirs, "kept", b"bytes");
    assert_eq!(fs::read(&named).unwrap(), b"bytes");
}

#[test]
fn a_name_has_one_file_in_all_folders() {
    let (_root, parents) = parents(3);
    let dirs = LocalDirs::create(&parents, "app").unwrap();

    for round in 0..5_u8 {
        let path = write_named(&dirs, "same", &[round]);

        assert_eq!(dirs.find("same"), Some(path));
        assert_eq!(dirs.folders().map(|folder| count_named(folder, "same")).sum::<usize>(), 1);
    }
    assert_eq!(fs::read(dirs.find("same").unwrap()).unwrap(), [4]);
}

fn count_named(folder: &Path, name: &str) -> usize {
    let sub_folders = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    sub_folders.filter(|sub_folder| sub_folder.join(name).exists()).count()
}

#[test]
fn removal_takes_the_files_that_match() {
    let (_root, parents) = parents(2);
    let dirs = LocalDirs::create(&parents, "app").unwrap();
    (0..10).for_each(|index| drop(write_named(&dirs, &format!("a_{index}"), b"x")));
    write_named(&dirs, "b", b"x");

    assert_eq!(dirs.remove_matching(|name| name.starts_with("a_")).unwrap(), 10);
    assert!(dirs.find("a_3").is_none());
    assert!(dirs.remove("b").unwrap());
    assert!(!dirs.remove("b").unwrap());
}

#[test]
#[should_panic(expected = "no name for a local file")]
fn a_name_cannot_leave_its_folder() {
    let (_root, parents) = parents(1);
    let dirs = LocalDirs::create(&parents, "app").unwrap();

    dirs.find("../secret");
}

#[test]
fn everything_is_removed_with_the_last_holder_and_links_are_not_followed() {
    let (root, parents) = parents(2);
    let outside = root.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("precious"), b"x").unwrap();
    let dirs = LocalDirs::create(&parents, "app").unwrap();
    write_named(&dirs, "block", b"x");
    for folder in dirs.folders() {
        symlink(&outside, folder.join("link")).unwrap();
    }
    let held = dirs.create_temp("held").unwrap();

    drop(dirs);
    assert!(held.path().exists(), "a file in use keeps its folder");
    drop(held);

    assert!(parents.iter().all(|parent| names_in(parent).is_empty()));
    assert!(outside.join("precious").exists());
}

#[test]
fn a_parent_that_cannot_be_used_is_left_out() {
    let (root, mut parents) = parents(1);
    let file = root.path().join("file");
    fs::write(&file, b"x").unwrap();
    parents.insert(0, file.clone());

    let dirs = LocalDirs::create(&parents, "app").unwrap();
    assert_eq!(dirs.folders().count(), 1);

    let error = LocalDirs::create(&[file.clone(), file.join("below")], "app").unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`firesteel.local.dir`"), "{text}");
    assert_eq!(text.matches(&*file.to_string_lossy()).count(), 2, "{text}");
    let none = LocalDirs::create(&[], "app").unwrap_err().to_string();
    assert!(none.contains("names none"), "{none}");
}

#[test]
fn a_folder_that_fails_is_avoided_and_tried_again_after_a_rest() {
    let (_root, parents) = parents(2);
    let dirs = LocalDirs::create(&parents, "app").unwrap();
    let lost = folders(&dirs)[0].clone();
    let away = lost.with_extension("away");
    fs::rename(&lost, &away).unwrap();

    let in_lost = |count: usize| {
        let files: Vec<TempFile> = (0..count).map(|_| dirs.create_temp("t").unwrap()).collect();
        files.iter().filter(|file| file.path().starts_with(&lost)).count()
    };
    assert_eq!(in_lost(100), 0, "files go elsewhere, also after a failed second try");
    fs::rename(&away, &lost).unwrap();
    assert_eq!(in_lost(10), 0, "still resting");

    assert!(in_lost(100) > 20, "in use again");
}

#[test]
fn a_folder_whose_file_could_not_be_written_is_avoided_if_it_is_to_blame() {
    let (_root, parents) = parents(2);
    let dirs = LocalDirs::create(&parents, "app").unwrap();
    let folders = folders(&dirs);
    let in_first = || {
        let placed = (0..10).map(|number| dirs.place(&format!("block_{number}")).unwrap());
        placed.filter(|path| path.starts_with(&folders[0])).count()
    };
    let path = folders[0].join("block");

    dirs.failed(&path, &io::ErrorKind::InvalidInput.into());
    assert_eq!(in_first(), 5, "the folder is not to blame");
    dirs.failed(&path, &io::ErrorKind::ReadOnlyFilesystem.into());

    assert_eq!(in_first(), 0);
}

#[test]
fn when_all_folders_fail_the_error_names_each() {
    let (_root, parents) = parents(2);
    let dirs = LocalDirs::create(&parents, "app").unwrap();
    let lost = folders(&dirs);
    for folder in &lost {
        fs::rename(folder, folder.with_extension("away")).unwrap();
    }

    for _ in 0..3 {
        let text = dirs.create_temp("t").unwrap_err().to_string();
        assert!(lost.iter().all(|folder| text.contains(&*folder.to_string_lossy())), "{text}");
    }
    let text = dirs.place("block").unwrap_err().to_string();
    assert!(text.contains("`firesteel.local.dir`"), "{text}");

    for folder in &lost {
        fs::rename(folder.with_extension("away"), folder).unwrap();
    }
    assert!(dirs.create_temp("t").is_ok(), "when nothing else is left, a resting folder is tried at once");
}

#[test]
fn a_full_disk_is_told_apart_and_avoided() {
    let Some(disk) = SmallDisk::mount() else { return };
    let (_root, mut parents) = parents(1);
    parents.insert(0, disk.path().to_owned());
    let dirs = LocalDirs::create(&parents, "app").unwrap();
    let mut file = dirs.create_temp("big").unwrap();
    assert!(file.path().starts_with(disk.path()));

    let error = file.write_all(&vec![7; 2 << 20]).unwrap_err();
    let error = file.failed(error);

    assert!(matches!(&error, DiskError::Full { path, .. } if path == file.path()), "{error}");
    assert!(error.is_full());
    let in_disk = |count: usize| {
        let files: Vec<TempFile> = (0..count).map(|_| dirs.create_temp("t").unwrap()).collect();
        files.iter().filter(|file| file.path().starts_with(disk.path())).count()
    };
    assert_eq!(in_disk(150), 0, "empty files would fit, but not what is to be written to them");
    drop(file);
    assert!(in_disk(150) > 20, "in use again when there is room");
}

#[test]
fn other_failures_are_not_called_full() {
    let (_root, parents) = parents(1);
    let dirs = LocalDirs::create(&parents, "app").unwrap();
    let file = dirs.create_temp("t").unwrap();

    let error = file.failed(io::Error::from(io::ErrorKind::BrokenPipe));

    assert!(matches!(error, DiskError::Failed { .. }));
    assert!(!error.is_full());
    assert!(error.to_string().contains(&*file.path().to_string_lossy()), "{error}");
}

#[test]
fn a_killed_process_is_cleaned_up_after_and_a_living_one_is_not() {
    let (_root, parents) = parents(1);
    let parent = &parents[0];
    let living = LocalDirs::create(&parents, "living").unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["disk::tests::process_that_is_killed", "--exact", "--nocapture"])
        .env(CHILD, parent)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("child is ready")));
    let of_child = |name: &String| name.starts_with("firesteel-child-");

    drop(LocalDirs::create(&parents, "other").unwrap());
    assert!(names_in(parent).iter().any(of_child), "its process lives");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(names_in(parent).iter().any(of_child), "no process has cleaned yet");
    let _next = LocalDirs::create(&parents, "next").unwrap();

    assert!(!names_in(parent).iter().any(of_child));
    assert!(living.folders().all(Path::exists));
}

/// Not a test of its own: the process of the test above.
#[test]
#[expect(clippy::print_stdout, reason = "the parent waits for the line")]
fn process_that_is_killed() {
    let Some(parent) = std::env::var_os(CHILD) else { return };
    let dirs = LocalDirs::create(&[PathBuf::from(parent)], "child").unwrap();
    write_named(&dirs, "block", b"left behind");
    println!("child is ready");
    // Until the parent kills us; an end of the input means that it is gone itself.
    let _ = io::stdin().read(&mut [0]);
}

#[test]
fn what_is_no_folder_of_ours_is_left_alone() {
    let (root, parents) = parents(1);
    let parent = &parents[0];
    let outside = root.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("precious"), b"x").unwrap();
    fs::create_dir_all(parent.join("other-folder")).unwrap();
    fs::write(parent.join("firesteel-file"), b"x").unwrap();
    symlink(&outside, parent.join("firesteel-link")).unwrap();
    let trap = parent.join("firesteel-trap-00000000000000aa");
    fs::create_dir(&trap).unwrap();
    symlink(outside.join("precious"), trap.join("lock")).unwrap();
    fs::create_dir(parent.join("firesteel-half-made-0123456789abcdef")).unwrap();
    // What users keep beside them: saved rows, and other folders with such a name.
    for results in ["firesteel-results", "firesteel-results-0123456789abcdef", "firesteel-0123456789ABCDEF"] {
        fs::create_dir(parent.join(results)).unwrap();
        fs::write(parent.join(results).join("part-00000"), b"rows").unwrap();
    }
    fs::create_dir(parent.join("firesteel-empty")).unwrap();

    drop(LocalDirs::create(&parents, "app").unwrap());

    let names = names_in(parent);
    let kept = [
        "other-folder",
        "firesteel-file",
        "firesteel-link",
        "firesteel-trap-00000000000000aa",
        "firesteel-results/part-00000",
        "firesteel-results-0123456789abcdef/part-00000",
        "firesteel-0123456789ABCDEF/part-00000",
        "firesteel-empty",
    ];
    for kept in kept {
        assert!(parent.join(kept).exists(), "{kept}");
    }
    let half_made = "firesteel-half-made-0123456789abcdef";
    assert!(!names.iter().any(|name| name == half_made), "left by a process that died early");
    assert_eq!(fs::read(outside.join("precious")).unwrap(), b"x");
}

#[test]
fn a_name_is_held_by_one_at_a_time() {
    let (_root, parents) = parents(1);
    let dirs = LocalDirs::create(&parents, "app").unwrap();
    let count = AtomicU32::new(0);

    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (dirs, count) = (dirs.clone(), &count);
            scope.spawn(move || {
                for _ in 0..500 {
                    let _held = dirs.hold("same");
                    let seen = count.load(Ordering::Relaxed);
                    std::thread::yield_now();
                    count.store(seen + 1, Ordering::Relaxed);
                }
            });
        }
    });

    assert_eq!(count.into_inner(), 2000);
}
