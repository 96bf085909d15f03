//! Answers that do not wait for every partition.

use std::time::Duration;

use firesteel::{BoundedDouble, prelude::*};

use super::{gate::Gate, support::each_backend};

const LONG: Duration = Duration::from_secs(600);

#[test]
fn an_answer_in_time_is_exact() {
    each_backend(|ctx| {
        let rdd = ctx.range_into(0..100, 4);

        let count = rdd.count_approx(LONG, 0.9).unwrap();
        assert!(count.is_final());
        assert_eq!(*count.initial_value(), BoundedDouble::exact(100.0));
        assert_eq!(rdd.sum_approx(LONG, 0.9).unwrap().final_value().unwrap(), BoundedDouble::exact(4950.0));
        assert_eq!(rdd.mean_approx(LONG, 0.9).unwrap().final_value().unwrap(), BoundedDouble::exact(49.5));
        let counts = rdd.map(|x| x % 3).count_by_value_approx(LONG, 0.9).unwrap().final_value().unwrap();
        assert_eq!(counts[&0], BoundedDouble::exact(34.0));
        assert_eq!(counts.len(), 3);
    });
}

#[test]
fn an_answer_before_its_time_can_be_waited_for_or_cancelled() {
    each_backend(|ctx| {
        let gate = Gate::new();
        let rdd = ctx.range_into(0..100, 4).with(gate.clone()).map(|gate, x| {
            gate.pass();
            x
        });

        let unfinished = rdd.count_approx(Duration::ZERO, 0.9).unwrap();
        assert!(!unfinished.is_final());
        assert_ne!(*unfinished.initial_value(), BoundedDouble::exact(100.0));
        let handle = unfinished.into_handle().expect("the gate is shut");
        handle.cancel();
        assert!(handle.wait().unwrap_err().to_string().contains("cancelled"));

        let count = rdd.count_approx(Duration::ZERO, 0.9).unwrap();
        gate.open();
        assert_eq!(count.final_value().unwrap(), BoundedDouble::exact(100.0));
    });
}

#[test]
fn a_job_that_fails_in_time_gives_no_answer() {
    each_backend(|ctx| {
        let error = ctx.range(0..9).map(|x| 1 / (x - 4)).count_approx(LONG, 0.9).unwrap_err().to_string();

        assert!(error.starts_with("count_approx at ") && error.contains("divide by zero"), "{error}");
    });
}

#[test]
fn figures_that_make_no_sense_are_refused() {
    each_backend(|ctx| {
        let rdd = ctx.range(0..9);

        assert!(matches!(rdd.count_approx(LONG, 1.5), Err(Error::Invalid { .. })));
        assert!(matches!(rdd.sum_approx(LONG, f64::NAN), Err(Error::Invalid { .. })));
        assert!(matches!(rdd.count_approx_distinct(0.000_001), Err(Error::Invalid { .. })));
    });
}
