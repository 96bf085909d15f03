//! What an operator over keys reads: a shuffle, or a parent whose keys are where they should be.

use std::marker::PhantomData;

use crate::{
    data::Data,
    driver::ShuffleHandle,
    narrow::BoxRdd,
    partitioner::KeyPartitioner,
    rdd::{Parent, Rdd},
    ship::{Frozen, Ship, ShipError, Thawing},
    shuffle::{Deal, MapSide, MapTask, ShuffleRead},
};

/// The rows of one parent, brought to the partitions of a partitioner.
///
/// `N` is a row of the parent, which is read in place if it is partitioned that way already; `S` is a row that a
/// shuffle brings otherwise.
pub(crate) enum Input<N: Data, S> {
    Narrow(BoxRdd<N>),
    Shuffle(ShuffleRead<S>),
}

impl<N: Data, S: Data> Input<N, S> {
    /// Reads `parent` in place if it has `partitioner` already, else through a shuffle whose map tasks run `side`.
    pub(crate) fn new<R, K, M>(
        parent: &R,
        partitioner: &KeyPartitioner<K>,
        ordered: bool,
        side: impl FnOnce() -> M,
    ) -> Self
    where
        R: Rdd<Item = N>,
        K: 'static,
        M: MapSide<N, Row = S>,
    {
        if parent.handle().partitioner() == Some(&partitioner.erased()) {
            return Self::Narrow(BoxRdd::new(parent.clone()));
        }
        Self::Shuffle(shuffle(parent, partitioner.num_partitions(), ordered, side()))
    }

    /// The dependency for the lineage.
    pub(crate) fn parent(&self) -> Parent {
        match self {
            Self::Narrow(parent) => Parent::one_to_one(parent.handle()),
            Self::Shuffle(read) => Parent::Shuffle(read.handle().clone()),
        }
    }
}

impl<K: Data, V: Data> Input<(K, V), (K, V)> {
    /// Reads pairs as they are.
    pub(crate) fn pairs<R: Rdd<Item = (K, V)>>(parent: &R, partitioner: &KeyPartitioner<K>) -> Self {
        Self::new(parent, partitioner, false, || Deal {
            partitioner: partitioner.clone(),
            value: PhantomData,
        })
    }
}

/// A new shuffle of `parent`.
pub(crate) fn shuffle<R: Rdd, M: MapSide<R::Item>>(
    parent: &R,
    reducers: u32,
    ordered: bool,
    side: M,
) -> ShuffleRead<M::Row> {
    let shuffle = parent.handle().driver().next_shuffle();
    let program = MapTask { rdd: parent.clone(), side, shuffle };
    let handle =
        ShuffleHandle::new(shuffle, parent.handle(), reducers, ordered, std::sync::Arc::new(program));
    ShuffleRead::new(&handle)
}

impl<N: Data, S> Clone for Input<N, S> {
    fn clone(&self) -> Self {
        match self {
            Self::Narrow(parent) => Self::Narrow(parent.clone()),
            Self::Shuffle(read) => Self::Shuffle(read.clone()),
        }
    }
}

impl<N: Data, S: 'static> Ship for Input<N, S> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(&matches!(self, Self::Narrow(_)))?;
        match self {
            Self::Narrow(parent) => parent.freeze(out),
            Self::Shuffle(read) => read.freeze(out),
        }
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(if input.value()? {
            Self::Narrow(BoxRdd::thaw(input)?)
        } else {
            Self::Shuffle(ShuffleRead::thaw(input)?)
        })
    }
}
