//! The rows of one partition in memory, lent to tables that name them by number.

use std::ops::ControlFlow;

use firesteel_types::PartitionId;

use crate::{
    data::Data,
    pair::Input,
    spill::{RowFile, RowFileWriter, Watch},
    task::{Abort, TaskContext, abort_task},
};

/// Rows between two checks for an order to end.
const BATCH: usize = 4096;

/// The blocks of one partition as one sequence of numbered rows.
///
/// Blocks are cut into pieces of at most a power of two of rows, about the mean length of a block: the number
/// of a row is that of its piece and its place in it, so finding it is a shift and a mask. There are at most
/// three times as many pieces as blocks, and at most twice as many numbers as rows.
pub(crate) struct Lent<'a, T> {
    pieces: Vec<&'a [T]>,
    shift: u32,
}

/// What a side of a join turned out to be.
pub(crate) enum Loaded<'a, T> {
    /// All rows are in memory.
    Lent(Lent<'a, T>),
    /// They do not fit there.
    Streamed(Box<dyn Iterator<Item = T> + 'a>),
}

/// Bytes that a table needs for each row it finds.
const PER_ROW: usize = 4 * size_of::<u32>();

impl<K: Data, V: Data> Input<(K, V), (K, V)> {
    /// The rows of one partition, in memory if they fit. Those of a shuffle are where they were; those of a narrow
    /// parent are computed and kept until the task is over.
    pub(crate) fn load<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> Loaded<'a, (K, V)> {
        match self {
            Self::Narrow(parent) => keep(parent.rows(partition, task), task),
            Self::Shuffle(read) => match read.blocks(partition, task).lend(PER_ROW, task) {
                Ok(blocks) => Loaded::Lent(Lent::new(blocks)),
                Err(blocks) => Loaded::Streamed(Box::new(blocks.into_rows(task))),
            },
        }
    }

    /// The rows of one partition, one after the other.
    pub(crate) fn stream<'a>(&'a self, partition: PartitionId, task: &'a TaskContext) -> Loaded<'a, (K, V)> {
        Loaded::Streamed(match self {
            Self::Narrow(parent) => Box::new(parent.rows(partition, task)),
            Self::Shuffle(read) => Box::new(read.rows(partition, task)),
        })
    }
}

/// Rows in memory until the task is over, if they fit.
fn keep<'a, T: Data>(mut computed: impl Iterator<Item = T> + 'a, task: &'a TaskContext) -> Loaded<'a, T> {
    let mut rows: Vec<T> =
        Vec::with_capacity(computed.size_hint().0.min(task.room() as usize / 4 / size_of::<T>().max(1)));
    let mut watch = Watch::<T>::new("one side of a join", task);
    match watch.fill(&mut rows, &mut computed, PER_ROW) {
        ControlFlow::Continue(()) => Loaded::Lent(Lent::new(vec![task.hold(rows).as_slice()])),
        ControlFlow::Break(()) => {
            // What takes the rows in measures what it holds by how much more the task holds than before. Rows that are in
            // memory before they come to it would not count, and it would not be spilled for them.
            let mut file = RowFileWriter::new(task);
            for row in rows {
                file.push(&row);
            }
            let file = file.finish();
            task.count_spill(file.as_ref().map_or(0, RowFile::bytes));
            Loaded::Streamed(Box::new(file.into_iter().flat_map(|file| file.rows()).chain(computed)))
        }
    }
}

impl<'a, T: Data> Loaded<'a, T> {
    /// The rows, if they are in memory.
    pub(crate) fn lent(self) -> Option<Lent<'a, T>> {
        match self {
            Self::Lent(rows) => Some(rows),
            Self::Streamed(_) => None,
        }
    }

    /// Gives out all rows, in order.
    pub(crate) fn for_each(self, task: &'a TaskContext, mut f: impl FnMut(T)) {
        match self {
            Self::Lent(rows) => rows.into_rows(task).for_each(|row| f(row.clone())),
            Self::Streamed(rows) => rows.for_each(f),
        }
    }
}

impl<'a, T> Lent<'a, T> {
    /// One more than the largest number of a row.
    const NUMBERS_MAX: u64 = 1 << 31;

    pub(crate) fn new(blocks: Vec<&'a [T]>) -> Self {
        let rows: usize = blocks.iter().map(|block| block.len()).sum();
        let shift = (rows / blocks.len().max(1)).max(1).ilog2();
        let pieces: Vec<&[T]> = blocks.into_iter().flat_map(|block| block.chunks(1 << shift)).collect();
        if (pieces.len() as u64) << shift > Self::NUMBERS_MAX {
            let message =
                format!("a partition has {rows} rows, too many for one hash table: use more partitions");
            abort_task(Abort::Failed { message, operator: None });
        }
        Self { pieces, shift }
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len()).sum()
    }

    /// One more than the largest number that a row may have. Not every number below it is taken.
    pub(crate) fn numbers(&self) -> u32 {
        (self.pieces.len() as u32) << self.shift
    }

    /// The row with this number, which must be taken.
    #[inline]
    pub(crate) fn row(&self, number: u32) -> &'a T {
        let piece = self.pieces[(number >> self.shift) as usize];
        &piece[self.place(number)]
    }

    /// The row with this number, if it is taken.
    #[inline]
    pub(crate) fn find(&self, number: u32) -> Option<&'a T> {
        self.pieces.get((number >> self.shift) as usize)?.get(self.place(number))
    }

    #[inline]
    fn place(&self, number: u32) -> usize {
        (number & ((1 << self.shift) - 1)) as usize
    }

    /// The rows in batches, each with the number of its first row. Looks for an order to end before each.
    pub(crate) fn batches(&self, task: &'a TaskContext) -> impl DoubleEndedIterator<Item = (u32, &'a [T])> {
        let pieces = self.pieces.iter().enumerate().flat_map(move |(piece, &rows)| {
            let first = (piece as u32) << self.shift;
            let batches = rows.chunks(BATCH).enumerate();
            batches.map(move |(batch, rows)| (first + (batch * BATCH) as u32, rows))
        });
        pieces.inspect(move |_| task.check())
    }

    /// The rows one after the other, in order.
    pub(crate) fn into_rows(self, task: &'a TaskContext) -> impl Iterator<Item = &'a T> {
        self.pieces.into_iter().flat_map(|piece| task.batches(piece)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{prelude::*, task::with_random_spills};

    #[test]
    fn each_row_is_found_under_its_number_however_the_blocks_are_cut() {
        let rows: Vec<u32> = (0..1000).collect();
        for cuts in [vec![], vec![1], vec![999], vec![1, 2, 3, 500], vec![300, 300, 301], (1..1000).collect()]
        {
            let mut blocks = Vec::new();
            let mut rest = rows.as_slice();
            for cut in cuts.iter().rev() {
                blocks.push(rest.split_off(*cut..).expect("cuts are within the rows"));
            }
            blocks.push(rest);
            blocks.reverse();
            let lent = Lent::new(blocks);

            let found: Vec<u32> =
                (0..lent.numbers()).filter_map(|number| lent.find(number).copied()).collect();

            assert_eq!(found, rows, "cut at {cuts:?}");
            assert_eq!(lent.len(), rows.len());
            assert!(lent.numbers() as usize <= 2 * rows.len());
        }
    }

    /// Whether all rows come back in order, kept or streamed; and whether they were kept.
    fn kept_in_order(seed: u64) -> (bool, bool) {
        let task = TaskContext::current().expect("it runs in a task");
        let rows = seed * 13 % 500;
        let one_in = 1 << (seed % 12);
        let loaded = with_random_spills(seed, one_in, || keep((0..rows).map(|x| x.to_string()), &task));
        let is_kept = matches!(loaded, Loaded::Lent(_));
        let mut found = Vec::new();
        loaded.for_each(&task, |row| found.push(row));
        (found.into_iter().eq((0..rows).map(|x| x.to_string())), is_kept)
    }

    #[test]
    fn a_side_that_stops_fitting_at_any_row_is_streamed_whole() {
        let ctx = Context::local(2).unwrap();

        let sides = ctx.range_into(0..200_u64, 4).map(kept_in_order).collect().unwrap();

        assert!(sides.iter().all(|(is_whole, _)| *is_whole));
        let kept = sides.iter().filter(|(_, is_kept)| *is_kept).count();
        assert!(20 < kept && kept < 180, "{kept} of 200 were kept");
    }

    #[test]
    fn no_rows_have_no_numbers() {
        assert_eq!(Lent::<u32>::new(vec![]).numbers(), 0);
        assert_eq!(Lent::<u32>::new(vec![&[]]).numbers(), 0);
    }
}
