//! `cargo xtask peers install`: what the benchmarks are compared with.
//!
//! Spark, Ray and Dask come from `PyPI` into a Python environment of their own beside the build, where `firesteel-bench`
//! looks for them. Java comes from the system.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::{needs, process};

/// The packages, in the versions that results are given for.
const PACKAGES: &[&str] = &["pyspark==4.3.0", "ray==2.60.0", "dask[distributed]==2026.8.0", "numpy>=2"];

/// The oldest Java that Spark runs on.
const JAVA_MIN: u32 = 17;

/// Installs all peers; an error says which could not be had.
pub(crate) fn install() -> Result<()> {
    let folder = folder()?;
    if !folder.join("bin/python").is_file() {
        let mut venv = Command::new("python3");
        process::run(venv.args(["-m", "venv"]).arg(&folder))
            .context("cannot make a Python environment: install python3 with its venv module")?;
    }
    let mut pip = Command::new(folder.join("bin/python"));
    process::run(
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES),
    )?;
    needs::provide_one(needs::JAVA);
    match java_version() {
        Some(version) if version >= JAVA_MIN => {}
        Some(version) => bail!("Java is version {version}, but Spark needs {JAVA_MIN} or newer"),
        None => bail!("there is no Java: install version {JAVA_MIN} or newer to compare with Spark"),
    }
    println!("peers are in {}", folder.display());
    Ok(())
}

/// Beside the build that this program is a part of.
fn folder() -> Result<PathBuf> {
    let program = env::current_exe()?;
    let build = program.ancestors().nth(2).map(Path::to_path_buf);
    Ok(build.context("this program lies in no build")?.join("peers"))
}

fn java_version() -> Option<u32> {
    let output = Command::new("java").arg("-version").output().ok()?;
    major_version(&String::from_utf8_lossy(&output.stderr))
}

/// The number before the first dot of the version in quotes.
fn major_version(text: &str) -> Option<u32> {
    let version = text.split('"').nth(1)?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_java_is_read_in_all_its_forms() {
        let texts = [
            "openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime",
            "openjdk version \"21-ea\" 2023",
            "java version \"1.8.0_392\"",
            "nonsense",
        ];

        assert_eq!(texts.map(major_version), [Some(17), Some(21), Some(1), None]);
    }
}
