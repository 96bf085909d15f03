//! The ways in which the values of one key become one value.

use std::hash::Hash;

use crate::{
    data::Data,
    ship::{Func, Ship},
};
use firesteel_stats::HyperLogLogPlusPlus;

/// How the values of one key become one combined value.
pub trait Combiner<V>: Ship + Clone + Send + Sync + 'static {
    /// The combined value.
    type Combined: Data;

    /// From the first value.
    fn create(&self, value: V) -> Self::Combined;
    /// With one more value.
    fn add(&self, combined: Self::Combined, value: V) -> Self::Combined;
    /// With the combined value of another map task.
    fn merge(&self, one: Self::Combined, two: Self::Combined) -> Self::Combined;
}

/// Values of the same type, combined two by two.
pub(crate) struct Reduce<E, F> {
    pub(crate) function: Func<E, F>,
}

crate::ship!(impl[E: Data, F: 'static] Reduce<E, F> { function });

impl<E, F> Clone for Reduce<E, F> {
    fn clone(&self) -> Self {
        Self { function: self.function.clone() }
    }
}

impl<V: Data, E: Data, F: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static> Combiner<V> for Reduce<E, F> {
    type Combined = V;

    #[inline]
    fn create(&self, value: V) -> V {
        value
    }

    #[inline]
    fn add(&self, combined: V, value: V) -> V {
        let f = &self.function;
        f.blame().on(|| f.function()(f.env(), combined, value))
    }

    #[inline]
    fn merge(&self, one: V, two: V) -> V {
        self.add(one, two)
    }
}

/// Values combined by three functions: for the first value, for one more, and for two combined values.
pub(crate) struct ByParts<E, F> {
    pub(crate) functions: Func<E, F>,
}

crate::ship!(impl[E: Data, F: 'static] ByParts<E, F> { functions });

impl<E, F> Clone for ByParts<E, F> {
    fn clone(&self) -> Self {
        Self { functions: self.functions.clone() }
    }
}

impl<V, C, E, F, A, M> Combiner<V> for ByParts<E, (F, A, M)>
where
    C: Data,
    E: Data,
    F: Fn(&E, V) -> C + Copy + Send + Sync + 'static,
    A: Fn(&E, C, V) -> C + Copy + Send + Sync + 'static,
    M: Fn(&E, C, C) -> C + Copy + Send + Sync + 'static,
{
    type Combined = C;

    #[inline]
    fn create(&self, value: V) -> C {
        let f = &self.functions;
        f.blame().on(|| f.function().0(f.env(), value))
    }

    #[inline]
    fn add(&self, combined: C, value: V) -> C {
        let f = &self.functions;
        f.blame().on(|| f.function().1(f.env(), combined, value))
    }

    #[inline]
    fn merge(&self, one: C, two: C) -> C {
        let f = &self.functions;
        f.blame().on(|| f.function().2(f.env(), one, two))
    }
}

/// Values brought one by one into a copy of a zero, and such copies merged two by two.
pub(crate) struct Aggregate<C, E, F> {
    pub(crate) zero: C,
    pub(crate) functions: Func<E, F>,
}

crate::ship!(impl[C: Data, E: Data, F: 'static] Aggregate<C, E, F> { functions; values zero });

impl<C: Clone, E, F> Clone for Aggregate<C, E, F> {
    fn clone(&self) -> Self {
        Self { zero: self.zero.clone(), functions: self.functions.clone() }
    }
}

impl<V, C, E, A, M> Combiner<V> for Aggregate<C, E, (A, M)>
where
    C: Data,
    E: Data,
    A: Fn(&E, C, V) -> C + Copy + Send + Sync + 'static,
    M: Fn(&E, C, C) -> C + Copy + Send + Sync + 'static,
{
    type Combined = C;

    #[inline]
    fn create(&self, value: V) -> C {
        self.add(self.zero.clone(), value)
    }

    #[inline]
    fn add(&self, combined: C, value: V) -> C {
        let f = &self.functions;
        f.blame().on(|| f.function().0(f.env(), combined, value))
    }

    #[inline]
    fn merge(&self, one: C, two: C) -> C {
        let f = &self.functions;
        f.blame().on(|| f.function().1(f.env(), one, two))
    }
}

/// The values of a key in a sketch that can tell about how many different ones it has seen.
#[derive(Clone)]
pub(crate) struct CountApproxDistinct {
    pub(crate) empty: HyperLogLogPlusPlus,
}

crate::ship!(impl[] CountApproxDistinct { ; values empty });

impl<V: Hash> Combiner<V> for CountApproxDistinct {
    type Combined = HyperLogLogPlusPlus;

    #[inline]
    fn create(&self, value: V) -> HyperLogLogPlusPlus {
        self.add(self.empty.clone(), value)
    }

    #[inline]
    fn add(&self, mut combined: HyperLogLogPlusPlus, value: V) -> HyperLogLogPlusPlus {
        combined.add(&value);
        combined
    }

    fn merge(&self, mut one: HyperLogLogPlusPlus, two: HyperLogLogPlusPlus) -> HyperLogLogPlusPlus {
        one.merge(&two).expect("all sketches are copies of one and have its precision");
        one
    }
}
