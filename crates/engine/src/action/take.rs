//! The first rows, from as few partitions as will do.

use std::sync::Arc;

use firesteel_types::settings;

use super::collect::gather;
use crate::{
    Result,
    data::Data,
    driver::Collected,
    job::{JobFunction, Next, Steps, listed, submission},
    rdd::Rdd,
    task::TaskContext,
};
use firesteel_stats::{TakePlan, TakeSettings};

/// The jobs of `take`: the first partition, then more of them as long as rows are missing.
pub(super) struct TakeSteps<R: Rdd, F> {
    rdd: R,
    plan: TakePlan,
    rows: Vec<R::Item>,
    running: Option<Arc<Collected<Vec<R::Item>>>>,
    finish: Option<F>,
}

impl<R: Rdd, F> TakeSteps<R, F> {
    pub(super) fn new(rdd: &R, wanted: usize, finish: F) -> Self {
        let conf = &rdd.handle().driver().conf;
        let settings = TakeSettings {
            initial_partitions: conf.get(settings::RDD_LIMIT_INITIAL_NUM_PARTITIONS),
            scale_up_factor: conf.get(settings::RDD_LIMIT_SCALE_UP_FACTOR),
        };
        let plan = TakePlan::new(wanted as u64, rdd.num_partitions(), settings);
        Self { rdd: rdd.clone(), plan, rows: Vec::new(), running: None, finish: Some(finish) }
    }
}

impl<R: Rdd, T: 'static, F> Steps<T> for TakeSteps<R, F>
where
    F: FnOnce(Vec<R::Item>) -> Result<T> + Send + 'static,
{
    fn next(&mut self) -> Result<Next<T>> {
        if let Some(done) = self.running.take() {
            let missing = self.plan.missing() as usize;
            let found = done.take();
            self.plan.on_rows(found.iter().map(|rows| rows.len() as u64).sum());
            self.rows.extend(found.into_iter().flatten().take(missing));
        }
        if let Some(partitions) = self.plan.next_partitions() {
            let first_rows = TakeRows { rows: self.plan.missing() };
            let (job, collected) = submission(&self.rdd, listed(partitions), first_rows);
            self.running = Some(collected);
            return Ok(Next::Job(job));
        }
        let rows = std::mem::take(&mut self.rows);
        let finish = self.finish.take().expect("an action is asked once after its last job");
        Ok(Next::value(move || finish(rows)))
    }
}

/// Gives the first rows of a partition.
struct TakeRows {
    rows: u64,
}

crate::ship!(impl[] TakeRows { rows });

impl<T: Data> JobFunction<T> for TakeRows {
    type Output = Vec<T>;

    fn run(&self, rows: impl Iterator<Item = T>, _task: &TaskContext) -> Vec<T> {
        gather(rows.take(self.rows as usize))
    }

    fn size_of(output: &Vec<T>) -> u64 {
        size_of_val(output.as_slice()) as u64
    }
}
