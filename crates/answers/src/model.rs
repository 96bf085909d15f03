//! What an RDD must hold, computed on vectors: [`Model`].

mod one;
mod two;

pub(crate) use one::{after, fits};
pub(crate) use two::{after_pairing, cogrouped, fits_pairing};

use crate::{
    case::{From, Source},
    kind::Bits,
    shape::{self, Code},
};

/// The rows of an RDD, and how much is known of where they are.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// By partition if places are known, else all in the first.
    pub(crate) partitions: Vec<Vec<Code>>,
    pub(crate) known: Known,
    /// Whether each computation of it gives the same rows in the same order, whatever fails.
    pub(crate) is_steady: bool,
    /// Whether its rows are made one at a time and none has to be kept.
    pub(crate) streams: bool,
}

/// What is promised of the order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Which partition has which rows in which order.
    Places,
    /// The order of all rows, but not where partitions begin.
    Order,
    /// The order of the rows of each key.
    PerKey,
    /// Keys are in order; rows of the same key in any.
    KeysInOrder { is_descending: bool },
    /// Nothing.
    Rows,
}

impl Known {
    /// Whether the order of the values of a key is promised.
    pub(crate) fn orders_values(self) -> bool {
        match self {
            Self::Places | Self::Order | Self::PerKey => true,
            Self::KeysInOrder { .. } | Self::Rows => false,
        }
    }

    /// What is left after an operator that may change keys, row by row.
    fn with_other_keys(self) -> Self {
        match self {
            Self::Places | Self::Order => self,
            Self::PerKey | Self::KeysInOrder { .. } | Self::Rows => Self::Rows,
        }
    }

    /// What is left after a shuffle by key.
    fn shuffled(self) -> Self {
        if self.orders_values() { Self::PerKey } else { Self::Rows }
    }
}

impl Model {
    /// All rows, in the order in which they are known.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Code> + '_ {
        self.partitions.iter().flatten().copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.partitions.iter().map(Vec::len).sum()
    }

    /// The rows of a source.
    pub(crate) fn of_source(source: &Source, bits: Bits) -> Self {
        let start = |partition| shape::slice_start(source.rows, source.partitions, partition);
        let slice = |partition| {
            (start(partition)..start(partition + 1))
                .map(|place| bits.clip(shape::row(source, place)))
                .collect()
        };
        let partitions = (0..source.partitions).map(slice).collect();
        let is_steady = source.from != From::Unordered;
        let known = if is_steady { Known::Places } else { Known::Rows };
        Self { partitions, known, is_steady, streams: source.from == From::Range }
    }

    /// The same with the rows of each partition changed.
    fn each_partition(&self, known: Known, change: impl Fn(&[Code]) -> Vec<Code>) -> Self {
        let partitions = self.partitions.iter().map(|rows| change(rows)).collect();
        Self { partitions, known, is_steady: self.is_steady, streams: self.streams }
    }

    /// The same with each row changed, as far as the kind can hold it.
    fn each_row(&self, known: Known, bits: Bits, change: impl Fn(Code) -> Vec<Code>) -> Self {
        let rows = |row: &Code| change(*row).into_iter().map(|row| bits.clip(row)).collect::<Vec<_>>();
        self.each_partition(known, |partition| partition.iter().flat_map(rows).collect())
    }

    /// Rows behind a shuffle.
    fn behind_shuffle(&self, known: Known, rows: Vec<Code>) -> Self {
        Self { partitions: vec![rows], known, is_steady: self.is_steady, streams: false }
    }
}
