//! A log that is cut into files: [`RollingFile`].
//!
//! The file that grows has the log's name. A full one gets the number of its first byte added, counted from the first
//! byte of the whole log, so that a place in the log stays the same place while files come and go.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::conf::LogRolling;

/// So many digits sort as text up to an exabyte.
const DIGITS: usize = 18;

/// Writes one log.
#[derive(Debug)]
pub(super) struct RollingFile {
    folder: PathBuf,
    name: &'static str,
    rolling: LogRolling,
    file: File,
    /// Where in the log the file begins.
    start: u64,
    len: u64,
}

/// One file of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) path: PathBuf,
    /// Where in the log it begins.
    pub(super) start: u64,
    pub(super) len: u64,
}

impl RollingFile {
    /// Goes on with the log `name` in `folder`, or begins it.
    pub(super) fn open(folder: &Path, name: &'static str, rolling: LogRolling) -> io::Result<Self> {
        let start = full_pieces(folder, name)?.last().map_or(0, |piece| piece.start + piece.len);
        let file = append(&folder.join(name))?;
        let len = file.metadata()?.len();
        Ok(Self { folder: folder.to_owned(), name, rolling, file, start, len })
    }

    pub(super) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = match self.rolling.max_bytes {
                Some(max) => max.max(1).saturating_sub(self.len),
                None => u64::MAX,
            };
            if room == 0 {
                self.roll()?;
                continue;
            }
            let (now, later) =
                bytes.split_at(usize::try_from(room).map_or(bytes.len(), |room| room.min(bytes.len())));
            self.file.write_all(now)?;
            self.len += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    fn roll(&mut self) -> io::Result<()> {
        let path = self.folder.join(self.name);
        match fs::rename(&path, self.folder.join(format!("{}.{:0DIGITS$}", self.name, self.start))) {
            // The file was removed. That costs what was in it, and nothing more.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        self.file = append(&path)?;
        self.start += self.len;
        self.len = 0;
        if let Some(retained) = self.rolling.retained {
            let full = full_pieces(&self.folder, self.name)?;
            for piece in &full[..full.len().saturating_sub(retained)] {
                fs::remove_file(&piece.path)?;
            }
        }
        Ok(())
    }
}

/// Every file of the log `name` in `folder`, in order. A log that was never begun has none.
pub(super) fn pieces(folder: &Path, name: &str) -> io::Result<Vec<Piece>> {
    let mut pieces = full_pieces(folder, name)?;
    let path = folder.join(name);
    if let Some(len) = regular_len(&path)? {
        let start = pieces.last().map_or(0, |piece| piece.start + piece.len);
        pieces.push(Piece { path, start, len });
    }
    Ok(pieces)
}

fn full_pieces(folder: &Path, name: &str) -> io::Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let start = entry.file_name().to_str().and_then(|file| start_of(file, name));
        if let (Some(start), Some(len)) = (start, regular_len(&entry.path())?) {
            pieces.push(Piece { path: entry.path(), start, len });
        }
    }
    pieces.sort_by_key(|piece| piece.start);
    Ok(pieces)
}

/// The number in the name of a full file of the log `name`.
fn start_of(file: &str, name: &str) -> Option<u64> {
    let digits = file.strip_prefix(name)?.strip_prefix('.')?;
    (digits.len() == DIGITS).then(|| digits.parse().ok())?
}

/// The length of a file that is no link; none when there is no such file.
fn regular_len(path: &Path) -> io::Result<Option<u64>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(metadata.is_file().then_some(metadata.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(folder: &Path) -> Vec<(u64, String)> {
        let pieces = pieces(folder, "stdout").unwrap();
        pieces.iter().map(|piece| (piece.start, fs::read_to_string(&piece.path).unwrap())).collect()
    }

    fn rolling(max_bytes: u64, retained: Option<usize>) -> LogRolling {
        LogRolling { max_bytes: Some(max_bytes), retained }
    }

    #[test]
    fn full_files_carry_the_place_of_their_first_byte_and_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = RollingFile::open(folder.path(), "stdout", rolling(4, Some(2))).unwrap();

        log.write(b"0123456789ab").unwrap();
        assert_eq!(content(folder.path()), [(0, "0123".into()), (4, "4567".into()), (8, "89ab".into())]);
        log.write(b"cd").unwrap();

        let expected = [(4, "4567".to_owned()), (8, "89ab".to_owned()), (12, "cd".to_owned())];
        assert_eq!(content(folder.path()), expected);
    }

    #[test]
    fn a_restarted_process_goes_on_with_its_log() {
        let folder = tempfile::tempdir().unwrap();
        RollingFile::open(folder.path(), "stdout", rolling(4, None)).unwrap().write(b"012345").unwrap();

        let mut again = RollingFile::open(folder.path(), "stdout", rolling(4, None)).unwrap();
        again.write(b"6789").unwrap();

        assert_eq!(content(folder.path()), [(0, "0123".into()), (4, "4567".into()), (8, "89".into())]);
    }

    #[test]
    fn without_a_limit_there_is_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = RollingFile::open(folder.path(), "stdout", LogRolling::default()).unwrap();

        log.write(&vec![b'x'; 100_000]).unwrap();

        assert_eq!(content(folder.path()), [(0, "x".repeat(100_000))]);
    }

    #[test]
    fn files_of_the_process_itself_are_not_taken_for_pieces() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["stdout.1", "stdout.000000000000000abc", "stdout.old", "stderr.000000000000000004"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("stdout.000000000000000004")).unwrap();

        assert_eq!(pieces(folder.path(), "stdout").unwrap(), []);
    }
}
