//! Outputs that are replaced, summed up and removed.

use firesteel_storage::{memory::MemoryConf, shuffle::files::SpillWriter};

use super::{
    super::map_output::{RowSink, TypedBuckets},
    *,
};

const SHUFFLE: ShuffleId = ShuffleId(3);

struct Place {
    store: ShuffleStore,
    disk: Arc<Disk>,
    _folder: tempfile::TempDir,
}

/// A store that knows the shuffle, with room for a mebibyte.
fn place(compression: Compression) -> Place {
    let folder = tempfile::TempDir::new().unwrap();
    let memory = MemoryManager::new(MemoryConf { budget: 1 << 20, storage_fraction: 0.5 });
    let disk = Disk::new(vec![folder.path().to_path_buf()], "test");
    let store = ShuffleStore::new(&memory, &disk, ShuffleConf { compression, sums_content: true }, None);
    store.open(SHUFFLE);
    Place { store, disk, _folder: folder }
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

#[test]
fn an_output_whose_shuffle_is_gone_leaves_no_file() {
    let Place { store, disk, _folder } = place(Compression::None);
    let keep = || {
        store.keep(map(0), dealt(vec![vec![1]]), Form::Shipped).unwrap();
        MapOutputFile::open(&disk.dirs().unwrap(), SHUFFLE, PartitionId(0)).is_ok()
    };

    assert!(keep());
    store.remove(SHUFFLE);
    assert!(MapOutputFile::open(&disk.dirs().unwrap(), SHUFFLE, PartitionId(0)).is_err());
    assert!(!keep(), "nobody could ever remove it");
}

#[test]
fn what_a_later_run_of_the_stage_left_is_what_readers_get() {
    for (first, second) in [
        (Form::Shipped, Form::Shipped),
        (Form::Typed, Form::Typed),
        (Form::Shipped, Form::Typed),
        (Form::Typed, Form::Shipped),
    ] {
        let Place { store, _folder, .. } = place(Compression::Lz4);

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
        let Place { store, disk, _folder } = place(compression);
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
