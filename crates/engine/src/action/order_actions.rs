//! The actions that choose rows by an order.

use std::{
    cmp::{Ordering, Reverse},
    sync::Arc,
};

use crate::{
    Result,
    job::{Call, JobHandle},
    narrow::Transform,
    rdd::Rdd,
    ship::captures_nothing,
};

/// What chooses rows by an order: their own, or that of a key. Of rows that are equal the first ones are chosen.
///
/// Numbers with a fraction have no total order of their own: use `min_by(f64::total_cmp)`, or
/// [`stats`](crate::NumericActions::stats).
pub trait OrderActions: Rdd {
    /// The least row. An error if there is none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![3, 1, 2]).min()?, 1);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn min(&self) -> Result<Self::Item>
    where
        Self::Item: Ord,
    {
        OrderActions::min_async(self).wait()
    }

    /// The least row, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![3, 1, 2]).min_async().wait()?, 1);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn min_async(&self) -> JobHandle<Self::Item>
    where
        Self::Item: Ord,
    {
        Call::new("min").first_by(self, Arc::new(()), |(), one, two| one.cmp(two))
    }

    /// The greatest row. An error if there is none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![3, 1, 2]).max()?, 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn max(&self) -> Result<Self::Item>
    where
        Self::Item: Ord,
    {
        OrderActions::max_async(self).wait()
    }

    /// The greatest row, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![3, 1, 2]).max_async().wait()?, 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn max_async(&self) -> JobHandle<Self::Item>
    where
        Self::Item: Ord,
    {
        Call::new("max").first_by(self, Arc::new(()), |(), one, two| two.cmp(one))
    }

    /// The least row in the order of `compare`. An error if there is none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![2.5, -1.0]).min_by(f64::total_cmp)?, -1.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn min_by<F>(&self, compare: F) -> Result<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.min_by_async(compare).wait()
    }

    /// The least row in the order of `compare`, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![2.5, -1.0]).min_by_async(f64::total_cmp).wait()?, -1.0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn min_by_async<F>(&self, compare: F) -> JobHandle<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).min_by_async(move |(), one, two| compare(one, two))
    }

    /// The greatest row in the order of `compare`. An error if there is none.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![2.5, -1.0]).max_by(f64::total_cmp)?, 2.5);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn max_by<F>(&self, compare: F) -> Result<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.max_by_async(compare).wait()
    }

    /// The greatest row in the order of `compare`, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![2.5, -1.0]).max_by_async(f64::total_cmp).wait()?, 2.5);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn max_by_async<F>(&self, compare: F) -> JobHandle<Self::Item>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).max_by_async(move |(), one, two| compare(one, two))
    }

    /// The row with the least key. An error if there is no row.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(-3_i32..8).min_by_key(|x| (x - 5).abs())?, 5);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn min_by_key<K: Ord + 'static, F>(&self, key: F) -> Result<Self::Item>
    where
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.min_by_key_async(key).wait()
    }

    /// The row with the least key, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(-3_i32..8).min_by_key_async(|x| x.abs()).wait()?, 0);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn min_by_key_async<K: Ord + 'static, F>(&self, key: F) -> JobHandle<Self::Item>
    where
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).min_by_key_async(move |(), row| key(row))
    }

    /// The row with the greatest key. An error if there is no row.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(-3_i32..8).max_by_key(|x| (x - 5).abs())?, -3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn max_by_key<K: Ord + 'static, F>(&self, key: F) -> Result<Self::Item>
    where
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.max_by_key_async(key).wait()
    }

    /// The row with the greatest key, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(-3_i32..8).max_by_key_async(|x| x.abs()).wait()?, 7);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn max_by_key_async<K: Ord + 'static, F>(&self, key: F) -> JobHandle<Self::Item>
    where
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).max_by_key_async(move |(), row| key(row))
    }

    /// The `most` least rows, in order; fewer if there are fewer.
    ///
    /// Each task keeps so many rows only.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![3, 1, 2]).take_ordered(2)?, [1, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn take_ordered(&self, most: usize) -> Result<Vec<Self::Item>>
    where
        Self::Item: Ord,
    {
        self.take_ordered_async(most).wait()
    }

    /// The `most` least rows, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![3, 1, 2]).take_ordered_async(2).wait()?, [1, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn take_ordered_async(&self, most: usize) -> JobHandle<Vec<Self::Item>>
    where
        Self::Item: Ord,
    {
        Call::new("take_ordered").first_rows(self, most, (Arc::new(()), |(): &(), row: Self::Item| row), Ok)
    }

    /// The `most` rows with the least keys, in the order of their keys; fewer if there are fewer.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..10).take_ordered_by(3, |x| (x % 5, *x))?, [0, 5, 1]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn take_ordered_by<K: Ord + 'static, F>(&self, most: usize, key: F) -> Result<Vec<Self::Item>>
    where
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.take_ordered_by_async(most, key).wait()
    }

    /// The `most` rows with the least keys, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..10).take_ordered_by_async(2, |x| (x % 5, *x)).wait()?, [0, 5]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn take_ordered_by_async<K: Ord + 'static, F>(&self, most: usize, key: F) -> JobHandle<Vec<Self::Item>>
    where
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).take_ordered_by_async(most, move |(), row| key(row))
    }

    /// The `most` greatest rows, the greatest first; fewer if there are fewer.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![3, 1, 2]).top(2)?, [3, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn top(&self, most: usize) -> Result<Vec<Self::Item>>
    where
        Self::Item: Ord,
    {
        self.top_async(most).wait()
    }

    /// The `most` greatest rows, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.parallelize(vec![3, 1, 2]).top_async(2).wait()?, [3, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn top_async(&self, most: usize) -> JobHandle<Vec<Self::Item>>
    where
        Self::Item: Ord,
    {
        Call::new("top").first_rows(self, most, (Arc::new(()), |(): &(), row: Self::Item| Reverse(row)), Ok)
    }

    /// The `most` rows with the greatest keys, the greatest first; fewer if there are fewer.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let words = ctx.parallelize(vec!["to", "be", "or", "not", "to", "be"].into_iter().map(String::from).collect());
    /// let counts = words.map(|word| (word, 1)).reduce_by_key(|a, b| a + b);
    /// let top = counts.top_by(2, |(_, n)| *n)?;
    /// assert_eq!([top[0].1, top[1].1], [2, 2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn top_by<K: Ord + 'static, F>(&self, most: usize, key: F) -> Result<Vec<Self::Item>>
    where
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.top_by_async(most, key).wait()
    }

    /// The `most` rows with the greatest keys, in the background.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range(0..10).top_by_async(2, |x| (x % 5, *x)).wait()?, [9, 4]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    fn top_by_async<K: Ord + 'static, F>(&self, most: usize, key: F) -> JobHandle<Vec<Self::Item>>
    where
        F: Fn(&Self::Item) -> K + Copy + Send + Sync + 'static,
    {
        captures_nothing::<F>();
        self.with(()).top_by_async(most, move |(), row| key(row))
    }
}

impl<R: Rdd> OrderActions for R {}
