//! Text saved by several tasks, then found and read as the lines that were written.

use std::sync::Arc;

use object_store::memory::InMemory;
use proptest::prelude::*;

use crate::cloud::stores;
use crate::{
    Codec, Depth, LineReader, Location, OutputFile, OutputFolder, OutputOptions, ReadOptions, expand,
    part_name, plan_splits,
};

fn save(location: &Location, parts: &[Vec<String>], codec: Option<Codec>) {
    let folder = OutputFolder::create(location).unwrap();
    let mut files = Vec::new();
    for (partition, lines) in parts.iter().enumerate() {
        let options = OutputOptions { codec, sync: false };
        let mut file = OutputFile::create(&folder, &part_name(partition), 0, options).unwrap();
        for line in lines {
            file.write_line(line).unwrap();
        }
        files.push(file.close().unwrap());
    }
    folder.publish(&files, &[]).unwrap();
}

fn load(path: &str, min_partitions: usize) -> Vec<String> {
    let files = expand(path, Depth::Flat).unwrap();
    let mut lines = Vec::new();
    for split in plan_splits(&files, min_partitions, None) {
        let mut reader = LineReader::open(&split, ReadOptions::default()).unwrap();
        while reader.next_batch(&mut lines, 3).unwrap() {}
    }
    lines
}

fn codecs() -> impl Strategy<Value = Option<Codec>> {
    prop::option::of(prop::sample::select(Codec::ALL.to_vec()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Behaviours: RDD-026.
    #[test]
    fn saved_lines_are_read_back(
        parts in prop::collection::vec(prop::collection::vec("[a-zäöü]{0,30}", 0..20), 0..5),
        codec in codecs(),
        min_partitions in 1_usize..10,
        number in any::<u64>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = format!("s3://round-trip-{number}");
        stores::install_writable(&store, Arc::new(InMemory::new()));
        let lines = parts.concat();

        for root in [folder.path().to_str().unwrap(), &store] {
            let location = Location::parse(&format!("{root}/out")).unwrap();
            save(&location, &parts, codec);
            prop_assert_eq!(&load(&location.to_string(), min_partitions), &lines);
            if !parts.is_empty() {
                prop_assert_eq!(&load(&format!("{location}/part-*"), min_partitions), &lines);
            }
        }
    }
}
