//! Types that do not read what they write, and those that must never be taken for such.

mod refused;
mod sound;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::verdict::{Verdict, verdict};

#[track_caller]
fn is_refused<T: Serialize + DeserializeOwned + 'static>(expected: &str) {
    match verdict::<T>() {
        Verdict::Refused(mismatch) => assert_eq!(mismatch.to_string(), expected),
        Verdict::Sound | Verdict::Unproven => panic!("{:?}", verdict::<T>()),
    }
}

#[track_caller]
fn is_sound<T: Serialize + DeserializeOwned + 'static>() {
    assert!(matches!(verdict::<T>(), Verdict::Sound), "{:?}", verdict::<T>());
}

#[track_caller]
fn is_unproven<T: Serialize + DeserializeOwned + 'static>() {
    assert!(matches!(verdict::<T>(), Verdict::Unproven), "{:?}", verdict::<T>());
}
