//! Applications for the tests: this very program, started again with the name of one of them.

use firesteel::{Conf, prelude::*};

/// The arguments by which this program becomes an application.
pub(crate) const SUM: [&str; 4] = ["--exact", "apps::sum", "--ignored", "--nocapture"];
pub(crate) const WORDS: [&str; 4] = ["--exact", "apps::words", "--ignored", "--nocapture"];
pub(crate) const GATED: [&str; 4] = ["--exact", "apps::gated", "--ignored", "--nocapture"];
pub(crate) const REPLACED: [&str; 4] = ["--exact", "apps::replaced", "--ignored", "--nocapture"];
/// Where `GATED` finds the path of the file that lets its tasks end.
pub(crate) const GATE: &str = "TEST_GATE";

/// The path of this program.
pub(crate) fn own_executable() -> String {
    std::env::current_exe().expect("it runs").to_str().expect("its name is a text").to_owned()
}

fn context() -> Context {
    let conf = Conf::from_env().expect("the settings are right");
    Context::builder().conf(conf).start().unwrap_or_else(|error| {
        complain(&error.to_string());
        std::process::exit(3);
    })
}

#[expect(clippy::print_stderr, reason = "an application says why it ends")]
fn complain(text: &str) {
    eprintln!("application: {text}");
}

#[expect(clippy::print_stdout, reason = "an application prints its answer")]
fn answer(text: &str) {
    println!("{text}");
}

#[test]
#[ignore = "an application, run by other tests"]
fn sum() {
    let ctx = context();
    let pairs = ctx.range_into(0..1000_u64, 4).map(|x| (x % 10, x)).reduce_by_key(|a, b| a + b);
    let sum: u64 = pairs.map(|(_, x)| x).sum().expect("the job works");
    answer(&format!("the sum is {sum} on {}", ctx.application_id()));
}

#[test]
#[ignore = "an application, run by other tests"]
fn words() {
    let ctx = context();
    let read = ctx.range_into(0..2_u64, 2).map(|_| {
        let path = firesteel::sent_file("words.txt").expect("it was sent along");
        std::fs::read_to_string(path).expect("it can be read").split_whitespace().count() as u64
    });
    let counts = read.collect().expect("the job works");
    answer(&format!("the words are {counts:?}"));
}

/// Four tasks, of which all but the first wait until there is a file.
#[test]
#[ignore = "an application, run by other tests"]
fn gated() {
    let ctx = context();
    let gate = std::env::var(GATE).expect("the test says where the gate is");
    let passed = ctx.range_into(0..4_u64, 4).with(gate).map(|gate, x| {
        while x > 0 && !std::path::Path::new(gate).exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        x
    });
    answer(&format!("the sum is {}", passed.sum().expect("the job works")));
}

/// Puts a program that ends at once where its executors' executable is looked for, then starts as usual.
#[test]
#[ignore = "an application, run by other tests"]
fn replaced() {
    use std::{fs, os::unix::fs::PermissionsExt as _};
    let own = std::env::current_exe().expect("it runs");
    fs::remove_file(own).expect("it is a copy");
    // The system names a program that was removed after what it was.
    let named = std::env::current_exe().expect("it runs still");
    fs::write(&named, "#!/bin/sh\nexit 7\n").expect("the folder is there");
    fs::set_permissions(&named, fs::Permissions::from_mode(0o755)).expect("the file is there");
    let ctx = context();
    if let Err(error) = ctx.range(0..9).count() {
        complain(&error.to_string());
        std::process::exit(3);
    }
}
