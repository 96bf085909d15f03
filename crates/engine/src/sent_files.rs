//! Files that `firesteel submit --files` sends along.

use std::{
    env,
    path::{Path, PathBuf},
};

use firesteel_types::{is_plain_name, settings};

use crate::{Conf, Error, Result};

/// The folder with the files, for processes that a worker has started.
const FOLDER: &str = "FIRESTEEL_FILES_DIR";

/// Where a file is that was sent along with the application, in the driver and in tasks.
///
/// The file is one that `firesteel submit --files` or the environment's `firesteel.files` names; `name` is its name
/// without a folder.
///
/// ```
/// assert!(firesteel::sent_file("words.txt").unwrap_err().to_string().contains("words.txt"));
/// assert!(firesteel::sent_file("../words.txt").is_err());
/// ```
pub fn sent_file(name: &str) -> Result<PathBuf> {
    let found = match folder() {
        _ if !is_plain_name(name) => None,
        Some(folder) => Some(folder.join(name)),
        None => sent_files(&Conf::from_env()?).find(|(sent, _)| sent == name).map(|(_, path)| path),
    };
    found.filter(|path| path.is_file()).ok_or_else(|| Error::NotSent { name: name.to_owned() })
}

/// The files of the settings: their names, and where they are for the driver.
pub(crate) fn sent_files(conf: &Conf) -> impl Iterator<Item = (String, PathBuf)> + use<> {
    let list = conf.get(settings::FILES).unwrap_or_default();
    let paths: Vec<PathBuf> =
        list.split(',').map(str::trim).filter(|path| !path.is_empty()).map(PathBuf::from).collect();
    paths.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        Some((name, beside_the_driver(&path)))
    })
}

/// A driver that a worker runs has its files in a folder beside it.
fn beside_the_driver(path: &Path) -> PathBuf {
    folder().filter(|_| path.is_relative()).map_or_else(|| path.to_owned(), |folder| folder.join(path))
}

fn folder() -> Option<PathBuf> {
    env::var_os(FOLDER).filter(|folder| !folder.is_empty()).map(PathBuf::from)
}
