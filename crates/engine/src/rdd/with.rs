//! Closures with an environment.

use std::sync::Arc;

use super::{Filter, Map, Rdd};
use crate::{data::Data, ship::Func};

/// An [`Rdd`] together with the values that its next operator's function needs. Made by
/// [`with`](crate::Transform::with).
///
/// A closure may not capture variables: it would have to travel to executors. What it needs is passed as its first
/// argument instead.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let factor = 3;
/// let scaled = ctx.range(0..4).with(factor).map(|factor, x| x * factor);
/// assert_eq!(scaled.collect()?, [0, 3, 6, 9]);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[must_use = "an environment alone does nothing; call an operator on it"]
pub struct With<R, E> {
    rdd: R,
    env: Arc<E>,
}

impl<R: Rdd, E: Data> With<R, E> {
    pub(crate) fn new(rdd: R, env: E) -> Self {
        Self { rdd, env: Arc::new(env) }
    }

    pub(crate) fn rdd(&self) -> &R {
        &self.rdd
    }

    pub(crate) fn into_parts(self) -> (R, Arc<E>) {
        (self.rdd, self.env)
    }

    /// Applies `f` to every row. See [`Transform::map`](crate::Transform::map).
    #[track_caller]
    pub fn map<U: Data, F>(self, f: F) -> Map<R, E, F>
    where
        F: Fn(&E, R::Item) -> U + Copy + Send + Sync + 'static,
    {
        let handle = self.rdd.handle().derive("map").build();
        Map { function: Func::new(self.env, f, handle.id()), parent: self.rdd, handle }
    }

    /// Keeps the rows for which `f` holds. See [`Transform::filter`](crate::Transform::filter).
    #[track_caller]
    pub fn filter<F>(self, f: F) -> Filter<R, E, F>
    where
        F: Fn(&E, &R::Item) -> bool + Copy + Send + Sync + 'static,
    {
        let parent = self.rdd.handle();
        let handle = parent.derive("filter").partitioner(parent.partitioner().cloned()).build();
        Filter { function: Func::new(self.env, f, handle.id()), parent: self.rdd, handle }
    }
}
