//! What is expected of a type.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::verdict::{Verdict, verdict};

#[track_caller]
pub(super) fn is_refused<T: Serialize + DeserializeOwned + 'static>(expected: &str) {
    match verdict::<T>() {
        Verdict::Refused(mismatch) => assert_eq!(mismatch.to_string(), expected),
        Verdict::Sound | Verdict::Unproven => panic!("{:?}", verdict::<T>()),
    }
}

#[track_caller]
pub(super) fn is_sound<T: Serialize + DeserializeOwned + 'static>() {
    assert!(matches!(verdict::<T>(), Verdict::Sound), "{:?}", verdict::<T>());
}

#[track_caller]
pub(super) fn is_unproven<T: Serialize + DeserializeOwned + 'static>() {
    assert!(matches!(verdict::<T>(), Verdict::Unproven), "{:?}", verdict::<T>());
}
