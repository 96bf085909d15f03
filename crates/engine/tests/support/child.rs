//! A test that runs in a process of its own, because it changes or measures the process.

use std::{
    env,
    process::{Command, Output},
};

/// The name of the test that a child process runs.
pub(crate) const CHILD: &str = "FIRESTEEL_TEST_CHILD";

/// Runs the test of this name again in a child process, started as `set` says, where it runs `case`; returns what the
/// child printed. A child that fails fails the test.
pub(crate) fn in_child(test: &str, set: impl FnOnce(&mut Command), case: impl FnOnce()) -> Option<Output> {
    if env::var(CHILD).is_ok_and(|running| running == test) {
        case();
        return None;
    }
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, test);
    set(&mut child);
    let output = child.output().unwrap();
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{test} failed: {out}\n{error}");
    Some(output)
}
