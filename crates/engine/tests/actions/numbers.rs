//! Actions of rows that are numbers.

use firesteel::prelude::*;
use proptest::prelude::*;

use super::{gate::until, support::each_backend};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6) })]

    #[test]
    fn measures_are_those_of_the_textbook(
        rows in prop::collection::vec(-1000..1000_i32, 2..60), partitions in 1..6_u32,
    ) {
        each_backend(|ctx| {
            let rdd = ctx.parallelize_into(rows.clone(), partitions);
            let count = rows.len() as f64;
            let sum: i64 = rows.iter().copied().map(i64::from).sum();
            let mean = sum as f64 / count;
            let squares: f64 = rows.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum();
            let near = |value: f64, model: f64| assert!((value - model).abs() <= 1e-9 * (1.0 + model.abs()), "{value} {model}");

            assert_eq!(rdd.sum().unwrap(), sum);
            near(rdd.mean().unwrap(), mean);
            near(rdd.variance().unwrap(), squares / count);
            near(rdd.stdev().unwrap(), (squares / count).sqrt());
            near(rdd.sample_variance().unwrap(), squares / (count - 1.0));
            near(rdd.sample_stdev().unwrap(), (squares / (count - 1.0)).sqrt());
            let stats = rdd.stats().unwrap();
            assert_eq!(stats.count(), rows.len() as u64);
            assert_eq!(Some(stats.min()), rows.iter().min().map(|&x| f64::from(x)));
            assert_eq!(Some(stats.max()), rows.iter().max().map(|&x| f64::from(x)));
        });
    }
}

#[test]
fn numbers_of_every_kind_are_added_up_in_64_bits() {
    each_backend(|ctx| {
        assert_eq!(ctx.parallelize(vec![200_u8, 200]).sum().unwrap(), 400_u64);
        assert_eq!(ctx.parallelize(vec![i32::MAX, i32::MAX]).sum().unwrap(), 2 * i64::from(i32::MAX));
        assert_eq!(ctx.parallelize(vec![0.5_f32, 0.25]).sum().unwrap(), 0.75_f64);
        assert_eq!(ctx.range(0_u64..1_000_000).sum().unwrap(), 499_999_500_000);
        assert_eq!(ctx.parallelize(Vec::<i32>::new()).sum().unwrap(), 0);
        assert!(ctx.parallelize(Vec::<i32>::new()).mean().unwrap().is_nan());
    });
}

/// Behaviours: RDD-023.
#[test]
fn buckets_are_half_open_but_the_last_and_what_is_outside_is_ignored() {
    each_backend(|ctx| {
        let rows = vec![-1.0, 0.0, 9.99, 10.0, 19.0, 20.0, 20.1, f64::NAN, f64::INFINITY];
        let rdd = ctx.parallelize_into(rows, 3);

        assert_eq!(rdd.histogram(&[0.0, 10.0, 20.0]).unwrap(), [2, 3]);
        assert_eq!(rdd.histogram(&[0.0, 1.0, 10.0, 20.0]).unwrap(), [1, 1, 3]);
    });
}

/// Behaviours: RDD-023.
#[test]
fn even_buckets_lie_between_the_least_and_the_greatest_row() {
    each_backend(|ctx| {
        let edges = |rows: Vec<f64>, count| ctx.parallelize_into(rows, 3).histogram_buckets(count);

        assert_eq!(edges(vec![6.0, 0.0, 2.0, 4.0], 3).unwrap(), (vec![0.0, 2.0, 4.0, 6.0], vec![1, 1, 2]));
        assert_eq!(edges(vec![5.0; 4], 3).unwrap(), (vec![5.0, 5.0], vec![4]), "one bucket if all are equal");
        let handle = ctx.range(0..10).histogram_buckets_async(2);
        until(|| handle.is_finished());
        assert_eq!(handle.job_ids().len(), 2, "one for the range, one for the counts");
        assert_eq!(handle.wait().unwrap(), (vec![0.0, 4.5, 9.0], vec![5, 5]));
    });
}

/// Behaviours: RDD-023.
#[test]
fn buckets_that_cannot_be_are_refused() {
    each_backend(|ctx| {
        let rdd = ctx.parallelize(vec![1.0, 2.0]);
        let refused = |result: Result<()>| match result {
            Err(Error::Invalid { .. }) => (),
            other => panic!("not refused: {other:?}"),
        };

        refused(rdd.histogram(&[]).map(drop));
        refused(rdd.histogram(&[1.0]).map(drop));
        refused(rdd.histogram(&[2.0, 1.0]).map(drop));
        refused(rdd.histogram_buckets(0).map(drop));
        refused(ctx.parallelize(Vec::<f64>::new()).histogram_buckets(2).map(drop));
        refused(ctx.parallelize(vec![1.0, f64::INFINITY]).histogram_buckets(2).map(drop));
        refused(ctx.parallelize(vec![1.0, f64::NAN]).histogram_buckets(2).map(drop));
    });
}
