//! The compiler's message about a closure that captures.
//!
//! The check runs when code is generated, so a real compilation of a small program is needed to see its text.

use std::{env, fs, path::PathBuf, process::Command};

/// Compiles a program against the library that this test runs with; gives whether it compiled and what was said.
fn compile(program: &str) -> (bool, String) {
    let deps = env::current_exe().unwrap().parent().unwrap().to_owned();
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("libfiresteel-") && path.extension().is_some_and(|end| end == "rlib")
    };
    let files = fs::read_dir(&deps).unwrap().map(|entry| entry.unwrap().path());
    let library = files.filter(is_library).max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.rs");
    fs::write(&source, program).unwrap();
    let output = Command::new(env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()))
        .args(["--edition", "2024", "--crate-type", "bin", "--emit", "obj", "--color", "never"])
        .arg("--out-dir")
        .arg(folder.path())
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("--extern")
        .arg(format!("firesteel={}", library.unwrap().display()))
        .arg(&source)
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

fn program(call: &str) -> String {
    format!(
        "use firesteel::prelude::*;\nfn main() {{\n    let ctx = Context::local(1).unwrap();\n    let factor = 3;\n    \
         {call}\n}}\n"
    )
}

#[test]
fn a_closure_that_captures_does_not_compile_and_the_compiler_says_what_to_do() {
    let (compiled, said) = compile(&program("ctx.range(0..4).map(move |x| x * factor).count().unwrap();"));

    assert!(!compiled);
    let remedy = "this closure captures variables of its surroundings, which cannot travel to executors: pass them \
                  with `.with(env)` and take them as the closure's first argument";
    assert!(said.contains(remedy), "{said}");
    assert!(said.contains("program.rs:5:"), "the user's line is not named: {said}");
}

#[test]
fn the_same_with_an_environment_compiles() {
    let (compiled, said) =
        compile(&program("ctx.range(0..4).with(factor).map(|factor, x| x * factor).count().unwrap();"));

    assert!(compiled, "{said}");
}
