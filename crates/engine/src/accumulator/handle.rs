//! The handle of an accumulator.

use std::{any::type_name, fmt, sync::Arc};

use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error as _};

use firesteel_storage::codec::Shape;
use firesteel_types::AccumulatorId;

use crate::{
    Context,
    driver::{Driver, Total},
    task::{Abort, Accumulate, Collection, DoubleSum, LongSum, TaskContext, abort_task},
};

/// A value that tasks add to and the driver reads.
///
/// Travels to tasks as an environment ([`with`](crate::Transform::with)). In a result stage every partition counts
/// once, regardless of retries; in a map stage a partition that is computed again counts again, so keep exact counts to
/// actions.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let odd = ctx.long_accumulator("odd rows");
/// ctx.range(0..10).with(odd.clone()).for_each(|odd, x| if x % 2 == 1 { odd.add(1) })?;
/// assert_eq!(odd.value().sum, 5);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[must_use = "an accumulator counts only what tasks add to it: bring it along with `with`"]
pub struct Accumulator<A: Accumulate> {
    id: AccumulatorId,
    zero: A,
    /// On the driver only.
    total: Option<Arc<Registered<A>>>,
}

/// The total of an accumulator, in the registry until it is dropped.
struct Registered<A: Accumulate> {
    id: AccumulatorId,
    name: Option<Arc<str>>,
    total: Arc<Mutex<A>>,
    driver: Arc<Driver>,
}

impl<A: Accumulate> Drop for Registered<A> {
    fn drop(&mut self) {
        self.driver.accumulators.remove(self.id);
    }
}

impl Context {
    /// An accumulator of whole numbers.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let letters = ctx.long_accumulator("letters");
    /// let words = ctx.parallelize(vec!["to".to_owned(), "be".to_owned()]);
    /// words.with(letters.clone()).for_each(|letters, word| letters.add(word.len() as i64))?;
    /// assert_eq!((letters.value().sum, letters.value().count), (4, 2));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn long_accumulator(&self, name: &str) -> Accumulator<LongSum> {
        self.accumulator(name, LongSum::default())
    }

    /// An accumulator of floating-point numbers.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let seconds = ctx.double_accumulator("seconds");
    /// ctx.range(0..4).with(seconds.clone()).for_each(|seconds, _| seconds.add(0.5))?;
    /// assert_eq!(seconds.value().average(), Some(0.5));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn double_accumulator(&self, name: &str) -> Accumulator<DoubleSum> {
        self.accumulator(name, DoubleSum::default())
    }

    /// An accumulator that keeps everything added to it.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let bad = ctx.collection_accumulator::<String>("bad lines");
    /// let lines = ctx.parallelize(vec!["1".to_owned(), "x".to_owned()]).with(bad.clone());
    /// lines.for_each(|bad, line| if line.parse::<u32>().is_err() { bad.add(line) })?;
    /// assert_eq!(bad.value().0, ["x"]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn collection_accumulator<T: crate::Data + fmt::Debug>(
        &self,
        name: &str,
    ) -> Accumulator<Collection<T>> {
        self.accumulator(name, Collection::default())
    }

    /// An accumulator of the user's own kind, with a value to begin with. See [`Accumulate`].
    ///
    /// ```
    /// # use firesteel::{LongSum, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let sum = ctx.accumulator("sum", LongSum { sum: 100, count: 1 });
    /// ctx.range(0..5_i64).with(sum.clone()).for_each(|sum, x| sum.add(x))?;
    /// assert_eq!(sum.value().sum, 110);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn accumulator<A: Accumulate>(&self, name: &str, initial: A) -> Accumulator<A> {
        let driver = self.driver().clone();
        let id = AccumulatorId(Driver::next_other());
        let name: Option<Arc<str>> = (!name.is_empty()).then(|| name.into());
        let zero = initial.zero();
        let total = Arc::new(Mutex::new(initial));
        let erased: Arc<dyn Total> = total.clone();
        driver.accumulators.add(id, name.clone(), &erased);
        Accumulator { id, zero, total: Some(Arc::new(Registered { id, name, total, driver })) }
    }
}

impl<A: Accumulate> Accumulator<A> {
    /// The id.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let (rows, bytes) = (ctx.long_accumulator("rows"), ctx.long_accumulator("bytes"));
    /// assert_ne!(rows.id(), bytes.id());
    /// assert_eq!(rows.id(), rows.clone().id());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn id(&self) -> AccumulatorId {
        self.id
    }

    /// Its name, if it has one. On the driver only.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.long_accumulator("rows").name(), Some("rows"));
    /// assert_eq!(ctx.long_accumulator("").name(), None);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.total.as_ref()?.name.as_deref()
    }

    /// Adds one: to the copy of the running task, or on the driver to the total.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.long_accumulator("rows");
    /// rows.add(10);
    /// ctx.range(0..5).with(rows.clone()).for_each(|rows, _| rows.add(1))?;
    /// assert_eq!(rows.value().sum, 15);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn add(&self, input: A::Input) {
        TaskContext::with_current(|task| match (task, &self.total) {
            (Some(task), _) => task.accumulators().add(self.id, || self.zero_in(task), input),
            (None, Some(registered)) => registered.total.lock().add(input),
            // A thread of the user's own on an executor: what it adds could never be reported.
            (None, None) => (),
        });
    }

    /// What the copy of a task begins with. In the driver's own process it is known whose task it is.
    fn zero_in(&self, task: &TaskContext) -> A {
        let environment = self.total.as_ref().map(|registered| &registered.driver.environment);
        if environment.is_some_and(|own| !Arc::ptr_eq(own, task.environment())) {
            let message = format!("{} belongs to another context than the task that adds to it", self.id);
            abort_task(Abort::Failed { message, operator: None });
        }
        self.zero.clone()
    }

    /// The total so far. On the driver only: inside a task it fails the task, since no task sees what others add.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.long_accumulator("rows");
    /// let read = ctx.range(0..5).with(rows.clone()).for_each(|rows, _| assert!(rows.value().sum >= 0));
    /// assert!(read.unwrap_err().to_string().contains("tasks can only add"));
    /// assert_eq!(rows.value().sum, 0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn value(&self) -> A {
        match &self.total {
            Some(registered) if !TaskContext::is_set() => registered.total.lock().clone(),
            Some(_) | None => {
                let message = format!("the value of {} was read inside a task: tasks can only add", self.id);
                abort_task(Abort::Failed { message, operator: None })
            }
        }
    }

    /// Begins again at zero. On the driver only.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.long_accumulator("rows");
    /// rows.add(5);
    /// rows.reset();
    /// assert_eq!(rows.value().count, 0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn reset(&self) {
        if let Some(registered) = &self.total {
            *registered.total.lock() = self.zero.clone();
        }
    }
}

impl<A: Accumulate> Clone for Accumulator<A> {
    fn clone(&self) -> Self {
        Self { id: self.id, zero: self.zero.clone(), total: self.total.clone() }
    }
}

impl<A: Accumulate> fmt::Debug for Accumulator<A> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.id)
    }
}

/// What travels is the id and a zero to begin with, never the total.
impl<A: Accumulate> Serialize for Accumulator<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // What tasks add must be readable when it comes back, or the driver would miss it.
        Shape::of::<A>().map_err(|source| {
            S::Error::custom(format!("cannot deserialize values of type {}: {source}", type_name::<A>()))
        })?;
        (self.id, &self.zero).serialize(serializer)
    }
}

impl<'de, A: Accumulate> Deserialize<'de> for Accumulator<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (id, zero) = Deserialize::deserialize(deserializer)?;
        Ok(Self { id, zero, total: None })
    }
}
