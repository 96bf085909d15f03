//! The handle of a broadcast variable.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use firesteel_storage::broadcast::Manifest;

use crate::{
    Context, Error, Result,
    contain::contain,
    data::Data,
    driver::{Driver, TasksRun},
    error::with_causes,
    protocol::Stored,
    task::{Abort, TaskContext, abort_task},
};

/// A value that was made once on the driver and can be read by every task.
///
/// Travels to tasks as an environment ([`with`](crate::Transform::with)): only its id does, the value itself goes to an
/// executor once. It is what it was when it was broadcast.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let names = ctx.broadcast(vec!["zero".to_string(), "one".into(), "two".into()])?;
/// let named = ctx.range(0..3_usize).with(names).map(|names, x| names.value()[x].clone());
/// assert_eq!(named.collect()?, ["zero", "one", "two"]);
/// # Ok::<(), firesteel::Error>(())
/// ```
///
/// An RDD cannot be broadcast, which the compiler rejects; collect it first.
///
/// ```compile_fail,E0277
/// # use firesteel::prelude::*;
/// # let ctx = Context::local(2).unwrap();
/// ctx.broadcast(ctx.range(0..3));
/// ```
#[must_use = "the value is removed everywhere when its last handle is dropped"]
pub struct Broadcast<T>(Arc<Inner<T>>);

struct Inner<T> {
    id: u64,
    value: OnceLock<Arc<T>>,
    destroyed: AtomicBool,
    /// How other processes find the value; none while there are none.
    manifest: Option<Manifest>,
    /// On the driver only.
    driver: Option<Arc<Driver>>,
}

/// The last handle on the driver takes the value along, everywhere.
impl<T> Drop for Inner<T> {
    fn drop(&mut self) {
        if let Some(driver) = &self.driver {
            driver.drop_broadcast(self.id);
        }
    }
}

impl Context {
    /// Makes `value` readable for every task.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let factors = ctx.broadcast(vec![10, 100])?;
    /// let scaled = ctx.range(0..2_usize).with(factors).map(|factors, x| factors.value()[x] * 3);
    /// assert_eq!(scaled.collect()?, [30, 300]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn broadcast<T: Data>(&self, value: T) -> Result<Broadcast<T>> {
        let driver = self.driver().clone();
        if driver.is_stopped() {
            return Err(Error::Stopped);
        }
        let (id, value) = (Driver::next_other(), Arc::new(value));
        let manifest = match driver.tasks {
            TasksRun::Here(_) => None,
            TasksRun::Elsewhere => {
                let published = contain(|| driver.environment.broadcasts.publish(id, &*value));
                let published = published.map_err(|panic| format!("serializing it panicked: {panic}"));
                let published =
                    published.and_then(|published| published.map_err(|error| with_causes(&error)));
                let why = |why| Error::invalid(format!("a value cannot be broadcast: {why}"));
                Some(published.map_err(why)?)
            }
        };
        driver.environment.broadcasts.put(id, value.clone());
        let (value, destroyed) = (OnceLock::from(value), AtomicBool::new(false));
        Ok(Broadcast(Arc::new(Inner { id, value, destroyed, manifest, driver: Some(driver) })))
    }
}

impl<T: Data> Broadcast<T> {
    /// The value. After [`destroy`](Broadcast::destroy) it is an error: inside a task the task fails, elsewhere it
    /// panics.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let names = ctx.broadcast(vec!["zero".to_owned(), "one".to_owned()])?;
    /// assert_eq!(names.value()[1], "one");
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn value(&self) -> &T {
        if self.0.destroyed.load(Ordering::Relaxed) {
            self.fail("was used after it was destroyed");
        }
        self.0.value.get_or_init(|| self.find())
    }

    /// The id.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let (one, two) = (ctx.broadcast(1)?, ctx.broadcast(2)?);
    /// assert_ne!(one.id(), two.id());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// Removes the copies of executors; when a task needs the value again, it is fetched again.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let factor = ctx.broadcast(3)?;
    /// factor.unpersist();
    /// assert_eq!(ctx.range(0..3).with(factor).map(|factor, x| x * *factor.value()).collect()?, [0, 3, 6]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn unpersist(&self) {
        // In one process there is one copy, and it is the driver's own.
        if let Some(driver) = &self.0.driver {
            driver.backend.remove(Stored::Broadcast { id: self.0.id, destroyed: false });
        }
    }

    /// Removes the value everywhere. A task that uses it afterwards fails.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let factor = ctx.broadcast(3)?;
    /// factor.destroy();
    /// assert!(ctx.range(0..3).with(factor).map(|factor, x| x * *factor.value()).collect().is_err());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn destroy(&self) {
        self.0.destroyed.store(true, Ordering::Relaxed);
        if let Some(driver) = &self.0.driver {
            driver.drop_broadcast(self.0.id);
        }
    }

    /// The copy of the executor on which the current task runs.
    fn find(&self) -> Arc<T> {
        let found = TaskContext::with_current(|task| {
            let task = task?;
            let broadcasts = &task.environment().broadcasts;
            match &self.0.manifest {
                Some(manifest) if self.0.driver.is_none() => match broadcasts.fetch(manifest, task) {
                    Ok(value) => Some(value),
                    Err(error) => {
                        task.check();
                        self.fail(&format!("cannot be fetched: {}", with_causes(&error)))
                    }
                },
                _ => broadcasts.get(self.0.id),
            }
        });
        found.unwrap_or_else(|| self.fail("is not there: it was destroyed, or its last handle was dropped"))
    }

    fn fail(&self, what: &str) -> ! {
        let message =
            format!("broadcast-{} {what}; keep its handle until the jobs that read it are over", self.0.id);
        if TaskContext::is_set() {
            abort_task(Abort::Failed { message, operator: None });
        }
        #[expect(clippy::panic, reason = "a mistake in the user's program that no value could stand for")]
        {
            panic!("{message}");
        }
    }
}

impl<T> Clone for Broadcast<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> fmt::Debug for Broadcast<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "broadcast-{}", self.0.id)
    }
}

impl<T> Serialize for Broadcast<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0.id, &self.0.manifest).serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for Broadcast<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (id, manifest) = Deserialize::deserialize(deserializer)?;
        let (value, destroyed) = (OnceLock::new(), AtomicBool::new(false));
        Ok(Self(Arc::new(Inner { id, value, destroyed, manifest, driver: None })))
    }
}
