//! Where the peers are.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::machine::package_version;

/// The environment variable that names the folder, where it is not the usual one.
const FOLDER: &str = "FIRESTEEL_BENCH_PEERS";

/// What `cargo xtask peers install` made: a Python environment with the peers in it.
#[derive(Clone, Debug)]
pub struct Installation {
    folder: PathBuf,
    packages: PathBuf,
}

impl Installation {
    /// Looks for the peers beside the build of this program.
    pub fn find() -> Result<Self> {
        let folder = match env::var_os(FOLDER) {
            Some(folder) => PathBuf::from(folder),
            None => {
                env::current_exe()?.ancestors().nth(2).context("a program lies in a folder")?.join("peers")
            }
        };
        Self::at(&folder)
    }

    fn at(folder: &Path) -> Result<Self> {
        let lib = fs::read_dir(folder.join("lib")).into_iter().flatten().flatten();
        let packages = lib.map(|entry| entry.path().join("site-packages")).find(|path| path.is_dir());
        let Some(packages) = packages else {
            bail!("no peers in {}: install them with `cargo xtask peers install`", folder.display());
        };
        Ok(Self { folder: folder.to_owned(), packages })
    }

    /// The version of a package; an error tells how to install it.
    pub fn version(&self, package: &str) -> Result<String> {
        package_version(&self.packages, package).with_context(|| {
            format!(
                "{package} is not in {}: install it with `cargo xtask peers install`",
                self.folder.display()
            )
        })
    }

    /// The folder of everything.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where Python's packages are.
    pub fn packages(&self) -> &Path {
        &self.packages
    }

    /// Python, with the peers among its packages.
    pub fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();

        let none = Installation::at(folder.path()).unwrap_err().to_string();
        fs::create_dir_all(folder.path().join("lib/python3.9/site-packages/ray-2.0.dist-info")).unwrap();
        let some = Installation::at(folder.path()).unwrap();

        assert!(none.ends_with("install them with `cargo xtask peers install`"), "{none}");
        assert_eq!(some.version("ray").unwrap(), "2.0");
        let missing = some.version("dask").unwrap_err().to_string();
        assert!(missing.starts_with("dask is not in") && missing.contains("cargo xtask peers"), "{missing}");
    }
}
