//! Folders in folders, and one file by several ways.

use std::{fs, path::Path};

use firesteel::prelude::*;

fn tree() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in
        [("day/01/a.txt", "1"), ("day/02/b.txt", "2"), ("day/02/_SUCCESS", ""), ("day/_tmp/c.txt", "3")]
    {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(path, text).unwrap();
    }
    let root = folder.path().to_str().unwrap().to_owned();
    (folder, root)
}

/// Behaviours: RDD-027.
#[test]
fn a_folder_of_folders_is_refused_unless_the_setting_says_to_read_all_below() {
    let (folder, root) = tree();
    let flat = Context::local(2).unwrap();
    let deep = Context::builder().master("local[2]").set("firesteel.files.recursive", "true").unwrap();
    let deep = deep.start().unwrap();
    let day = format!("{root}/day");

    let refused = [
        flat.text_file(&day).err().unwrap().to_string(),
        flat.whole_text_files(&day).err().unwrap().to_string(),
        flat.binary_files(&day).err().unwrap().to_string(),
        flat.binary_records(&day, 1).err().unwrap().to_string(),
        flat.object_file::<u64>(&day).err().unwrap().to_string(),
    ];

    for error in refused {
        assert!(error.contains(&format!("{day} holds the folder `01`")), "{error}");
        assert!(error.contains("firesteel.files.recursive"), "{error}");
    }
    fs::write(folder.path().join("day/between.txt"), "0").unwrap();
    assert!(flat.text_file(&day).is_err(), "a file beside the folders does not hide them");
    assert_eq!(flat.text_file(&format!("{day}/*")).unwrap().collect().unwrap(), ["1", "2", "0"]);
    assert_eq!(deep.text_file(&day).unwrap().collect().unwrap(), ["1", "2", "0"]);
    assert_eq!(deep.whole_text_files(&root).unwrap().count().unwrap(), 3);
    assert_eq!(deep.binary_records(&day, 1).unwrap().collect().unwrap(), [b"1", b"2", b"0"]);
}

#[test]
fn a_pattern_gives_a_file_once_and_a_list_as_often_as_it_stands_there() {
    let (_folder, root) = tree();
    let ctx = Context::local(2).unwrap();
    let read = |path: String| ctx.text_file(&path).unwrap().collect().unwrap();

    assert_eq!(read(format!("{root}/{{day/01,day/01/../01,day/02/../01}}/a.txt")), ["1"]);
    assert_eq!(read(format!("{root}/day/*/../01/a.txt")), ["1"]);
    assert_eq!(read(format!("{root}/{{day/01,day/0*}}/*.txt")), ["1", "2"]);
    assert_eq!(read(format!("{root}/day/01/a.txt,{root}/day/02/../01/a.txt")), ["1", "1"]);
}
