//! A user's function over whole partitions.

use std::sync::Arc;

use firesteel_scheduler::Partitions;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Result,
    data::Data,
    job::{Call, JobFunction, JobHandle, listed},
    narrow::Rows,
    rdd::Rdd,
    ship::{Frozen, Func, Ship, ShipError, Thawing},
    task::TaskContext,
};

/// Gives what the user's function makes of all rows of a partition.
struct OnRows<E, F>(Func<E, F>);

impl<E: Data, F: 'static> Ship for OnRows<E, F> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.0.freeze(out)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Func::thaw(input).map(Self)
    }
}

impl<T, U, E: Data, F> JobFunction<T> for OnRows<E, F>
where
    U: Serialize + DeserializeOwned + Send + 'static,
    F: Fn(&E, Rows<'_, T>) -> U + Copy + Send + Sync + 'static,
{
    type Output = U;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> U {
        self.0.function()(self.0.env(), Rows::new(rows))
    }
}

impl Call {
    /// Runs `f` on all partitions, or on those of `chosen`, and gives the results to `finish`.
    pub(super) fn on_rows<R: Rdd, U, E: Data, F, T: Send + 'static>(
        self,
        rdd: &R,
        chosen: Option<Vec<u32>>,
        env: Arc<E>,
        f: F,
        finish: impl FnOnce(Vec<U>) -> Result<T> + Send + 'static,
    ) -> JobHandle<T>
    where
        U: Serialize + DeserializeOwned + Send + 'static,
        F: Fn(&E, Rows<'_, R::Item>) -> U + Copy + Send + Sync + 'static,
    {
        let partitions = rdd.num_partitions();
        if let Some(wrong) = chosen.iter().flatten().find(|&&partition| partition >= partitions) {
            return self.refuse(format!("there is no partition {wrong}: the RDD has {partitions}"));
        }
        let chosen = chosen.map_or(Partitions::All, listed);
        self.run_on(rdd, chosen, OnRows(Func::new(env, f, rdd.handle().id())), finish)
    }
}
