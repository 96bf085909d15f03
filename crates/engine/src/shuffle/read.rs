//! What a reduce task reads of a shuffle: [`ShuffleRead`].

use std::{
    cell::{RefCell, RefMut},
    convert::Infallible,
    io::BufReader,
    iter,
    marker::PhantomData,
    rc::Rc,
};

use firesteel_storage::{codec::RowsReader, shuffle::fetch::FetchedBlock};
use firesteel_types::{FetchFailure, PartitionId, ShuffleId};

use crate::{
    data::Data,
    driver::ShuffleHandle,
    either::Either,
    ship::{Frozen, Ship, ShipError, Thawing},
    task::{Arrivals, FileBlock, MapBlocks, RemoteShuffles, TaskContext, TypedBuckets},
};

/// The reduce side of a shuffle whose rows are `T`.
pub(crate) struct ShuffleRead<T> {
    shuffle: ShuffleId,
    maps: u32,
    /// Keeps the shuffle's output alive on the driver.
    handle: Option<ShuffleHandle>,
    rows: PhantomData<fn() -> T>,
}

/// The blocks that the map tasks left for one reduce partition, in the order of the map tasks. Empty ones are left out.
pub(crate) struct Blocks<'a, T> {
    blocks: Vec<Block<'a, T>>,
    reader: BlockReader,
}

/// Reads blocks that are not in memory, from files and from other processes.
#[derive(Clone)]
struct BlockReader {
    /// What is known of a block that cannot be read.
    place: Rc<FetchFailure>,
    /// The blocks of other processes, which are on their way.
    arrivals: Option<Rc<RefCell<Arrivals>>>,
}

/// One block, and the map task that left it.
struct Block<'a, T> {
    map: u32,
    rows: BlockRows<'a, T>,
}

enum BlockRows<'a, T> {
    /// In memory already.
    Lent(&'a [T]),
    /// To be read from a file.
    File(FileBlock),
    /// To be had from another process, where it has about so many bytes.
    Remote { stored_bytes: u64 },
}

/// Some rows of a block.
pub(crate) enum Batch<'a, T> {
    /// Where they are kept.
    Lent(&'a [T]),
    /// Read for the one who asked.
    Owned(Vec<T>),
}

impl<T: Data> ShuffleRead<T> {
    pub(crate) fn new(handle: &ShuffleHandle) -> Self {
        let (shuffle, maps) = (handle.id(), handle.parent().partitions());
        Self { shuffle, maps, handle: Some(handle.clone()), rows: PhantomData }
    }

    /// The shuffle. On the driver only.
    pub(crate) fn handle(&self) -> &ShuffleHandle {
        self.handle.as_ref().expect("the driver's side has it")
    }

    /// Where the rows for `partition` are. Nothing is read yet but what is in memory.
    pub(crate) fn blocks<'a>(&self, partition: PartitionId, task: &'a TaskContext) -> Blocks<'a, T> {
        let shuffles = &task.environment().shuffles;
        match shuffles.remote() {
            None => self.own_blocks(partition, 0..self.maps, task),
            Some(remote) => self.all_blocks(remote, partition, task),
        }
    }

    /// Blocks of this and of other processes.
    fn all_blocks<'a>(
        &self,
        remote: &RemoteShuffles,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> Blocks<'a, T> {
        let placed = remote.tables.input(self.shuffle, partition, task);
        let placed = placed.unwrap_or_else(|failure| task.abort_fetch(failure));
        let (own, others): (Vec<_>, Vec<_>) =
            placed.into_iter().partition(|placed| placed.peer.executor == remote.own);
        let own = own.iter().flat_map(|placed| placed.blocks.iter().map(|block| block.map.0));
        let mut found = self.own_blocks(partition, own, task);
        for placed in &others {
            let remote = |stored_bytes| BlockRows::Remote { stored_bytes };
            let blocks = placed.blocks.iter();
            found
                .blocks
                .extend(blocks.map(|block| Block { map: block.map.0, rows: remote(block.size_bytes) }));
        }
        found.blocks.sort_unstable_by_key(|block| block.map);
        if !others.is_empty() {
            match remote.fetch(self.shuffle, others, task) {
                Ok(arrivals) => found.reader.arrivals = Some(Rc::new(RefCell::new(arrivals))),
                Err(error) => task.abort_unfetched(&error.to_string()),
            }
        }
        found
    }

    /// Blocks of these map tasks, all of which ran in this process.
    fn own_blocks<'a>(
        &self,
        partition: PartitionId,
        maps: impl Iterator<Item = u32>,
        task: &'a TaskContext,
    ) -> Blocks<'a, T> {
        let outputs = task.environment().shuffles.outputs(self.shuffle);
        let reader = BlockReader { place: Rc::new(self.place(partition, task)), arrivals: None };
        let mut found = Blocks { blocks: Vec::with_capacity(outputs.len()), reader };
        let (mut records, mut bytes) = (0, 0);
        for map in maps {
            task.check();
            let rows = match outputs.get(map as usize) {
                Some(Some(MapBlocks::Typed(buckets))) => {
                    let buckets = task.hold(buckets.clone()).as_any().downcast_ref::<TypedBuckets<T>>();
                    let rows = buckets.expect("both sides of a shuffle have one row type").rows(partition.0);
                    (records, bytes) = (records + rows.len() as u64, bytes + size_of_val(rows) as u64);
                    BlockRows::Lent(rows)
                }
                Some(Some(MapBlocks::File(file))) => {
                    let block = FileBlock::new(file, partition);
                    (records, bytes) = (records + block.rows(), bytes + block.stored_bytes());
                    BlockRows::File(block)
                }
                Some(None) | None => found.fail(map, "the map output is gone", task),
            };
            if rows.len() > 0 {
                found.blocks.push(Block { map, rows });
            }
        }
        task.count_shuffle_read(records, bytes);
        found
    }

    /// All rows for `partition`, one after the other.
    pub(crate) fn rows<'a>(
        &self,
        partition: PartitionId,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = T> + use<'a, T> {
        self.blocks(partition, task).into_rows(task)
    }

    /// What is known of a failure before anything has failed.
    fn place(&self, reduce_partition: PartitionId, task: &TaskContext) -> FetchFailure {
        FetchFailure {
            shuffle: self.shuffle,
            location: Some((task.executor(), task.environment().host.clone())),
            map_partition: None,
            map_attempt: None,
            reduce_partition,
            message: String::new(),
        }
    }
}

impl<T> BlockRows<'_, T> {
    fn len(&self) -> u64 {
        match self {
            Self::Lent(rows) => rows.len() as u64,
            Self::File(block) => block.rows(),
            // Rows are shorter on the way than in memory: by half as they are written, by more if compressed.
            Self::Remote { stored_bytes } => 2 * raw_bytes(*stored_bytes) / size_of::<T>().max(1) as u64 + 1,
        }
    }

    /// The memory that it takes to have all rows in memory.
    fn needed_bytes(&self) -> u64 {
        match self {
            Self::Lent(_) => 0,
            // What a row owns elsewhere is in its serialized form, and that is seldom much smaller.
            Self::File(block) => block.rows() * size_of::<T>() as u64 + 2 * block.raw_bytes(),
            Self::Remote { stored_bytes } => 4 * raw_bytes(*stored_bytes),
        }
    }
}

/// About how many bytes a block has that takes so many when it is compressed.
fn raw_bytes(stored: u64) -> u64 {
    3 * stored
}

impl<'a, T: Data> Blocks<'a, T> {
    /// How many rows the largest block has; zero where blocks may be in other processes.
    ///
    /// Only about so many are known there, and how a table began decides the order of its rows, which must not tell
    /// where tasks ran.
    pub(crate) fn most_rows(&self, task: &TaskContext) -> usize {
        if task.environment().shuffles.remote().is_some() {
            return 0;
        }
        self.blocks.iter().map(|block| block.rows.len()).max().unwrap_or(0) as usize
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.rows.len()).sum::<u64>() as usize
    }

    /// All rows in memory, if they fit there beside `per_row` bytes for each of them; else the blocks as they are.
    pub(crate) fn lend(self, per_row: usize, task: &'a TaskContext) -> Result<Vec<&'a [T]>, Self> {
        let index = (self.len() * per_row) as u64;
        let needed: u64 = self.blocks.iter().map(|block| block.rows.needed_bytes()).sum();
        if needed + index > task.room() {
            return Err(self);
        }
        let Self { blocks, reader } = self;
        let lend = |block| match block {
            Block { rows: BlockRows::Lent(rows), .. } => rows,
            Block { map, rows } => {
                let known = match &rows {
                    BlockRows::File(block) => block.rows(),
                    // A vector that grows as rows come takes new pages from the system each time.
                    BlockRows::Remote { .. } => reader.arrivals().rows(map, task).unwrap_or(0),
                    BlockRows::Lent(rows) => rows.len() as u64,
                };
                let mut read = Vec::with_capacity(known as usize);
                reader.batches(map, rows, task).for_each(|mut batch| read.append(&mut batch));
                task.hold(read).as_slice()
            }
        };
        Ok(blocks.into_iter().map(lend).collect())
    }

    /// Gives out all rows, in order, as many at a time as come together.
    pub(crate) fn for_each(self, task: &'a TaskContext, mut f: impl FnMut(Batch<'a, T>)) {
        let Self { blocks, reader } = self;
        for Block { map, rows } in blocks {
            match rows {
                BlockRows::Lent(rows) => task.batches(rows).for_each(|rows| f(Batch::Lent(rows))),
                elsewhere => reader.batches(map, elsewhere, task).for_each(|rows| {
                    task.check();
                    f(Batch::Owned(rows));
                }),
            }
        }
    }

    /// All rows, one after the other.
    pub(crate) fn into_rows(self, task: &'a TaskContext) -> impl Iterator<Item = T> + use<'a, T> {
        self.into_rows_where(task, |_| true)
    }

    /// Some of the rows, one after the other. A row that is kept in memory is cloned only if it is one of them.
    pub(crate) fn into_rows_where<F: Fn(&T) -> bool + 'a>(
        self,
        task: &'a TaskContext,
        is_wanted: F,
    ) -> impl Iterator<Item = T> + use<'a, T, F> {
        let Self { blocks, reader } = self;
        let is_wanted = Rc::new(is_wanted);
        blocks.into_iter().flat_map(move |Block { map, rows }| {
            let is_wanted = is_wanted.clone();
            match rows {
                BlockRows::Lent(rows) => {
                    let rows = task.batches(rows).flatten();
                    Either::One(rows.filter(move |row| is_wanted(row)).cloned())
                }
                elsewhere => {
                    let rows = reader.batches(map, elsewhere, task).inspect(|_| task.check()).flatten();
                    Either::Two(rows.filter(move |row| is_wanted(row)))
                }
            }
        })
    }

    fn fail(&self, map: u32, message: &str, task: &TaskContext) -> ! {
        fail(&self.reader.place, map, message, task)
    }
}

impl BlockReader {
    fn arrivals(&self) -> RefMut<'_, Arrivals> {
        self.arrivals.as_ref().expect("remote blocks are on their way").borrow_mut()
    }

    /// The rows of a block that is not in memory, as many at a time as were written together.
    fn batches<'a, T: Data>(
        &self,
        map: u32,
        block: BlockRows<'a, T>,
        task: &'a TaskContext,
    ) -> impl Iterator<Item = Vec<T>> + use<'a, T> {
        match block {
            BlockRows::Lent(rows) => Either::One(Either::One(iter::once(rows.to_vec()))),
            BlockRows::File(block) => {
                let place = self.place.clone();
                Either::One(Either::Two(block.batches(move |error| fail(&place, map, &error, task))))
            }
            BlockRows::Remote { .. } => {
                let block = self.arrivals().take(map, task);
                task.count_shuffle_read(0, block.data.len());
                let location = Some((block.peer.executor, block.peer.host.clone()));
                let place = FetchFailure { location, ..FetchFailure::clone(&self.place) };
                Either::Two(fetched_batches(block, task, move |error| fail(&place, map, &error, task)))
            }
        }
    }
}

/// The rows of a block that has come.
fn fetched_batches<T: Data>(
    block: FetchedBlock,
    task: &TaskContext,
    fail: impl Fn(String) -> Infallible,
) -> impl Iterator<Item = Vec<T>> {
    let mut reader = RowsReader::<T, _>::new(BufReader::new(block.reader()));
    iter::from_fn(move || {
        // Its bytes count as on their way until it is read.
        let _until_read = &block;
        let mut rows = Vec::new();
        match reader.next_batch(&mut rows) {
            Ok(true) => {
                task.count_shuffle_read(rows.len() as u64, 0);
                Some(rows)
            }
            Ok(false) => None,
            Err(error) => match fail(error.to_string()) {},
        }
    })
}

fn fail(place: &FetchFailure, map: u32, message: &str, task: &TaskContext) -> ! {
    let map_partition = Some(PartitionId(map));
    task.abort_fetch(FetchFailure { map_partition, message: message.to_owned(), ..place.clone() })
}

impl<T> Clone for ShuffleRead<T> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), ..*self }
    }
}

impl<T> Ship for ShuffleRead<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(&(self.shuffle, self.maps))
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let (shuffle, maps) = input.value()?;
        Ok(Self { shuffle, maps, handle: None, rows: PhantomData })
    }
}
