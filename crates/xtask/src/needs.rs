//! What the tests need beyond cargo, and how to get it.
//!
//! [`NEEDS`] is the whole list. Debian packages are installed when we are root; whatever cannot be installed is
//! named together with what is skipped for want of it, and is never an error by itself.

use std::process::Command;

use crate::process;

/// A program some test or chore uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    /// The program, as found on the search path.
    tool: &'static str,
    /// The Debian package that brings it, if there is one.
    debian: Option<&'static str>,
    why: &'static str,
    /// What happens when it is missing.
    without: &'static str,
}

impl Need {
    /// The program.
    pub(crate) const fn tool(self) -> &'static str {
        self.tool
    }
}

/// The runner of [`crate::suite`], used when present.
pub(crate) const NEXTEST: &str = "cargo-nextest";

/// Every tool the tests may use; a line here is all that a new one takes.
const NEEDS: &[Need] = &[Need {
    tool: NEXTEST,
    debian: None,
    why: "runs the tests of all crates side by side",
    without: "`cargo xtask test` runs the same executables, two at a time",
}];

/// What Spark runs on, the one peer of the benchmarks that is no Python package alone.
pub(crate) const JAVA: Need = Need {
    tool: "java",
    debian: Some("openjdk-17-jre-headless"),
    why: "runs Spark beside the benchmarks, 17 or newer",
    without: "benchmarks are not compared with Spark",
};

/// What counts instructions.
pub(crate) const VALGRIND: Need = Need {
    tool: "valgrind",
    debian: Some("valgrind"),
    why: "counts the instructions of the benchmarks",
    without: "it is not checked that costs stay in proportion",
};

/// What reads the counters of instrumented programs, of the compiler's own LLVM.
pub(crate) const LLVM: Need = Need {
    tool: "llvm-cov-22",
    debian: Some("llvm-22"),
    why: "says which lines a program ran",
    without: "it is not known which lines ran",
};

/// What to do about one need.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Present,
    Install(&'static str),
    DoWithout(&'static str),
}

/// Decides from what is there, and from whether packages can be installed at all.
fn step(need: Need, present: bool, can_install: bool) -> Step {
    match need.debian {
        _ if present => Step::Present,
        None => Step::DoWithout("no Debian package brings it"),
        Some(_) if !can_install => Step::DoWithout("installing needs root and apt-get"),
        Some(package) => Step::Install(package),
    }
}

/// Says what the tests need, installs what is missing where that is possible, and says what stays missing.
pub(crate) fn provide() {
    println!("what the tests need:");
    for need in NEEDS {
        provide_one(*need);
    }
}

/// Says whether one thing is there, and installs it where that is possible; false if it stays missing.
pub(crate) fn provide_one(need: Need) -> bool {
    let present = process::is_installed(need.tool);
    let step = settle(need, step(need, present, can_install()));
    println!("{}", line(need, &step));
    !matches!(step, Step::DoWithout(_))
}

/// Carries the step out; an installation that fails ends in doing without.
fn settle(need: Need, step: Step) -> Step {
    let Step::Install(package) = step else { return step };
    println!("  {}: installing the package {package}", need.tool);
    // A machine that was just set up has no package lists, so the second try fetches them.
    let installed = install(package) || (apt_get(&["update"]) && install(package));
    if installed { Step::Install(package) } else { Step::DoWithout("apt-get could not install it") }
}

fn install(package: &str) -> bool {
    apt_get(&["install", "--yes", "--no-install-recommends", package])
}

fn apt_get(args: &[&str]) -> bool {
    let mut command = Command::new("apt-get");
    command.args(args).arg("--quiet").env("DEBIAN_FRONTEND", "noninteractive");
    process::output(&mut command).is_ok()
}

fn can_install() -> bool {
    let root = process::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    root && process::is_installed("apt-get")
}

/// One line for the terminal.
fn line(need: Need, step: &Step) -> String {
    let Need { tool, why, without, .. } = need;
    match step {
        Step::Present => format!("  {tool}: found ({why})"),
        Step::Install(package) => format!("  {tool}: installed with the package {package} ({why})"),
        Step::DoWithout(reason) => format!("  {tool}: missing, {reason} ({why}); without it {without}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGED: Need =
        Need { tool: "stylus", debian: Some("stylus-bin"), why: "draws", without: "no drawing is tested" };
    const UNPACKAGED: Need = Need { debian: None, ..PACKAGED };

    #[test]
    fn a_tool_that_is_there_is_left_alone() {
        assert_eq!(step(PACKAGED, true, true), Step::Present);
    }

    #[test]
    fn a_missing_tool_is_installed_where_that_is_possible() {
        let steps =
            [step(PACKAGED, false, true), step(PACKAGED, false, false), step(UNPACKAGED, false, true)];

        assert_eq!(
            steps,
            [
                Step::Install("stylus-bin"),
                Step::DoWithout("installing needs root and apt-get"),
                Step::DoWithout("no Debian package brings it"),
            ]
        );
    }

    #[test]
    fn what_stays_missing_is_named_with_what_it_skips() {
        let text = line(PACKAGED, &Step::DoWithout("apt-get could not install it"));

        assert_eq!(
            text,
            "  stylus: missing, apt-get could not install it (draws); without it no drawing is tested"
        );
    }
}
