//! Outputs that are replaced, summed up and removed.

use std::{cell::RefCell, fs, path::Path, thread};

use serde::{Deserialize, Serialize, Serializer};

use firesteel_storage::{
    block::BlockId,
    memory::MemoryConf,
    shuffle::{
        fetch::{FetchLimits, Transport},
        files::SpillWriter,
    },
    transfer::{PeerAddr, Sink},
};
use firesteel_types::{ExecutorId, FetchFailure};

use super::{
    super::{
        map_output::{RowSink, TypedBuckets},
        remote::{MapTables, PlacedBlocks},
    },
    *,
};

const SHUFFLE: ShuffleId = ShuffleId(3);

struct Place {
    store: ShuffleStore,
    disk: Arc<Disk>,
    memory: Arc<MemoryManager>,
    folder: tempfile::TempDir,
}

impl Place {
    /// That nothing is left: no memory is taken, and no file is there but locks.
    fn assert_nothing_is_left(&self) {
        assert_eq!(self.memory.usage().storage, 0, "memory of outputs");
        assert_eq!(shuffle_files(self.folder.path()), Vec::<String>::new());
    }
}

fn shuffle_files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let names = files.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    let mut found: Vec<String> = names.filter(|name| name.starts_with("shuffle_")).collect();
    found.extend(folders.iter().flat_map(|folder| shuffle_files(folder)));
    found
}

/// A store that knows the shuffle, with room for a mebibyte.
fn place(compression: Compression) -> Place {
    let folder = tempfile::TempDir::new().unwrap();
    let memory = MemoryManager::new(MemoryConf { budget: 1 << 20, storage_fraction: 0.5 });
    let disk = Disk::new(vec![folder.path().to_path_buf()], "test");
    let store = ShuffleStore::new(&memory, &disk, ShuffleConf { compression, sums_content: true }, None);
    store.open(SHUFFLE);
    Place { store, disk, memory, folder }
}

fn map(generation: u64) -> MapPlace {
    MapPlace { shuffle: SHUFFLE, map: PartitionId(0), maps: 1, generation }
}

fn dealt(rows: Vec<Vec<u64>>) -> Dealt<u64> {
    Dealt { spills: Vec::new(), rows: TypedBuckets(rows), bytes: 8, content: Some(ContentSum::default()) }
}

/// The rows of the first reduce partition.
fn rows(store: &ShuffleStore) -> Vec<u64> {
    match store.outputs(SHUFFLE)[0].clone().unwrap() {
        MapBlocks::Typed(blocks) => {
            blocks.as_any().downcast_ref::<TypedBuckets<u64>>().unwrap().rows(0).to_vec()
        }
        MapBlocks::File(file) => file.block(PartitionId(0)).unwrap().rows().map(Result::unwrap).collect(),
    }
}

/// The way to other processes, of which there are none.
fn no_remote(disk: &Arc<Disk>) -> RemoteShuffles {
    struct NoRemote;
    impl MapTables for NoRemote {
        fn input(
            &self,
            _: ShuffleId,
            _: PartitionId,
            _: &TaskContext,
        ) -> Result<Vec<PlacedBlocks>, FetchFailure> {
            Ok(Vec::new())
        }
    }
    impl Transport for NoRemote {
        fn fetch(&self, _: &PeerAddr, _: &[BlockId], _: &mut dyn Sink) {}
    }
    RemoteShuffles {
        own: ExecutorId(0),
        tables: Arc::new(NoRemote),
        transport: Arc::new(NoRemote),
        limits: FetchLimits::default(),
        threads: Arc::default(),
        disk: disk.clone(),
    }
}

#[test]
fn an_output_whose_shuffle_is_gone_leaves_no_file() {
    let Place { store, disk, folder: _folder, .. } = place(Compression::None);
    let keep = || {
        store.keep(map(0), dealt(vec![vec![1]]), Form::Shipped).unwrap();
        MapOutputFile::open(&disk.dirs().unwrap(), SHUFFLE, PartitionId(0)).is_ok()
    };

    assert!(keep());
    store.remove(SHUFFLE);
    assert!(MapOutputFile::open(&disk.dirs().unwrap(), SHUFFLE, PartitionId(0)).is_err());
    assert!(!keep(), "it could never be removed");
}

type During = Box<dyn FnOnce()>;

thread_local! {
    /// What happens while the next row is written.
    static WHILE_WRITTEN: RefCell<Option<During>> = const { RefCell::new(None) };
}

/// A row that lets something happen while it is written.
#[derive(Clone, Deserialize)]
struct Eventful;

impl Serialize for Eventful {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(happen) = WHILE_WRITTEN.take() {
            happen();
        }
        serializer.serialize_unit_struct("Eventful")
    }
}

fn eventful() -> Dealt<Eventful> {
    Dealt { spills: Vec::new(), rows: TypedBuckets(vec![vec![Eventful]]), bytes: 8, content: None }
}

fn while_written(store: &Arc<Place>, happen: impl FnOnce(&ShuffleStore) + 'static) {
    let place = store.clone();
    WHILE_WRITTEN.set(Some(Box::new(move || happen(&place.store))));
}

#[test]
fn a_shuffle_that_is_removed_while_its_output_is_written_leaves_nothing() {
    for form in [Form::Typed, Form::Shipped] {
        let place = Arc::new(place(Compression::None));
        match form {
            Form::Typed => {
                place.store.keep(map(0), eventful(), form).unwrap();
                while_written(&place, |store| store.remove(SHUFFLE));
                assert_eq!(place.store.evict(u64::MAX), 0, "the memory was given back already");
            }
            Form::Shipped => {
                while_written(&place, |store| store.remove(SHUFFLE));
                place.store.keep(map(0), eventful(), form).unwrap();
            }
        }

        assert!(WHILE_WRITTEN.take().is_none(), "it was removed in between");
        place.assert_nothing_is_left();
        assert!(place.store.is_empty());
    }
}

#[test]
fn the_file_of_an_output_that_was_replaced_in_memory_goes_with_its_shuffle() {
    let place = place(Compression::None);
    place.store.keep(map(1), dealt(vec![vec![1]]), Form::Shipped).unwrap();
    place.store.keep(map(2), dealt(vec![vec![2]]), Form::Typed).unwrap();
    assert_eq!(rows(&place.store), [2]);

    place.store.remove(SHUFFLE);

    place.assert_nothing_is_left();
}

#[test]
fn the_file_of_an_output_that_was_replaced_while_it_was_evicted_goes_with_its_shuffle() {
    let place = Arc::new(place(Compression::None));
    place.store.keep(map(1), eventful(), Form::Typed).unwrap();
    while_written(&place, |store| drop(store.keep(map(2), dealt(vec![vec![2]]), Form::Typed).unwrap()));

    assert_eq!(place.store.evict(1), 0, "another output is there now");
    assert_eq!(rows(&place.store), [2]);
    place.store.remove(SHUFFLE);

    place.assert_nothing_is_left();
}

#[test]
fn rows_that_panic_when_they_are_written_stay_in_memory_and_do_not_fail_the_task_that_needs_it() {
    let place = Arc::new(place(Compression::None));
    place.store.keep(map(1), eventful(), Form::Typed).unwrap();
    while_written(&place, |_| panic!("not today"));

    assert_eq!(place.store.evict(u64::MAX), 0);
    assert!(matches!(place.store.outputs(SHUFFLE)[0], Some(MapBlocks::Typed(_))));

    assert_eq!(place.store.evict(u64::MAX), 8);
    place.store.remove(SHUFFLE);
    place.assert_nothing_is_left();
}

#[test]
fn rows_that_cannot_be_summed_up_take_no_memory_with_them() {
    let place = Arc::new(place(Compression::None));
    while_written(&place, |_| panic!("not today"));
    let summed = Dealt { content: Some(ContentSum::default()), ..eventful() };

    assert!(contain(|| place.store.keep(map(1), summed, Form::Typed)).is_err());

    place.assert_nothing_is_left();
}

#[test]
fn tasks_evictions_and_removals_at_once_leave_nothing() {
    for is_executor in [false, true] {
        let mut place = place(Compression::None);
        place.store.remote = is_executor.then(|| no_remote(&place.disk));
        let store = &place.store;
        for number in 10..60 {
            let shuffle = ShuffleId(number);
            store.open(shuffle);
            thread::scope(|scope| {
                for map in 0..3 {
                    scope.spawn(move || {
                        for attempt in 0..4 {
                            let map =
                                MapPlace { shuffle, map: PartitionId(map), maps: 3, generation: attempt / 2 };
                            let form = if attempt % 2 == 0 { Form::Typed } else { Form::Shipped };
                            store.keep(map, dealt(vec![vec![1, 2]]), form).unwrap();
                        }
                    });
                }
                scope.spawn(|| {
                    for _ in 0..4 {
                        store.evict(u64::MAX);
                    }
                });
                scope.spawn(|| {
                    (0..number % 7).for_each(|_| thread::yield_now());
                    store.remove(shuffle);
                });
            });
        }

        place.store.remove(SHUFFLE);
        place.assert_nothing_is_left();
    }
}

#[test]
fn what_a_later_run_of_the_stage_left_is_what_readers_get() {
    for (first, second) in [
        (Form::Shipped, Form::Shipped),
        (Form::Typed, Form::Typed),
        (Form::Shipped, Form::Typed),
        (Form::Typed, Form::Shipped),
    ] {
        let Place { store, folder: _folder, .. } = place(Compression::Lz4);

        store.keep(map(1), dealt(vec![vec![1]]), first).unwrap();
        assert_eq!(rows(&store), [1]);
        let now = store.keep(map(2), dealt(vec![vec![2]]), second).unwrap();
        assert_eq!(rows(&store), [2], "its input may have been another");
        let late = store.keep(map(1), dealt(vec![vec![3]]), first).unwrap();
        assert_eq!(rows(&store), [2], "an attempt that was given up comes too late");
        assert_ne!(now.content, None);
        assert_ne!(late.content, None);

        store.evict(u64::MAX);
        assert_eq!(rows(&store), [2], "also from its file");
    }
}

/// Behaviours: SHUF-007, DAG-052.
#[test]
fn the_sum_of_an_output_is_the_same_in_memory_in_a_file_and_spilled_and_another_for_other_rows() {
    for compression in [Compression::None, Compression::Lz4] {
        let Place { store, disk, folder: _folder, .. } = place(compression);
        let keep = |dealt, form| store.keep(map(0), dealt, form).unwrap().content.unwrap();
        let expected = keep(dealt(vec![vec![1, 2, 3], vec![4]]), Form::Typed);
        store.remove(SHUFFLE);
        store.open(SHUFFLE);

        assert_eq!(keep(dealt(vec![vec![3, 1, 2], vec![4]]), Form::Shipped), expected, "in another order");
        assert_eq!(
            keep(dealt(vec![vec![9], vec![]]), Form::Shipped),
            expected,
            "the first stays, and its sum"
        );

        let mut spilled = dealt(vec![vec![2], vec![4]]);
        for spill_compression in [Compression::Lz4, Compression::None] {
            let mut spill = SpillWriter::new(&disk.dirs().unwrap(), spill_compression);
            spill.start(0);
            let row: u64 = if spill_compression == Compression::None { 3 } else { 1 };
            let sink = RowSink { file: &mut spill, content: &mut spilled.content, partition: 0 };
            sink.write(&[row]).unwrap();
            spilled.spills.push(spill.finish().unwrap());
        }
        let kept = store.keep(map(1), spilled, Form::Typed).unwrap();
        assert_eq!(kept.content, Some(expected), "{compression}");
        assert_eq!(rows(&store), [1, 3, 2]);

        let other = store.keep(map(2), dealt(vec![vec![1, 2], vec![4, 3]]), Form::Shipped).unwrap();
        assert_ne!(other.content, Some(expected), "a row in another partition");
    }
}
