//! Files with names that mean something to shells, patterns or addresses.

use std::fs;

use firesteel::prelude::*;

const VISIBLE: &[&str] = &[
    "two words",
    " ",
    "[1]",
    "{a,b}",
    "a,b",
    "*",
    "?",
    "a\\b",
    "100%",
    "a%20b",
    "#1",
    "a?b=c",
    "-rf",
    "a:b",
    "~",
    "'\"$HOME`",
    "ü€𝄞",
    "\u{65}\u{301}",
    "a\nb",
    "a\tb",
    "name.with.dots",
    "x_",
    "x.",
    "trailing ",
    "a]b",
    "a}b",
];

const HIDDEN: &[&str] = &["_SUCCESS", ".hidden", "_", "..."];

/// Writes a name so that nothing in it is a pattern.
fn escaped(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | ',' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Behaviours: RDD-027.
#[test]
fn odd_names_are_read_by_folder_by_pattern_and_one_by_one() {
    let ctx = Context::local(2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    for name in VISIBLE.iter().chain(HIDDEN) {
        fs::write(folder.path().join(name), format!("in {name:?}\n")).unwrap();
    }
    let mut expected: Vec<String> = VISIBLE.iter().map(|name| format!("in {name:?}")).collect();
    expected.sort();

    for path in [root.to_owned(), format!("{root}/*"), format!("file://{root}")] {
        let mut rows = ctx.text_file(&path).unwrap().collect().unwrap();
        rows.sort();
        assert_eq!(rows, expected, "{path}");
    }
    for name in VISIBLE.iter().chain(HIDDEN) {
        let path = format!("{root}/{}", escaped(name));
        assert_eq!(ctx.text_file(&path).unwrap().collect().unwrap(), [format!("in {name:?}")], "{path}");
        let whole = ctx.whole_text_files(&path).unwrap().collect().unwrap();
        assert_eq!(whole, [(format!("{root}/{name}"), format!("in {name:?}\n"))]);
    }
}

#[test]
fn output_goes_to_odd_names_and_comes_back() {
    let ctx = Context::local(2).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in VISIBLE.iter().filter(|name| !name.trim().is_empty()) {
        let plain = folder.path().join(name).to_str().unwrap().to_owned();
        ctx.range_into(0..4, 2).save_as_text_file(&plain).unwrap();

        let back = ctx.text_file(&format!("{}/{}", folder.path().display(), escaped(name))).unwrap();

        assert_eq!(back.collect().unwrap(), ["0", "1", "2", "3"], "{name}");
    }
}
