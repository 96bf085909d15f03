//! Names, and the lineage as text.

use firesteel::prelude::*;

use crate::support::each_backend;

#[test]
fn an_rdd_is_called_by_its_line_until_it_has_a_name() {
    each_backend(|ctx| {
        let rdd = ctx.range(0..3).map(|x| x + 1);
        assert!(rdd.name().starts_with("map at ") && rdd.name().contains("lineage.rs:"), "{}", rdd.name());

        let clone = rdd.clone();
        rdd.set_name("next");

        assert_eq!(clone.name(), "next");
        rdd.count().unwrap();
        rdd.set_name("later");
        assert_eq!(clone.set_name("last").name(), "last");
    });
}

/// The lines of a lineage without the places, which change with this file.
fn shape(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| {
            let (before, after) = line.split_once(" at ").unwrap();
            format!("{before} {}", after.split_once(' ').unwrap().1)
        })
        .collect()
}

#[test]
fn a_lineage_is_indented_at_shuffles() {
    each_backend(|ctx| {
        let source = ctx.range_into(0..20, 10);
        source.set_name("numbers");
        let one = source.map(|x| (x % 3, x)).reduce_by_key(|a, b| a + b);
        let two = ctx.range_into(0..3, 3).map(|x| (x, x));
        let all = one.union(&two.map(|pair| pair)).map(|(key, _)| (key, 1)).reduce_by_key(|a, b| a + b);

        let expected = [
            "(13) reduce_by_key[8] []",
            " +-(13) map[7] []",
            "    |   union[6] []",
            "    |   reduce_by_key[2] []",
            "    +-(10) map[1] []",
            "       |   numbers range[0] []",
            "    |   map[5] []",
            "    |   map[4] []",
            "    |   range[3] []",
        ];
        assert_eq!(shape(&all.to_debug_string()), expected);
    });
}

#[test]
fn the_text_of_a_lineage_longer_than_a_stack_is_written() {
    each_backend(|ctx| {
        let mut rdd = ctx.range(0..1).boxed();
        for _ in 0..20_000 {
            rdd = rdd.map(|x| x).boxed();
        }

        assert_eq!(rdd.to_debug_string().lines().count(), 20_001);
    });
}

#[test]
fn operators_that_run_jobs_first_are_shown_with_the_line_that_called_them() {
    let ctx = Context::local(2).unwrap();
    let rows = ctx.range_into(0..40_u64, 2);

    let shown = [
        rows.sort_by(|row| 40 - row, Order::Ascending).unwrap().to_debug_string(),
        rows.sort_by_async(|row| 40 - row, Order::Ascending).wait().unwrap().to_debug_string(),
        rows.map(|row| (row, ())).sort_by_key(Order::Ascending).unwrap().to_debug_string(),
        rows.map(|row| (row, ())).sort_by_key_async(Order::Ascending).wait().unwrap().to_debug_string(),
        rows.zip_with_index().unwrap().to_debug_string(),
        rows.zip_with_index_async().wait().unwrap().to_debug_string(),
    ];

    for lineage in shown {
        assert!(lineage.lines().all(|line| line.contains("lineage.rs:")), "{lineage}");
    }
}
