//! The test executables of the workspace: built by cargo, read from the messages that it prints.

use std::{
    env, fmt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process;

/// A test executable, and the package that it tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Executable {
    package: String,
    target: Target,
    program: PathBuf,
    /// The package's folder, where cargo starts its tests.
    folder: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Lib,
    Bin(String),
    Test(String),
    Bench(String),
}

/// Shows how `cargo test` would be asked for this executable alone.
impl fmt::Display for Executable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "-p {} ", self.package)?;
        match &self.target {
            Target::Lib => write!(out, "--lib"),
            Target::Bin(name) => write!(out, "--bin {name}"),
            Target::Test(name) => write!(out, "--test {name}"),
            Target::Bench(name) => write!(out, "--bench {name}"),
        }
    }
}

impl Executable {
    /// The call of this executable, with the folder and the environment that cargo would give it.
    pub(crate) fn command(&self, libraries: &Path) -> Command {
        let mut command = Command::new(&self.program);
        for (key, _) in env::vars_os() {
            if key.to_str().is_some_and(|key| key.starts_with("CARGO_PKG_")) {
                command.env_remove(key);
            }
        }
        command
            .current_dir(&self.folder)
            .env("CARGO_PKG_NAME", &self.package)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("CARGO_MANIFEST_PATH", self.folder.join("Cargo.toml"))
            // Tests of a crate of macros are linked to the compiler's own libraries.
            .env("LD_LIBRARY_PATH", libraries);
        command
    }
}

/// Builds every test executable, and the examples.
pub(crate) fn build() -> Result<Vec<Executable>> {
    let mut command =
        process::cargo(&["test", "--workspace", "--no-run", "--message-format=json-render-diagnostics"]);
    println!("$ cargo test --workspace --no-run");
    let output = command.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the tests do not compile");
    }
    let messages = String::from_utf8(output.stdout).context("cargo printed something that is not text")?;
    read(&messages)
}

/// The folder of the compiler's libraries.
pub(crate) fn libraries() -> Result<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let folder = process::output(Command::new(rustc).args(["--print", "target-libdir"]))?;
    Ok(PathBuf::from(folder.trim_end()))
}

/// Reads cargo's messages, one JSON object per line.
fn read(messages: &str) -> Result<Vec<Executable>> {
    let mut found = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line).context("cannot read a message of cargo")?;
        if message["reason"] == "compiler-artifact" && message["profile"]["test"] == true {
            found.extend(executable(&message)?);
        }
    }
    Ok(found)
}

/// The executable that a message announces; none if it is a library for other tests.
fn executable(message: &Value) -> Result<Option<Executable>> {
    let Some(program) = message["executable"].as_str() else { return Ok(None) };
    let text = |value: &Value| value.as_str().map(str::to_owned).context("a message of cargo lacks a name");
    let manifest = PathBuf::from(text(&message["manifest_path"])?);
    let name = text(&message["target"]["name"])?;
    let target = match message["target"]["kind"][0].as_str() {
        Some("bin") => Target::Bin(name),
        Some("test") => Target::Test(name),
        Some("bench") => Target::Bench(name),
        Some("lib" | "proc-macro") => Target::Lib,
        kind => bail!("`{name}` is a test executable of an unknown kind {kind:?}"),
    };
    Ok(Some(Executable {
        package: package_name(&text(&message["package_id"])?),
        target,
        program: PathBuf::from(program),
        folder: manifest.parent().context("a manifest lies in a folder")?.to_owned(),
    }))
}

/// The name in an id such as `path+file:///a/crates/net#firesteel-net@0.1.0`, which may stand in the path alone.
fn package_name(id: &str) -> String {
    let (path, fragment) = id.split_once('#').unwrap_or((id, ""));
    match fragment.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => path.rsplit('/').next().unwrap_or(path).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(kind: &str, test: bool, executable: &str) -> String {
        format!(
            r#"{{"reason":"compiler-artifact","package_id":"path+file:///a/crates/net#firesteel-net@0.1.0",
            "manifest_path":"/a/crates/net/Cargo.toml","target":{{"kind":["{kind}"],"name":"lines"}},
            "profile":{{"test":{test}}},"executable":{executable}}}"#
        )
        .replace('\n', " ")
    }

    #[test]
    fn executables_of_tests_are_found_among_what_cargo_built() {
        let messages = [
            artifact("lib", false, "null"),
            artifact("bin", false, "\"/t/debug/lines\""),
            artifact("lib", true, "\"/t/debug/deps/net-1\""),
            artifact("test", true, "\"/t/debug/deps/lines-1\""),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
        ];

        let found = read(&messages.join("\n")).expect("messages of cargo");

        let shown: Vec<String> = found.iter().map(Executable::to_string).collect();
        assert_eq!(shown, ["-p firesteel-net --lib", "-p firesteel-net --test lines"]);
        assert_eq!(found[1].program, Path::new("/t/debug/deps/lines-1"));
        assert_eq!(found[1].folder, Path::new("/a/crates/net"));
    }

    #[test]
    fn a_kind_that_nobody_would_run_is_an_error() {
        let error = read(&artifact("example", true, "\"/t/a\"")).expect_err("an example with tests");

        assert_eq!(error.to_string(), "`lines` is a test executable of an unknown kind Some(\"example\")");
    }

    #[test]
    fn packages_are_named_as_their_ids_name_them() {
        let names = ["path+file:///a/crates/net#firesteel-net@0.1.0", "path+file:///a/crates/xtask#0.1.0"]
            .map(package_name);

        assert_eq!(names, ["firesteel-net", "xtask"]);
    }
}
