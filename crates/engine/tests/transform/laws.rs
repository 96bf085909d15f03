//! Every adaptor through the same laws.
//!
//! A case is an adaptor over `i64` rows, an equal function over the partitions as vectors, and the number of partitions
//! that it should have. The laws: nothing runs before an action, the rows are those of the model in every partition, a
//! clone is the same RDD, and empty partitions, one row, or more partitions than rows change nothing.

use firesteel::{Replacement, prelude::*};
use proptest::{collection::vec, prelude::*, test_runner::TestRunner};

use crate::{gate::Gate, support::each_backend};

type Partitions = Vec<Vec<i64>>;

struct Case {
    name: &'static str,
    make: fn(&BoxRdd<i64>) -> BoxRdd<i64>,
    model: fn(&Partitions) -> Partitions,
}

/// A row for two numbers, such that different pairs give different rows.
fn joined(one: i64, other: u64) -> i64 {
    one.wrapping_mul(1_000_003).wrapping_add(other.cast_signed())
}

/// A function of rows, for models that look at each row alone.
fn each(partitions: &Partitions, f: impl Fn(i64) -> Vec<i64>) -> Partitions {
    partitions.iter().map(|rows| rows.iter().flat_map(|&row| f(row)).collect()).collect()
}

const CASES: &[Case] = &[
    Case {
        name: "map",
        make: |rdd| rdd.map(|x| x.wrapping_mul(3)).boxed(),
        model: |rows| each(rows, |x| vec![x.wrapping_mul(3)]),
    },
    Case {
        name: "filter",
        make: |rdd| rdd.filter(|x| x % 2 == 0).boxed(),
        model: |rows| each(rows, |x| if x % 2 == 0 { vec![x] } else { vec![] }),
    },
    Case {
        name: "flat_map",
        make: |rdd| rdd.flat_map(|x| 0..x.rem_euclid(4)).boxed(),
        model: |rows| each(rows, |x| (0..x.rem_euclid(4)).collect()),
    },
    Case {
        name: "key_by",
        make: |rdd| rdd.key_by(|x| x.unsigned_abs()).map(|(key, x)| joined(x, key)).boxed(),
        model: |rows| each(rows, |x| vec![joined(x, x.unsigned_abs())]),
    },
    Case {
        name: "map_partitions",
        make: |rdd| rdd.map_partitions(|rows| Rows::new(rows.skip(1).map(|x| x / 2))).boxed(),
        model: |rows| rows.iter().map(|rows| rows.iter().skip(1).map(|x| x / 2).collect()).collect(),
    },
    Case {
        name: "map_partitions_keeping_partitioner",
        make: |rdd| rdd.map_partitions_keeping_partitioner(|rows| Rows::new([rows.count() as i64])).boxed(),
        model: |rows| rows.iter().map(|rows| vec![rows.len() as i64]).collect(),
    },
    Case {
        name: "map_partitions_with_index",
        make: |rdd| {
            rdd.map_partitions_with_index(|n, rows| Rows::new(rows.map(move |x| joined(x, n.into())))).boxed()
        },
        model: |rows| {
            let numbered = (0..).zip(rows);
            numbered.map(|(n, rows)| rows.iter().map(|&x| joined(x, n)).collect()).collect()
        },
    },
    Case {
        name: "glom",
        make: |rdd| rdd.glom().map(|rows| rows.len() as i64).boxed(),
        model: |rows| rows.iter().map(|rows| vec![rows.len() as i64]).collect(),
    },
    Case {
        name: "union",
        make: |rdd| rdd.union(&rdd.map(|x| x / 3)).boxed(),
        model: |rows| [rows.clone(), each(rows, |x| vec![x / 3])].concat(),
    },
    Case {
        name: "zip",
        make: |rdd| rdd.zip(&rdd.map(|x| x.unsigned_abs())).map(|(x, y)| joined(x, y)).boxed(),
        model: |rows| each(rows, |x| vec![joined(x, x.unsigned_abs())]),
    },
    Case {
        name: "zip_partitions",
        make: |rdd| rdd.zip_partitions(&rdd.filter(|x| *x > 0), |a, b| Rows::new(b.chain(a))).boxed(),
        model: |rows| {
            let positive = |rows: &Vec<i64>| rows.iter().copied().filter(|x| *x > 0).collect::<Vec<_>>();
            rows.iter().map(|rows| [positive(rows), rows.clone()].concat()).collect()
        },
    },
    Case {
        name: "zip_with_unique_id",
        make: |rdd| rdd.zip_with_unique_id().map(|(x, id)| joined(x, id)).boxed(),
        model: |rows| {
            let n = rows.len() as u64;
            let numbered = (0..).zip(rows);
            let ids = |i: u64| (0..).map(move |k| k * n + i);
            numbered
                .map(|(i, rows)| rows.iter().zip(ids(i)).map(|(&x, id)| joined(x, id)).collect())
                .collect()
        },
    },
    Case {
        name: "cartesian",
        make: |rdd| rdd.cartesian(&rdd.map(|x| x.unsigned_abs())).map(|(x, y)| joined(x, y)).boxed(),
        model: |rows| {
            let pairs = rows.iter().flat_map(|left| rows.iter().map(move |right| (left, right)));
            let join = |(left, right): (&Vec<i64>, &Vec<i64>)| {
                let right = |x: i64| right.iter().map(move |y| joined(x, y.unsigned_abs()));
                left.iter().flat_map(|&x| right(x)).collect()
            };
            pairs.map(join).collect()
        },
    },
    Case {
        name: "coalesce",
        make: |rdd| rdd.coalesce(2).boxed(),
        model: |rows| match rows.len() {
            n @ 0..=2 => rows[..n].to_vec(),
            n => vec![rows[..n / 2].concat(), rows[n / 2..].concat()],
        },
    },
    Case {
        name: "prune_partitions",
        make: |rdd| rdd.prune_partitions(|partition| partition % 2 == 0).boxed(),
        model: |rows| rows.iter().step_by(2).cloned().collect(),
    },
    Case {
        name: "pipe",
        make: |rdd| rdd.pipe(["cat"]).map(|line| line.parse().unwrap()).boxed(),
        model: Clone::clone,
    },
    Case {
        name: "sample of everything",
        make: |rdd| rdd.sample(Replacement::Without, 1.0, 7).boxed(),
        model: Clone::clone,
    },
    Case {
        name: "random_split into one",
        make: |rdd| rdd.random_split(&[2.0], 7).remove(0).boxed(),
        model: Clone::clone,
    },
    Case { name: "boxed", make: |rdd| rdd.boxed(), model: Clone::clone },
];

/// The partitions of `rows` cut into `n`, as the documentation of `parallelize_into` specifies.
fn cut(rows: &[i64], n: usize) -> Partitions {
    (0..n).map(|i| rows[i * rows.len() / n..(i + 1) * rows.len() / n].to_vec()).collect()
}

fn check(case: &Case, ctx: &Context, rows: &[i64], n: u32) {
    let source = ctx.parallelize_into(rows.to_vec(), n).boxed();
    let expected = (case.model)(&cut(rows, n as usize));

    let rdd = (case.make)(&source);

    assert_eq!(rdd.num_partitions() as usize, expected.len(), "partitions of {}", case.name);
    assert_eq!(rdd.glom().collect().unwrap(), expected, "{} of {rows:?} in {n}", case.name);
    assert_eq!(rdd.collect().unwrap(), expected.concat(), "{} of {rows:?} in {n}", case.name);
    let clone = rdd.clone();
    assert_eq!(clone.handle().id(), rdd.handle().id(), "a clone of {}", case.name);
    assert_eq!(clone.count().unwrap() as usize, expected.concat().len(), "rows of a clone of {}", case.name);
    let first = rdd.map_partitions(|rows| Rows::new(rows.take(1)));
    let firsts: Vec<_> = expected.iter().filter_map(|rows| rows.first().copied()).collect();
    assert_eq!(first.collect().unwrap(), firsts, "only the first rows of {}", case.name);
}

/// Behaviours: RDD-004, RDD-013, RDD-015, RDD-016, RDD-017, RDD-018, RDD-022, RDD-025.
#[test]
fn every_adaptor_gives_the_rows_of_its_model_in_every_partition() {
    each_backend(|ctx| {
        let inputs = (vec(-1000_i64..1000, 0..30), 1..6_u32);
        for case in CASES {
            let law = |(rows, n): (Vec<i64>, u32)| {
                check(case, ctx, &rows, n);
                Ok(())
            };
            let mut runner =
                TestRunner::new(ProptestConfig { cases: 6, failure_persistence: None, ..Default::default() });
            runner.run(&inputs, law).unwrap_or_else(|failure| panic!("{}: {failure}", case.name));
        }
    });
}

#[test]
fn no_rows_one_row_and_more_partitions_than_rows_are_like_any_other() {
    each_backend(|ctx| {
        for case in CASES {
            check(case, ctx, &[], 3);
            check(case, ctx, &[5], 1);
            check(case, ctx, &[4, -7], 7);
        }
    });
}

#[test]
fn nothing_runs_before_an_action() {
    each_backend(|ctx| {
        for case in CASES {
            let computed = Gate::new();
            let source = ctx.parallelize_into(vec![1, 2, 3, 4], 2);
            let counted = source.with(computed.clone()).map(|computed, x| {
                computed.arrive();
                x
            });

            let rdd = (case.make)(&counted.boxed());
            assert_eq!(computed.arrivals(), 0, "{} is not lazy", case.name);

            rdd.count().unwrap();
            assert!(computed.arrivals() > 0, "{} ran nothing", case.name);
        }
    });
}

#[test]
fn every_adaptor_works_on_an_rdd_without_partitions() {
    each_backend(|ctx| {
        let none = ctx.parallelize_into(vec![1_i64], 1).prune_partitions(|_| false).boxed();
        for case in CASES {
            let rdd = (case.make)(&none);

            assert_eq!((rdd.num_partitions(), rdd.collect().unwrap()), (0, vec![]), "{}", case.name);
        }
    });
}
