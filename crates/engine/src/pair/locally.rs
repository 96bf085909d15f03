//! Combining by key into a map of the driver.

use std::{collections::HashMap, hash::Hash};

use super::Combiner;
use crate::{
    data::Data,
    job::{Call, JobFunction, JobHandle},
    rdd::Rdd,
    spill::CombineTable,
    task::TaskContext,
};

/// Runs a job that combines the values of each key in every partition, and merges the partitions on the driver.
pub(super) fn combine_locally<K, V, A>(
    call: Call,
    rdd: &impl Rdd<Item = (K, V)>,
    combiner: A,
) -> JobHandle<HashMap<K, A::Combined>>
where
    K: Data + Hash + Eq,
    V: Data,
    A: Combiner<V>,
{
    let merge = combiner.clone();
    call.run(rdd, CombineRows { combiner }, move |parts| {
        let mut rows = CombineTable::with_capacity(parts.iter().map(Vec::len).max().unwrap_or(0));
        for (key, value) in parts.into_iter().flatten() {
            rows.bring(key, value, |value| value, |one, two| merge.merge(one, two));
        }
        Ok(rows.into_rows().collect())
    })
}

/// The combined values of one partition.
struct CombineRows<A> {
    combiner: A,
}

crate::ship!(impl[A: crate::ship::Ship] CombineRows<A> { combiner });

impl<K: Data + Hash + Eq, V: Data, A: Combiner<V>> JobFunction<(K, V)> for CombineRows<A> {
    type Output = Vec<(K, A::Combined)>;

    fn run(&self, rows: impl Iterator<Item = (K, V)>, _task: &TaskContext) -> Self::Output {
        let mut combined = CombineTable::default();
        let (create, add) = (|value| self.combiner.create(value), |one, value| self.combiner.add(one, value));
        rows.for_each(|(key, value)| combined.bring(key, value, create, add));
        combined.into_rows().collect()
    }

    fn size_of(output: &Self::Output) -> u64 {
        size_of_val(output.as_slice()) as u64
    }
}
