//! RDDs and actions have no place inside of a task.

use std::sync::Mutex;

use firesteel::prelude::*;

use crate::support::each_backend_here;

/// The only way for an RDD into a closure: neither a capture nor an environment can hold one.
static SMUGGLED: Mutex<Option<BoxRdd<i32>>> = Mutex::new(None);

fn smuggled() -> BoxRdd<i32> {
    SMUGGLED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone().unwrap()
}

/// Behaviours: RDD-024.
#[test]
fn transformations_and_actions_inside_of_a_task_are_errors_that_say_so() {
    each_backend_here(|ctx| {
        *SMUGGLED.lock().unwrap() = Some(ctx.range(0..3).boxed());
        let transforms = ctx.range(0..1).map(|_| {
            let _ = smuggled().map(|x| x + 1);
        });
        let acts = ctx.range(0..1).map(|_| smuggled().count().unwrap_or_else(|error| panic!("{error}")));
        let unites = ctx.range(0..1).map(|_| smuggled().union(&smuggled()).num_partitions());

        let text = |result: Result<u64>| result.unwrap_err().to_string();
        let errors = [text(transforms.count()), text(acts.count()), text(unites.count())];
        *SMUGGLED.lock().unwrap() = None;

        for (error, operator) in errors.iter().zip(["map", "count", "union"]) {
            assert!(error.contains("inside a task") && error.contains(operator), "{error}");
        }
    });
}
