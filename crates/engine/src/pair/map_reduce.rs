//! Pairs that rows emit, combined by key before anything is kept of them: the map side of `map_reduce`.

use std::{fmt, hash::Hash, marker::PhantomData};

use super::{
    Combined, Combiner, Input, Reduce, combining::Combining, default_partitioner, gathered::Gathered,
    input::shuffle,
};
use crate::{
    data::Data,
    narrow::With,
    partitioner::KeyPartitioner,
    rdd::Rdd,
    ship::{Frozen, Func, Ship, ShipError, Thawing},
    shuffle::{Buckets, MapSide},
    spill::Borrowed,
    task::TaskContext,
};
use firesteel_storage::memory::BatchLimit;

/// Takes the pairs that a row gives. See [`map_reduce`](crate::Rearrange::map_reduce).
pub struct Emit<'row, Q: ?Sized, V> {
    pairs: Vec<(Borrowed<'row, Q>, V)>,
}

impl<'row, Q: ?Sized, V> Emit<'row, Q, V> {
    /// Emits a value for a key, which may be a part of the row.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let lines = ctx.parallelize(vec!["b a".to_owned(), "a".to_owned()]);
    /// let lengths = lines.map_reduce(
    ///     |line, emit| line.split(' ').for_each(|word| emit.pair(word, word.len())),
    ///     |one, two| one + two,
    /// );
    /// assert_eq!(lengths.lookup(&"a".to_owned())?, [2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[inline]
    pub fn pair(&mut self, key: &'row Q, value: V) {
        self.pairs.push((Borrowed(key), value));
    }
}

impl<Q: ?Sized, V> fmt::Debug for Emit<'_, Q, V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Emit").field("pairs", &self.pairs.len()).finish()
    }
}

/// The map side: `function` emits, `combiner` combines.
struct EmitAndCombine<Q: ToOwned<Owned: 'static> + ?Sized, V, E, F, A> {
    function: Func<E, F>,
    combiner: A,
    partitioner: KeyPartitioner<Q::Owned>,
    value: PhantomData<fn() -> V>,
}

impl<Q, V, E, F, A> Ship for EmitAndCombine<Q, V, E, F, A>
where
    Q: ToOwned<Owned: 'static> + ?Sized + 'static,
    V: 'static,
    E: Data,
    F: 'static,
    A: Ship,
{
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.function.freeze(out)?;
        self.combiner.freeze(out)?;
        self.partitioner.freeze(out)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let (function, combiner) = (Func::thaw(input)?, A::thaw(input)?);
        let partitioner = KeyPartitioner::thaw(input)?;
        Ok(Self { function, combiner, partitioner, value: PhantomData })
    }
}

impl<T, Q, V, E, F, A> MapSide<T> for EmitAndCombine<Q, V, E, F, A>
where
    Q: ToOwned<Owned: Data + Hash + Eq> + Hash + Eq + ?Sized + 'static,
    V: Data,
    E: Data,
    F: for<'row> Fn(&E, &'row T, &mut Emit<'row, Q, V>) + Copy + Send + Sync + 'static,
    A: Combiner<V>,
{
    type Row = (Q::Owned, A::Combined);

    fn deal<'a>(&self, rows: impl Iterator<Item = T>, task: &'a TaskContext) -> Buckets<'a, Self::Row> {
        let buckets = Buckets::new(self.partitioner.num_partitions(), task);
        let deal = |row: Self::Row| (self.partitioner.partition_inline(&row.0), row);
        let mut combining = Combining::new(&self.combiner, buckets, deal, task);
        let (f, env) = (self.function.function(), self.function.env());
        let mut room = Vec::new();
        let mut bring = |rows: &mut Vec<T>| {
            let mut emit = Emit { pairs: emptied(std::mem::take(&mut room)) };
            let mut limit = BatchLimit::start();
            for row in &*rows {
                self.function.blame().on(|| f(env, row, &mut emit));
                // Large values do not wait for those of other rows.
                if limit.is_reached::<V>() {
                    combining.bring_borrowed(&mut emit.pairs);
                    limit = BatchLimit::start();
                }
            }
            let Emit { mut pairs } = emit;
            combining.bring_borrowed(&mut pairs);
            room = emptied(pairs);
        };
        let mut gathered = Gathered::new(ROWS);
        rows.for_each(|row| {
            if gathered.push(row) {
                gathered.hand_out(&mut bring);
            }
        });
        gathered.hand_out(bring);
        combining.finish()
    }
}

/// Rows whose pairs are brought in together, so that many keys are looked up at once.
const ROWS: usize = 16;

/// The same vector without its elements, for pairs of other rows.
fn emptied<'other, Q: ?Sized, V>(mut pairs: Vec<(Borrowed<'_, Q>, V)>) -> Vec<(Borrowed<'other, Q>, V)> {
    pairs.clear();
    // Collects in place: elements of the same size need no other memory.
    pairs.into_iter().map(|_| unreachable!("it is empty")).collect()
}

impl<R: Rdd, E: Data> With<R, E> {
    /// Combines the pairs that rows emit. See [`Rearrange::map_reduce`](crate::Rearrange::map_reduce).
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let lines = ctx.parallelize(vec!["to be".to_owned(), "or not to be".to_owned()]);
    /// let counts = lines.with((' ', 1_u32)).map_reduce(
    ///     |(blank, one), line, emit| line.split(*blank).for_each(|word| emit.pair(word, *one)),
    ///     |_, a, b| a + b,
    /// );
    /// assert_eq!(counts.lookup(&"be".to_owned())?, [2]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn map_reduce<Q, V, F, G>(
        self,
        emit: F,
        reduce: G,
    ) -> Combined<Q::Owned, V, impl Combiner<V, Combined = V> + use<R, E, Q, V, F, G>>
    where
        Q: ToOwned<Owned: Data + Hash + Eq> + Hash + Eq + ?Sized + 'static,
        V: Data,
        F: for<'row> Fn(&E, &'row R::Item, &mut Emit<'row, Q, V>) + Copy + Send + Sync + 'static,
        G: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static,
    {
        let partitioner = default_partitioner::<Q::Owned>(&[self.rdd().handle()]);
        self.map_reduce_into(partitioner, emit, reduce)
    }

    /// The same into given partitions.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let lines = ctx.parallelize(vec!["to be".to_owned(), "or not to be".to_owned()]);
    /// let counts = lines.with(' ').map_reduce_into(
    ///     3,
    ///     |blank, line, emit| line.split(*blank).for_each(|word| emit.pair(word, 1)),
    ///     |_, a: u32, b| a + b,
    /// );
    /// assert_eq!((counts.num_partitions(), counts.count()?), (3, 4));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn map_reduce_into<Q, V, P, F, G>(
        self,
        partitioner: P,
        emit: F,
        reduce: G,
    ) -> Combined<Q::Owned, V, impl Combiner<V, Combined = V> + use<R, E, Q, V, P, F, G>>
    where
        Q: ToOwned<Owned: Data + Hash + Eq> + Hash + Eq + ?Sized + 'static,
        V: Data,
        P: Into<KeyPartitioner<Q::Owned>>,
        F: for<'row> Fn(&E, &'row R::Item, &mut Emit<'row, Q, V>) + Copy + Send + Sync + 'static,
        G: Fn(&E, V, V) -> V + Copy + Send + Sync + 'static,
    {
        let partitioner = partitioner.into();
        let (parent, env) = self.into_parts();
        let builder = parent.handle().derive_into("map_reduce", partitioner.num_partitions());
        let builder = builder.partitioner(Some(partitioner.erased()));
        let combiner = Reduce { function: Func::new(env.clone(), reduce, builder.id()) };
        let side = EmitAndCombine {
            function: Func::new(env, emit, builder.id()),
            combiner: combiner.clone(),
            partitioner: partitioner.clone(),
            value: PhantomData,
        };
        let read = shuffle(&parent, partitioner.num_partitions(), false, side);
        Combined::reading(builder, Input::Shuffle(read), combiner)
    }
}
