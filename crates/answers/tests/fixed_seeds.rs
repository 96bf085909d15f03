//! The cases of fixed seeds, and one whose memory is known to be too little, by the real program.
//!
//! `cargo xtask answers --minutes M` runs as many others as there is time for. The program has every operator for every
//! kind of rows, so it is compiled once, for here: a unit test that ran a case would compile all of it a second time.

use std::{fs, process::Command};

use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_firesteel-answers");

/// How many cases run with each change.
const CASES: &str = "250";

/// Half a minute, most of it in the processes of local clusters: fewer cases miss operators in combination with faults.
#[test]
fn the_answers_of_random_jobs_are_those_of_the_model() {
    let output = Command::new(PROGRAM).args(["run", "--seed", "1", "--cases", CASES]).output().unwrap();

    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// The values of one key in a cogroup cannot be spilled, so this tells whether memory is short.
fn cogroup_of_one_key(memory: &Value) -> Value {
    let source =
        json!({ "Source": { "from": "Range", "shape": "Alike", "rows": 5_000, "partitions": 2, "seed": 5 } });
    let cogroup = json!({ "Cogroup": { "sides": "Two", "partitions": 1, "placed": "Neither" } });
    json!({
        "seed": 1,
        "kind": "Text",
        "backend": "Local",
        "memory": memory,
        "shuffle_service": false,
        "content_sums": false,
        "plan": { "Two": [cogroup, source, source] },
        "jobs": [{ "node": 0, "action": { "Fold": "Count" }, "before": null, "during": null }],
    })
}

#[test]
fn a_case_has_as_little_memory_as_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = |memory: Value| {
        let file = folder.path().join("case.json");
        fs::write(&file, cogroup_of_one_key(&memory).to_string()).unwrap();
        let output = Command::new(PROGRAM).arg("case").arg(&file).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        said.lines().last().map(str::to_owned)
    };

    assert_eq!(outcome(json!("Ample")), Some("Right".to_owned()));
    assert_eq!(outcome(json!({ "Bytes": 64 << 10 })), Some("Refused(\"memory\")".to_owned()));
}
