//! What a running task can know and do.

use std::{
    any::Any,
    cell::RefCell,
    iter,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use elsa::sync::FrozenVec;
use parking_lot::Mutex;

use firesteel_scheduler::TaskDescription;
use firesteel_types::{
    AttemptId, AttemptNumber, Cpus, ExecutorId, PartitionId, Properties, RddId, ResourceAssignment,
    StageAttemptId, TaskMetrics,
};

use super::{Abort, Environment, KillSwitch, Pace, abort_task, listeners::TaskListeners};
use crate::task::{TaskAccumulators, TaskData};

thread_local! {
    static CURRENT: RefCell<Option<TaskContext>> = const { RefCell::new(None) };
}

/// Who a task is: fixed at its launch.
#[derive(Clone, Debug)]
pub(crate) struct TaskIdentity {
    pub(crate) set: StageAttemptId,
    pub(crate) attempt: AttemptId,
    pub(crate) number: AttemptNumber,
    pub(crate) partition: PartitionId,
    pub(crate) partitions: u32,
    pub(crate) executor: ExecutorId,
    pub(crate) cpus: Cpus,
    pub(crate) resources: ResourceAssignment,
    pub(crate) properties: Properties,
    /// The generations of the RDDs of its stage, where they are not 0.
    pub(crate) generations: Arc<[(RddId, u32)]>,
}

impl TaskIdentity {
    pub(crate) fn new(
        task: TaskDescription,
        partitions: u32,
        properties: Properties,
        generations: Arc<[(RddId, u32)]>,
    ) -> Self {
        let TaskDescription { set, attempt, number, partition, executor, cpus, resources, .. } = task;
        Self {
            set,
            attempt,
            number,
            partition,
            partitions,
            executor,
            cpus,
            resources,
            properties,
            generations,
        }
    }
}

/// The running task: who it is, whether it should end, and what it reports.
///
/// Every operator is handed the one of its task; a user's function finds it with [`TaskContext::current`]. A clone is
/// the same task.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let partitions = ctx.range_into(0..4, 4).map(|_| TaskContext::current().map(|task| task.partition().0));
/// assert_eq!(partitions.collect()?, [Some(0), Some(1), Some(2), Some(3)]);
/// assert!(TaskContext::current().is_none(), "the driver's own thread runs no task");
/// # Ok::<(), firesteel::Error>(())
/// ```
#[derive(Clone)]
pub struct TaskContext(Arc<Inner>);

struct Inner {
    identity: TaskIdentity,
    kill: Arc<KillSwitch>,
    environment: Arc<Environment>,
    partition_data: TaskData,
    counters: Counters,
    accumulators: TaskAccumulators,
    listeners: TaskListeners,
    /// The failed fetch that the task noticed, regardless of what became of it afterwards.
    fetch_failure: Mutex<Option<firesteel_types::FetchFailure>>,
    held: FrozenVec<Box<dyn Any + Send + Sync>>,
}

/// The figures that a task counts itself.
#[derive(Debug, Default)]
struct Counters {
    input_records: AtomicU64,
    input_bytes: AtomicU64,
    shuffle_records_read: AtomicU64,
    shuffle_bytes_read: AtomicU64,
    shuffle_records_written: AtomicU64,
    shuffle_bytes_written: AtomicU64,
    disk_bytes_spilled: AtomicU64,
    spills: AtomicU64,
}

impl TaskContext {
    pub(crate) fn new(
        identity: TaskIdentity,
        kill: Arc<KillSwitch>,
        environment: Arc<Environment>,
        partition_data: TaskData,
    ) -> Self {
        Self(Arc::new(Inner {
            identity,
            kill,
            environment,
            partition_data,
            counters: Counters::default(),
            accumulators: TaskAccumulators::default(),
            listeners: TaskListeners::default(),
            fetch_failure: Mutex::default(),
            held: FrozenVec::new(),
        }))
    }

    /// The generation under which this task looks up and stores partitions of an RDD.
    pub(crate) fn generation(&self, rdd: RddId) -> u32 {
        let generations = &self.0.identity.generations;
        generations.iter().find(|(of, _)| *of == rdd).map_or(0, |(_, generation)| *generation)
    }

    /// The task that runs on this thread, if one does.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert!(TaskContext::current().is_none());
    /// assert!(ctx.range(0..1).map(|_| TaskContext::current().is_some()).first()?);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn current() -> Option<Self> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Whether a task runs on this thread.
    pub(crate) fn is_set() -> bool {
        CURRENT.try_with(|current| current.try_borrow().is_ok_and(|task| task.is_some())).unwrap_or(false)
    }

    /// Makes this task the thread's current one, or none.
    pub(crate) fn set_current(task: Option<Self>) {
        CURRENT.set(task);
    }

    /// Gives the thread's current task to `f`, without a clone of the handle.
    pub(crate) fn with_current<T>(f: impl FnOnce(Option<&Self>) -> T) -> T {
        CURRENT.with_borrow(|task| f(task.as_ref()))
    }

    /// The stage and which attempt of it.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let stages = ctx.range_into(0..2, 2).map(|_| TaskContext::current().unwrap().stage()).collect()?;
    /// assert_eq!(stages[0], stages[1]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn stage(&self) -> StageAttemptId {
        self.0.identity.set
    }

    /// The partition that this task computes.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let partitions = ctx.range_into(0..3, 3).map(|_| TaskContext::current().unwrap().partition().0);
    /// assert_eq!(partitions.collect()?, [0, 1, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn partition(&self) -> PartitionId {
        self.0.identity.partition
    }

    /// How many partitions the stage has.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let partitions = ctx.range_into(0..3, 3).map(|_| TaskContext::current().unwrap().num_partitions());
    /// assert_eq!(partitions.collect()?, [3, 3, 3]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn num_partitions(&self) -> u32 {
        self.0.identity.partitions
    }

    /// How many attempts of the same task came before, in this attempt of the stage.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// let ctx = Context::builder().master("local[1,2]").start()?;
    /// let numbers = ctx.range_into(0..1, 1).map(|_| {
    ///     let number = TaskContext::current().unwrap().attempt_number().0;
    ///     assert!(number > 0, "the first attempt fails");
    ///     number
    /// });
    /// assert_eq!(numbers.collect()?, [1]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn attempt_number(&self) -> AttemptNumber {
        self.0.identity.number
    }

    /// The id of this attempt, unique in the application.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let attempts = ctx.range_into(0..2, 2).map(|_| TaskContext::current().unwrap().attempt_id()).collect()?;
    /// assert_ne!(attempts[0], attempts[1]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn attempt_id(&self) -> AttemptId {
        self.0.identity.attempt
    }

    /// The executor it runs on.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let executors = ctx.range(0..1).map(|_| TaskContext::current().unwrap().executor().to_string());
    /// assert_eq!(executors.collect()?, ["driver"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn executor(&self) -> ExecutorId {
        self.0.identity.executor
    }

    /// The cpus it was given.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let cores = ctx.range(0..1).map(|_| TaskContext::current().unwrap().cpus().whole());
    /// assert_eq!(cores.collect()?, [1]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn cpus(&self) -> Cpus {
        self.0.identity.cpus
    }

    /// The addresses of the custom resources it was given.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let kinds = ctx.range(0..1).map(|_| TaskContext::current().unwrap().resources().len());
    /// assert_eq!(kinds.collect()?, [0]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn resources(&self) -> &ResourceAssignment {
        &self.0.identity.resources
    }

    /// A property of its job, as it was when the job was submitted.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.set_local_property("team", Some("search"));
    /// let known = ctx.range(0..1).map(|_| TaskContext::current().unwrap().property("team") == Some("search"));
    /// assert_eq!(known.collect()?, [true]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn property(&self, key: &str) -> Option<&str> {
        self.0.identity.properties.get(key)
    }

    /// Every property of its job.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// ctx.add_job_tag("etl")?;
    /// let tagged = ctx.range(0..1).map(|_| TaskContext::current().unwrap().properties().has_tag("etl"));
    /// assert_eq!(tagged.collect()?, [true]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn properties(&self) -> &Properties {
        &self.0.identity.properties
    }

    /// Whether the task was asked to end.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let waiting = ctx.range(0..1).for_each_async(|_| {
    ///     let task = TaskContext::current().unwrap();
    ///     while !task.is_interrupted() {
    ///         std::thread::yield_now();
    ///     }
    /// });
    /// waiting.cancel();
    /// assert!(waiting.wait().is_err());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn is_interrupted(&self) -> bool {
        self.0.kill.is_killed()
    }

    /// Ends the task here if it was asked to end, or if it holds far more memory than its share. Operators call it
    /// between batches of rows; a long loop of the user's own may, too.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let endless = ctx.range(0..1).for_each_async(|_| loop {
    ///     TaskContext::current().unwrap().check();
    /// });
    /// endless.cancel();
    /// assert!(endless.wait().is_err());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[inline]
    pub fn check(&self) {
        if self.0.kill.is_killed() {
            abort_task(Abort::Killed);
        }
        self.check_memory();
    }

    /// `rows` in batches, with a check for an order to end before each.
    #[inline]
    pub(crate) fn batches<'a, T>(&'a self, mut rows: &'a [T]) -> impl Iterator<Item = &'a [T]> + use<'a, T> {
        let mut pace = Pace::new(self);
        iter::from_fn(move || {
            if rows.is_empty() {
                return None;
            }
            let (batch, rest) = rows.split_at(pace.next_rows().min(rows.len()));
            rows = rest;
            Some(batch)
        })
    }

    /// Keeps `value` until the task is over, and lends it for as long as the task context itself.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let lengths = ctx.range(0..1).map(|_| {
    ///     let task = TaskContext::current().unwrap();
    ///     let held: &String = task.hold("until the end".to_owned());
    ///     held.len()
    /// });
    /// assert_eq!(lengths.collect()?, [13]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn hold<T: Send + Sync + 'static>(&self, value: T) -> &T {
        let held = self.0.held.push_get(Box::new(value));
        held.downcast_ref().expect("it was put in as this very type")
    }

    /// Runs `listener` when the task is over, however it ends; the last one added runs first.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::sync::atomic::{AtomicU32, Ordering};
    /// # let ctx = Context::local(2)?;
    /// static OVER: AtomicU32 = AtomicU32::new(0);
    /// ctx.range_into(0..4, 2).for_each_partition(|_| {
    ///     TaskContext::current().unwrap().on_completion(|task| {
    ///         OVER.fetch_add(1 + task.partition().0, Ordering::Relaxed);
    ///     });
    /// })?;
    /// assert_eq!(OVER.load(Ordering::Relaxed), 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn on_completion(&self, listener: impl FnOnce(&Self) + Send + 'static) {
        self.0.listeners.on_completion(self, Box::new(listener));
    }

    /// Runs `listener` with the message of the failure when the task fails, before the completion listeners.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # use std::sync::Mutex;
    /// # let ctx = Context::local(2)?;
    /// static WHY: Mutex<String> = Mutex::new(String::new());
    /// let failed = ctx.range(0..1).for_each(|x| {
    ///     TaskContext::current().unwrap().on_failure(|_, why| WHY.lock().unwrap().push_str(why));
    ///     assert!(x > 5, "too small");
    /// });
    /// assert!(failed.is_err());
    /// assert!(WHY.lock().unwrap().contains("too small"));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn on_failure(&self, listener: impl FnOnce(&Self, &str) + Send + 'static) {
        self.0.listeners.on_failure(self, Box::new(listener));
    }

    pub(crate) fn listeners(&self) -> &TaskListeners {
        &self.0.listeners
    }

    pub(crate) fn environment(&self) -> &Arc<Environment> {
        &self.0.environment
    }

    /// Calls `wake` when the task is asked to end, on another thread: for waits that cannot check.
    pub(crate) fn on_kill(&self, wake: impl FnOnce() + Send + 'static) {
        self.0.kill.on_kill(wake);
    }

    pub(crate) fn kill_reason(&self) -> Option<&str> {
        self.0.kill.reason()
    }

    pub(crate) fn accumulators(&self) -> &TaskAccumulators {
        &self.0.accumulators
    }

    /// The shipped data of one partition of a source, if it came with the task.
    pub(crate) fn partition_data(&self, rdd: RddId, partition: PartitionId) -> Option<&[u8]> {
        let mut data = self.0.partition_data.iter();
        data.find(|(of, index, _)| *of == rdd && *index == partition.0).map(|(_, _, bytes)| &**bytes)
    }

    /// Ends the task because of a map output that is gone. Even if user code catches the unwinding, this is what is
    /// reported.
    pub(crate) fn abort_fetch(&self, failure: firesteel_types::FetchFailure) -> ! {
        *self.0.fetch_failure.lock() = Some(failure.clone());
        abort_task(Abort::Fetch(failure))
    }

    /// Ends the task because blocks could not be fetched through no fault of the one who has them.
    pub(crate) fn abort_unfetched(&self, message: &str) -> ! {
        let message = format!("the blocks of a shuffle cannot be fetched: {message}");
        abort_task(Abort::Failed { message, operator: None })
    }

    pub(crate) fn take_fetch_failure(&self) -> Option<firesteel_types::FetchFailure> {
        self.0.fetch_failure.lock().take()
    }

    /// Counts what was read from a source.
    pub(crate) fn count_input(&self, records: u64, bytes: u64) {
        self.0.counters.input_records.fetch_add(records, Ordering::Relaxed);
        self.0.counters.input_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts what was read from a shuffle.
    pub(crate) fn count_shuffle_read(&self, records: u64, bytes: u64) {
        self.0.counters.shuffle_records_read.fetch_add(records, Ordering::Relaxed);
        self.0.counters.shuffle_bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts what was written to a shuffle.
    pub(crate) fn count_shuffle_written(&self, records: u64, bytes: u64) {
        self.0.counters.shuffle_records_written.fetch_add(records, Ordering::Relaxed);
        self.0.counters.shuffle_bytes_written.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a structure that was spilled, and the bytes that it wrote if they are known.
    pub(crate) fn count_spill(&self, bytes: u64) {
        self.0.counters.spills.fetch_add(1, Ordering::Relaxed);
        self.0.counters.disk_bytes_spilled.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The figures so far.
    pub(crate) fn metrics(&self) -> TaskMetrics {
        let counters = &self.0.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TaskMetrics {
            input_records: read(&counters.input_records),
            input_bytes: read(&counters.input_bytes),
            shuffle_records_read: read(&counters.shuffle_records_read),
            shuffle_bytes_read: read(&counters.shuffle_bytes_read),
            shuffle_records_written: read(&counters.shuffle_records_written),
            shuffle_bytes_written: read(&counters.shuffle_bytes_written),
            ..TaskMetrics::default()
        }
    }
}

impl std::fmt::Debug for TaskContext {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_tuple("TaskContext").field(&self.0.identity).finish()
    }
}
