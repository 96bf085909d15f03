//! The files of an application on this machine.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

/// The full path of the application's executable.
pub(super) fn executable(path: &Path) -> Result<PathBuf> {
    let cannot_run = || format!("cannot run {}", path.display());
    let full = full_path(path).with_context(cannot_run)?;
    let mode = fs::metadata(&full).with_context(cannot_run)?.permissions().mode();
    if mode & 0o111 == 0 {
        bail!(
            "cannot run {0}: it is not executable; if it is a program, allow it with `chmod +x {0}`",
            path.display()
        );
    }
    Ok(full)
}

/// The full paths of files to send along.
pub(super) fn sent_along(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let full = |file: &PathBuf| full_path(file).with_context(|| format!("--files {}", file.display()));
    files.iter().map(full).collect()
}

fn full_path(path: &Path) -> Result<PathBuf> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        bail!("it is not a file");
    }
    Ok(std::path::absolute(path)?)
}

/// Paths or names as the setting `firesteel.files` takes them.
pub(super) fn as_setting(names: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Option<String>> {
    let mut list = Vec::new();
    for name in names {
        match name.as_ref().to_str() {
            Some(text) if !text.contains(',') => list.push(text.to_owned()),
            _ => bail!(
                "--files {}: a name with a comma, or not in Unicode, cannot be sent",
                name.as_ref().display()
            ),
        }
    }
    Ok(if list.is_empty() { None } else { Some(list.join(",")) })
}
