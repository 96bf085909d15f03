//! Damaged requests for drivers: refused in words or understood, never a panic.
//!
//! Longer runs: `PROPTEST_CASES=1000000 cargo test -p firesteel-ui --lib fuzz`.

use proptest::prelude::*;

use super::submission::understand;

#[path = "../../../../testing/damage.rs"]
mod damage;

use damage::{damaged, many};

#[test]
fn what_clients_post() {
    let valid = br#"{"action": "CreateSubmissionRequest", "appResource": "file:/opt/app", "appArgs": ["1", "two"],
        "sparkProperties": {"spark.driver.memory": "1g", "spark.app.name": "app", "spark.driver.supervise": "true"},
        "environmentVariables": {"NAME": "value"}, "clientSparkVersion": "1", "mainClass": "Main", "more": [1, {}]}"#;
    assert!(understand(valid, "firesteel://h:7077").is_ok());

    proptest!(many(), |(bytes in damaged(vec![valid.to_vec()]))| {
        if let Err(why) = understand(&bytes, "firesteel://h:7077") {
            prop_assert!(!why.is_empty());
        }
    });
}
