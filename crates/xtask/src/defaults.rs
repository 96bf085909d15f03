//! `cargo xtask defaults`: the features that an application has by default, in an optimised build.
//!
//! The tests have every feature, so what a program without them does is seen here only: that it builds, how large it is,
//! and that what it cannot do is refused by an error that names the feature. The benchmarks are built in the same call,
//! with the same features, for [`crate::ci::regress`].

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};

use crate::process;

/// The most bytes of an example as it is built.
const PROGRAM_BYTES_MAX: u64 = 15_000_000;

/// What a program is asked to do, and the error that it must end with.
struct Refusal {
    /// The path that the word count reads.
    input: &'static str,
    /// Lines of `FIRESTEEL_SETTINGS`.
    settings: &'static str,
    says: &'static str,
}

const REFUSALS: &[Refusal] = &[
    Refusal {
        input: "s3://bucket/a.txt",
        settings: "",
        says: "s3://bucket/a.txt: this program was built without cloud storage; \
               build firesteel with the feature \"cloud\"",
    },
    Refusal {
        input: "https://user:word@host/a.txt?sig=secret",
        settings: "",
        says: "https://host/a.txt: this program was built without cloud storage; \
               build firesteel with the feature \"cloud\"",
    },
    Refusal {
        input: "a.bz2",
        settings: "",
        says: "a.bz2: this program was built without bzip2; build firesteel with the feature \"bzip2\"",
    },
    Refusal {
        input: "a.lz4",
        settings: "",
        says: "a.lz4: this program was built without lz4; build firesteel with the feature \"lz4\"",
    },
    Refusal {
        input: "a.txt",
        settings: "firesteel.master=firesteel://127.0.0.1:1\n\
                   firesteel.ssl.certificate=cert.pem\nfiresteel.ssl.key=key.pem",
        says: "cert.pem: this program was built without TLS; build firesteel with the feature \"tls\"",
    },
];

/// Builds the word count and the benchmarks as applications are built.
pub(crate) fn build() -> Result<()> {
    let mut build = process::cargo(&["build", "--release", "--package", "firesteel-bench"]);
    build.args(["--package", "firesteel-examples", "--bin", "firesteel-bench", "--example", "wordcount"]);
    process::run(&mut build)
}

/// Builds the word count and checks it.
pub(crate) fn run() -> Result<()> {
    build()?;
    let program = release_folder()?.join("examples/wordcount");
    let bytes = fs::metadata(&program).context("cannot find the word count")?.len();
    println!("{} has {bytes} bytes, at most {PROGRAM_BYTES_MAX}", program.display());
    ensure!(bytes <= PROGRAM_BYTES_MAX, "an example has {bytes} bytes, more than {PROGRAM_BYTES_MAX}");

    let folder = env::temp_dir().join(format!("firesteel-defaults-{}", std::process::id()));
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let refused = REFUSALS.iter().try_for_each(|refusal| check(&program, &folder, refusal));
    fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    refused
}

/// Where optimised programs are built.
pub(crate) fn release_folder() -> Result<PathBuf> {
    let program = env::current_exe().context("cannot find this program")?;
    let target = program.ancestors().nth(2).context("this program lies in no build")?;
    Ok(target.join("release"))
}

/// Runs the program in a folder that holds the files it is asked for.
fn check(program: &Path, folder: &Path, refusal: &Refusal) -> Result<()> {
    for name in ["a.bz2", "a.lz4", "a.txt"] {
        fs::write(folder.join(name), "some words")?;
    }
    let mut command = Command::new(program);
    command.arg(refusal.input).current_dir(folder).env("FIRESTEEL_SETTINGS", refusal.settings);
    let output = command.output().with_context(|| format!("cannot start {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !said.contains(refusal.says) {
        bail!(
            "the word count of {} ended with {}\n{said}\nnot with\n{}",
            refusal.input,
            output.status,
            refusal.says
        );
    }
    ensure!(!said.contains("secret") && !said.contains("word@"), "a secret is shown: {said}");
    println!("refused as it should be: {}", refusal.says);
    Ok(())
}
