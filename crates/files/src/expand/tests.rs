//! Patterns over a small tree on this machine and the same tree on a remote store.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt};

use super::*;
use crate::cloud::{runtime, stores};

const TREE: &[(&str, &str)] = &[
    ("a.txt", "1"),
    ("b.txt", "22"),
    ("c.csv", "333"),
    ("_SUCCESS", ""),
    (".a.crc", "x"),
    ("2024/01/x.txt", "4"),
    ("2024/01/y.txt", "5"),
    ("2024/02/x.txt", "6"),
    ("2025/01/x.txt", "7"),
    ("2025/01/deep/z.txt", "8"),
    ("2025/_temporary/t.txt", "9"),
    ("odd/[1]*.txt", "o"),
];

/// What each pattern stands for, from the root of the tree.
const TABLE: &[(&str, &[&str])] = &[
    ("a.txt", &["a.txt"]),
    ("*.txt", &["a.txt", "b.txt"]),
    ("?.*", &["a.txt", "b.txt", "c.csv"]),
    ("[a-b].txt", &["a.txt", "b.txt"]),
    ("[!a].*", &["b.txt", "c.csv"]),
    ("{c.csv,a.txt}", &["a.txt", "c.csv"]),
    ("{a,b,zzz}.txt", &["a.txt", "b.txt"]),
    ("{a,?}.txt", &["a.txt", "b.txt"]),
    ("2024/*/x.txt", &["2024/01/x.txt", "2024/02/x.txt"]),
    ("20*/01/*", &["2024/01/x.txt", "2024/01/y.txt", "2025/01/deep/z.txt", "2025/01/x.txt"]),
    ("{2024/02,2025/01}/x.txt", &["2024/02/x.txt", "2025/01/x.txt"]),
    ("2024/01", &["2024/01/x.txt", "2024/01/y.txt"]),
    ("2024/01/", &["2024/01/x.txt", "2024/01/y.txt"]),
    ("2024/*", &["2024/01/x.txt", "2024/01/y.txt", "2024/02/x.txt"]),
    ("{2024/01,2024/*}", &["2024/01/x.txt", "2024/01/y.txt", "2024/02/x.txt"]),
    ("{2024/01,2024/01/x.txt}", &["2024/01/x.txt", "2024/01/y.txt"]),
    ("2025/*/t.txt", &[]),
    ("2025/_*/t.txt", &["2025/_temporary/t.txt"]),
    ("2025/_temporary", &["2025/_temporary/t.txt"]),
    ("_SUCCESS", &["_SUCCESS"]),
    (".a.crc", &[".a.crc"]),
    (r"odd/\[1\]\*.txt", &["odd/[1]*.txt"]),
    ("odd/[[]1*", &["odd/[1]*.txt"]),
];

fn names(root: &str, pattern: &str, depth: Depth) -> Result<Vec<String>, IoError> {
    let files = expand(&format!("{root}/{pattern}"), depth)?;
    let name = |file: &InputFile| file.location.to_string()[root.len() + 1..].to_owned();
    Ok(files.iter().map(name).collect())
}

/// Checks the whole table against a tree.
fn check_table(root: &str) {
    for (pattern, expected) in TABLE {
        match names(root, pattern, Depth::Flat) {
            Ok(found) => assert_eq!(found, *expected, "{pattern}"),
            Err(IoError::NoMatch { pattern: named }) => {
                assert_eq!((named, *expected), (format!("{root}/{pattern}"), &[][..]));
            }
            Err(error) => panic!("{pattern}: {error}"),
        }
    }
}

fn local_tree() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in TREE {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let root = folder.path().to_str().unwrap().to_owned();
    (folder, root)
}

/// Puts the tree on a store that only this test uses.
fn remote_tree(bucket: &str) -> String {
    let store = Arc::new(InMemory::new());
    stores::install(bucket, Arc::clone(&store) as Arc<dyn ObjectStore>);
    for (name, text) in TREE {
        let store = Arc::clone(&store);
        let key = object_store::path::Path::parse(format!("top/{name}")).unwrap();
        runtime::block_on(async move { store.put(&key, (*text).into()).await }).unwrap().unwrap();
    }
    format!("{bucket}/top")
}

#[test]
fn patterns_find_local_files() {
    let (_folder, root) = local_tree();

    check_table(&root);
    let by_scheme = expand(&format!("file://{root}/*.txt"), Depth::Flat).unwrap();
    assert_eq!(by_scheme, expand(&format!("{root}/*.txt"), Depth::Flat).unwrap());
}

#[test]
fn patterns_find_remote_files() {
    check_table(&remote_tree("s3://expand-patterns"));
}

#[test]
fn a_folder_stands_for_the_visible_files_in_it() {
    let (folder, root) = local_tree();

    fs::write(folder.path().join("2024/01/_SUCCESS"), "").unwrap();
    fs::create_dir(folder.path().join("2024/01/_temporary")).unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();

    assert_eq!(names(&root, "2024/01", Depth::Flat).unwrap(), ["2024/01/x.txt", "2024/01/y.txt"]);
    assert_eq!(names(&root, "empty", Depth::Flat).unwrap(), [""; 0]);
}

#[test]
fn a_folder_in_a_folder_is_refused_with_the_remedy() {
    let (_folder, local) = local_tree();

    for root in [local, remote_tree("s3://expand-nested")] {
        let refuse = |pattern: &str| names(&root, pattern, Depth::Flat).unwrap_err().to_string();

        let remedy =
            "name the files by a pattern, or set `firesteel.files.recursive` to read all files below";
        let reason = "and folders in folders are not read";
        assert_eq!(refuse("2024"), format!("{root}/2024 holds the folder `01`, {reason}; {remedy}"));
        assert_eq!(refuse("2025/01"), format!("{root}/2025/01 holds the folder `deep`, {reason}; {remedy}"));
        assert_eq!(refuse("20*"), format!("{root}/2024 holds the folder `01`, {reason}; {remedy}"));
    }
}

#[test]
fn a_file_reached_through_the_folder_above_is_read_once() {
    let (folder, root) = local_tree();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("2024/01"), &link).unwrap();
    let names = |pattern: &str| names(&root, pattern, Depth::Flat).unwrap();

    assert_eq!(names("{2024/01,2024/02/../01}/x.txt"), ["2024/01/x.txt"]);
    assert_eq!(names("2024/*/../01/*"), ["2024/01/x.txt", "2024/01/y.txt"]);
    assert_eq!(names("2024/../a.txt"), ["a.txt"]);
    assert_eq!(names("{link,2024/01}/x.txt"), ["2024/01/x.txt", "link/x.txt"], "a link is another name");
    let twice = expand(&format!("{root}/a.txt,{root}/2024/../a.txt"), Depth::Flat).unwrap();
    assert_eq!(twice.len(), 2, "a list is read as it was written");
    // What is above the target of a link, as the system has it.
    let above = expand(&format!("{root}/link/../02/x.txt"), Depth::Flat).unwrap();
    assert_eq!(above.len(), 1);
    assert!(above[0].location.to_string().ends_with("/2024/02/x.txt"), "{above:?}");
    for missing in ["gone/../a.txt", "a.txt/../b.txt"] {
        assert!(expand(&format!("{root}/{missing}"), Depth::Flat).unwrap_err().is_missing(), "{missing}");
    }
    assert!(
        expand("/../../dev/null", Depth::Flat)
            .is_err_and(|error| error.to_string().starts_with("/dev/null "))
    );
}

#[test]
fn links_that_lead_in_a_circle_are_refused() {
    let (folder, root) = local_tree();
    std::os::unix::fs::symlink("..", folder.path().join("2024/01/up")).unwrap();
    std::os::unix::fs::symlink(".", folder.path().join("2024/01/here")).unwrap();

    let error = names(&root, "2024", Depth::Recursive).unwrap_err().to_string();

    let reason = "it is a link to a folder that holds it";
    assert_eq!(error, format!("cannot use `{root}/2024/01/here` as a path: {reason}"));
}

#[test]
fn a_pipe_in_a_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, pipe) = (rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR, folder.path().join("pipe"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, owner).unwrap();

    let error = expand(folder.path().to_str().unwrap(), Depth::Flat).unwrap_err().to_string();

    assert_eq!(error, format!("{} is not a regular file", pipe.display()));
}

#[test]
fn a_folder_is_read_to_its_depth_when_asked_for() {
    let (_folder, local) = local_tree();
    let visible: Vec<&str> = vec!["2025/01/deep/z.txt", "2025/01/x.txt"];

    for root in [local, remote_tree("s3://expand-depth")] {
        assert_eq!(names(&root, "2025", Depth::Recursive).unwrap(), visible);
        assert_eq!(names(&root, "", Depth::Recursive).unwrap().len(), 9);
    }
}

#[test]
fn a_list_keeps_its_order_and_its_repetitions() {
    let (_folder, root) = local_tree();

    let files = expand(&format!("{root}/c.csv,{root}/{{b,a}}.txt,{root}/c.csv"), Depth::Flat).unwrap();

    let sizes: Vec<u64> = files.iter().map(|file| file.size).collect();
    assert_eq!(sizes, [3, 1, 2, 3]);
}

#[test]
fn what_is_not_there_is_named() {
    let (_folder, local) = local_tree();
    for root in [local, remote_tree("s3://expand-missing")] {
        let refuse = |pattern: &str| names(&root, pattern, Depth::Flat).unwrap_err().to_string();

        assert_eq!(refuse("gone.txt"), format!("{root}/gone.txt does not exist"));
        assert_eq!(refuse("gone/x.txt"), format!("{root}/gone/x.txt does not exist"));
        assert_eq!(refuse("a.txt/x"), format!("{root}/a.txt/x does not exist"));
        assert_eq!(refuse("*.gone"), format!("no file matches {root}/*.gone"));
        assert_eq!(refuse("gone/*"), format!("no file matches {root}/gone/*"));
        assert_eq!(refuse("{gone,lost}"), format!("no file matches {root}/{{gone,lost}}"));
        assert!(expand(&format!("{root}/a.txt,{root}/gone"), Depth::Flat).is_err());
        assert!(expand(&format!("{root}/a.txt,"), Depth::Flat).is_err());
    }
}

#[test]
fn a_relative_pattern_begins_in_the_current_directory() {
    let files = expand("Cargo.*", Depth::Flat).unwrap();

    let here = std::env::current_dir().unwrap();
    let expected = here.join("Cargo.toml").to_str().unwrap().to_owned();
    assert!(files.iter().any(|file| file.location.to_string() == expected), "{files:?}");
}

#[test]
fn a_device_is_no_input_file() {
    let error = expand("/dev/null", Depth::Flat).unwrap_err();

    assert_eq!(error.to_string(), "/dev/null is not a regular file");
}

#[test]
fn a_name_that_is_not_utf8_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"a\xff")), "x").unwrap();
    let root = folder.path().to_str().unwrap();

    let error = expand(root, Depth::Flat).unwrap_err().to_string();

    assert_eq!(error, format!("cannot use `{root}/a\u{fffd}` as a path: its name is not UTF-8"));
}

#[test]
fn a_link_that_leads_nowhere_is_not_there() {
    let (folder, root) = local_tree();
    std::os::unix::fs::symlink("/nowhere/at/all", folder.path().join("dangling")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("a.txt"), folder.path().join("linked")).unwrap();

    assert_eq!(names(&root, "*.*", Depth::Flat).unwrap(), ["a.txt", "b.txt", "c.csv"]);
    assert_eq!(names(&root, "{dangling,linked}", Depth::Flat).unwrap(), ["linked"]);
}
