//! Answers that do not wait for every partition.

use std::{sync::Arc, time::Duration};

use firesteel_scheduler::Partitions;
use parking_lot::Mutex;

use crate::{
    Error, Result,
    contain::{contain, discard},
    driver::Collected,
    job::{Call, Finish, JobFunction, JobHandle, submission},
    rdd::Rdd,
};
use firesteel_stats::ApproximateEvaluator;

/// What an action knew when its time was up, and how to get the rest.
///
/// ```
/// use std::time::Duration;
///
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let count = ctx.range(0..1000).count_approx(Duration::from_secs(60), 0.95)?;
/// assert!(count.is_final());
/// assert_eq!(count.final_value()?.mean, 1000.0);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[must_use = "the job goes on after its time: ask for the final value or cancel it"]
#[derive(Debug)]
pub struct PartialResult<V> {
    initial: V,
    /// The action, if it was not over in time.
    rest: Option<JobHandle<V>>,
}

impl<V> PartialResult<V> {
    /// What was known in time.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::time::Duration;
    /// # let ctx = Context::local(2)?;
    /// let sum = ctx.range(0..100).sum_approx(Duration::from_secs(60), 0.95)?;
    /// assert_eq!(sum.initial_value().mean, 4950.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn initial_value(&self) -> &V {
        &self.initial
    }

    /// Whether every partition was done in time.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::time::Duration;
    /// # let ctx = Context::local(2)?;
    /// let endless = ctx.range(0..1).flat_map(|_| std::iter::repeat(1));
    /// let count = endless.count_approx(Duration::from_millis(1), 0.95)?;
    /// assert!(!count.is_final());
    /// count.cancel();
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn is_final(&self) -> bool {
        self.rest.is_none()
    }

    /// Waits for every partition.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::time::Duration;
    /// # let ctx = Context::local(2)?;
    /// let count = ctx.range(0..1000).count_approx(Duration::ZERO, 0.95)?;
    /// assert_eq!(count.final_value()?.mean, 1000.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn final_value(self) -> Result<V> {
        self.rest.map_or(Ok(self.initial), JobHandle::wait)
    }

    /// The action as it goes on, if it was not over in time.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::time::Duration;
    /// # let ctx = Context::local(2)?;
    /// let endless = ctx.range(0..1).flat_map(|_| std::iter::repeat(1));
    /// let rest = endless.count_approx(Duration::from_millis(1), 0.95)?.into_handle().unwrap();
    /// assert!(!rest.is_finished());
    /// rest.cancel();
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn into_handle(self) -> Option<JobHandle<V>> {
        self.rest
    }

    /// Ends the action, and gives what was known in time.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::time::Duration;
    /// # let ctx = Context::local(2)?;
    /// let endless = ctx.range(0..1).flat_map(|_| std::iter::repeat(1));
    /// let count = endless.count_approx(Duration::from_millis(1), 0.95)?;
    /// assert_eq!(count.cancel().low, 0.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn cancel(self) -> V {
        if let Some(rest) = self.rest {
            rest.cancel_because("an approximate answer was enough");
        }
        self.initial
    }
}

/// The results so far, and their evaluation.
struct Evaluation<V: ApproximateEvaluator> {
    collected: Arc<Collected<V::Output>>,
    evaluator: Mutex<V>,
}

impl<V: ApproximateEvaluator> Evaluation<V> {
    fn current(&self) -> V::Result {
        let mut evaluator = self.evaluator.lock();
        self.collected.take_present().into_iter().for_each(|(_, output)| evaluator.merge(output));
        evaluator.current_result()
    }
}

impl Call {
    /// Runs `function` on every partition, and gives what `evaluator` knows when all are done or the time is up.
    pub(super) fn approximate<R, J, V>(
        self,
        rdd: &R,
        function: J,
        evaluator: V,
        limit: Duration,
    ) -> Result<PartialResult<V::Result>>
    where
        R: Rdd,
        J: JobFunction<R::Item>,
        V: ApproximateEvaluator<Output = J::Output, Result: Send + 'static> + Send + 'static,
    {
        let (job, collected) = submission(rdd, Partitions::All, function);
        let evaluation = Arc::new(Evaluation { collected, evaluator: Mutex::new(evaluator) });
        let all = evaluation.clone();
        let action = self.start_with(rdd, job, Finish::new(move || Ok(all.current())));
        let known = match action.wait_timeout(limit) {
            Ok(value) => value.map(|initial| PartialResult { initial, rest: None }),
            Err(running) => match contain(|| evaluation.current()) {
                Ok(initial) => Ok(PartialResult { initial, rest: Some(running) }),
                Err(message) => {
                    running.cancel_because("an approximate answer cannot be given");
                    Err(Error::Panicked { action: self.action, site: self.site, message })
                }
            },
        };
        // It may hold rows, whose `drop` is the application's code.
        discard(evaluation);
        known
    }
}
