//! What becomes of blocks on disk when files, folders and serializers fail.

use std::{sync::mpsc, thread, time::Duration};

use firesteel_types::{PartitionId, RddId};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;

use super::*;
use crate::block::OneFolder;

const ID: BlockId = BlockId::Rdd { rdd: RddId(0), partition: PartitionId(0), generation: 0 };
const OTHER: BlockId = BlockId::Rdd { rdd: RddId(0), partition: PartitionId(1), generation: 0 };

fn store() -> (TempDir, DiskStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = DiskStore::new(Arc::new(OneFolder::new(folder.path())));
    (folder, store)
}

fn put(store: &DiskStore, id: BlockId, bytes: &[u8], limit: Option<u64>) -> Result<u64, DiskError> {
    store.write(id, limit, &|out| out.write_all(bytes))
}

fn files_in(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_block_is_read_as_it_was_written_and_its_size_is_known() {
    let (folder, store) = store();

    assert_eq!(put(&store, ID, b"twelve bytes", None).unwrap(), 12);

    assert_eq!(store.size(ID), Some(12));
    assert_eq!(store.used_bytes(), 12);
    assert_eq!(store.path(ID), Some(folder.path().join("rdd_0_0")));
    assert_eq!(store.open(ID).unwrap().unwrap().read_all().unwrap(), "twelve bytes");
    assert!(store.open(OTHER).unwrap().is_none());
    assert!(store.remove(ID));
    assert!(!store.remove(ID));
    assert_eq!((store.used_bytes(), files_in(folder.path())), (0, 0));
}

/// Behaviours: BLK-009.
#[test]
fn a_block_whose_file_is_missing_or_cut_is_forgotten_and_the_read_fails() {
    for damage in [|path: &Path| fs::remove_file(path).unwrap(), |path: &Path| fs::write(path, "x").unwrap()]
    {
        let (folder, store) = store();
        put(&store, ID, b"bytes", None).unwrap();
        damage(&folder.path().join("rdd_0_0"));

        let error = store.open(ID).unwrap_err();

        assert!(matches!(error, DiskError::Lost { id: ID, .. }), "{error}");
        assert!(store.open(ID).unwrap().is_none());
        assert_eq!((store.size(ID), store.used_bytes(), files_in(folder.path())), (None, 0, 0));
    }
}

#[test]
fn a_block_in_whose_place_there_is_a_fifo_is_forgotten_and_nothing_waits_for_it() {
    let (folder, store) = store();
    put(&store, ID, b"bytes", None).unwrap();
    let path = folder.path().join("rdd_0_0");
    fs::remove_file(&path).unwrap();
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let (tell, told) = mpsc::channel();

    thread::spawn(move || tell.send((store.open(ID).map(drop), store.open(ID).map(|file| file.is_some()))));

    let (lost, again) = told.recv_timeout(Duration::from_secs(60)).expect("opening does not wait");
    let error = lost.unwrap_err();
    assert!(matches!(error, DiskError::Lost { id: ID, .. }), "{error}");
    assert!(!again.unwrap());
    assert_eq!(files_in(folder.path()), 0);
}

#[test]
fn a_value_that_cannot_be_serialized_leaves_no_trace() {
    let (folder, store) = store();

    let error = store.write(ID, None, &|out| {
        out.write_all(&vec![0; 100_000])?;
        Err(io::Error::other("no such type"))
    });

    assert!(matches!(error, Err(DiskError::Content { id: ID, .. })));
    assert_eq!((store.size(ID), store.used_bytes(), files_in(folder.path())), (None, 0, 0));
}

/// Behaviours: BLK-023.
#[test]
fn a_block_beyond_the_limit_is_refused_without_a_trace() {
    let (folder, store) = store();
    put(&store, ID, &[0; 60], Some(100)).unwrap();

    let error = put(&store, OTHER, &[0; 41], Some(100)).unwrap_err();

    assert!(matches!(error, DiskError::TooLarge { id: OTHER, limit: 100 }), "{error}");
    assert_eq!((store.used_bytes(), files_in(folder.path())), (60, 1));
    put(&store, OTHER, &[0; 40], Some(100)).unwrap();
}

/// Folders of which the first cannot be written until its failure is noted.
struct TwoFolders {
    broken: PathBuf,
    good: PathBuf,
    noted: Mutex<Vec<PathBuf>>,
}

impl BlockFiles for TwoFolders {
    fn place(&self, name: &str) -> io::Result<PathBuf> {
        let folder = if self.noted.lock().is_empty() { &self.broken } else { &self.good };
        Ok(folder.join(name))
    }

    fn failed(&self, path: &Path, _: &io::Error) {
        self.noted.lock().push(path.to_owned());
    }
}

#[test]
fn a_folder_that_fails_is_reported_and_the_next_one_takes_the_block() {
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("is/not/there");
    let good = folder.path().to_owned();
    let files = Arc::new(TwoFolders { broken: broken.clone(), good: good.clone(), noted: Mutex::default() });
    let store = DiskStore::new(files.clone());

    assert_eq!(put(&store, ID, b"bytes", None).unwrap(), 5);

    assert_eq!(*files.noted.lock(), [broken.join("rdd_0_0")]);
    assert_eq!(store.path(ID), Some(good.join("rdd_0_0")));
    assert_eq!(store.used_bytes(), 5);
}

#[test]
fn when_every_folder_fails_the_write_fails() {
    let folder = tempfile::tempdir().unwrap();
    let store = DiskStore::new(Arc::new(OneFolder::new(folder.path().join("is/not/there"))));

    let error = put(&store, ID, b"bytes", None).unwrap_err();

    assert!(matches!(error, DiskError::Write { id: ID, .. }), "{error}");
}
