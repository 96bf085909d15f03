//! Checks every documented command, then runs what can be run.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};

use super::{
    cargo_words, names,
    plan::{Plan, plan},
    text::{self, Documented},
};
use crate::{
    defaults, process, settings, suite,
    tidy::{self, SourceFile},
};

/// The master that documents name; `cluster up` takes another port where this one is taken.
const DOCUMENTED_MASTER: &str = "firesteel://127.0.0.1:7077";

/// Builds what the commands start, checks all of them, and runs those that have a plan.
pub(crate) fn run() -> Result<()> {
    let executables = suite::build()?;
    defaults::build()?;
    let files = tidy::files()?;
    let commands: Vec<Documented> = files
        .iter()
        .filter(|file| file.extension() == Some("md"))
        .flat_map(|file| text::find(&file.path, &file.text))
        .collect();
    ensure!(!commands.is_empty(), "no document has a command");

    let problems = check_all(&commands, &files)?;
    for problem in &problems {
        println!("problem: {problem}");
    }
    ensure!(problems.is_empty(), "{} problems with documented commands", problems.len());

    let mut stage = Stage::new()?;
    let mut ran = 0;
    for command in &commands {
        match plan(command) {
            Some(Plan::No(reason)) => println!("not run: {command} {reason}"),
            Some(Plan::Run(more)) => {
                stage.run(command, more).with_context(|| command.to_string())?;
                ran += 1;
            }
            Some(Plan::ListTests) => {
                list_tests(command, &executables).with_context(|| command.to_string())?;
                ran += 1;
            }
            None => bail!("{command} has no plan"),
        }
    }
    println!("commands: {} are documented, {ran} of them ran", commands.len());
    Ok(())
}

/// What is wrong with the words of all commands.
fn check_all(commands: &[Documented], files: &[SourceFile]) -> Result<Vec<String>> {
    let packages = cargo_words::packages()?;
    let page =
        files.iter().find(|file| file.path == settings::PAGE).context("there is no page of settings")?;
    let mut problems = Vec::new();
    for command in commands {
        let mut wrong = match &command.words[..] {
            [cargo, xtask, rest @ ..] if cargo == "cargo" && xtask == "xtask" => check_xtask(rest),
            [cargo, rest @ ..] if cargo == "cargo" => cargo_words::check(rest, &packages),
            [program, rest @ ..] if is_ours(program) => check_ours(program, rest)?,
            _ => Vec::new(),
        };
        let unknown = names::unknown_settings(&command.words, &page.text);
        wrong.extend(unknown.iter().map(|key| format!("there is no setting `{key}`")));
        let unread = names::unread_variables(command, files);
        wrong.extend(unread.iter().map(|name| format!("no code reads `{name}`")));
        if plan(command).is_none() {
            wrong.push("nothing says whether it can be run: add a line to `PLANS`".to_owned());
        }
        problems.extend(wrong.iter().map(|problem| format!("{command}: {problem}")));
    }
    Ok(problems)
}

fn check_xtask(words: &[String]) -> Vec<String> {
    let mut problems: Vec<String> = crate::parse(words).err().into_iter().collect();
    let unknown = names::unknown_options(words, crate::HELP);
    problems.extend(unknown.iter().map(|option| format!("`cargo xtask help` does not name `{option}`")));
    problems
}

fn is_ours(program: &str) -> bool {
    program == "firesteel" || program.ends_with("/firesteel-bench")
}

/// Asks the program itself: for the help of the subcommand, which names its options.
fn check_ours(program: &str, words: &[String]) -> Result<Vec<String>> {
    let subcommands = names::subcommands(words);
    let help = Command::new(resolve(program)?).args(subcommands).arg("--help").output()?;
    if !help.status.success() {
        return Ok(vec![format!("`{program} {}` does not exist", subcommands.join(" "))]);
    }
    let unknown = names::unknown_options(words, &String::from_utf8_lossy(&help.stdout)).into_iter();
    Ok(unknown.map(|option| format!("its help does not name `{option}`")).collect())
}

/// The file that a word of a command stands for.
///
/// Programs of the cluster come from the build of the tests, whatever the documents build.
fn resolve(word: &str) -> Result<PathBuf> {
    let release = defaults::release_folder()?;
    let debug = release.with_file_name("debug");
    Ok(match word {
        "firesteel" => debug.join("firesteel"),
        "./my_app" => debug.join("examples/wordcount"),
        "target/release/examples/pagerank" => debug.join("examples/pagerank"),
        _ => match word.strip_prefix("target/release/") {
            Some(name) => release.join(name),
            None => PathBuf::from(word),
        },
    })
}

/// Lists the tests that a call of `cargo test` would run; there must be some.
///
/// The executables are those of the whole workspace: cargo would compile a package alone with other features.
fn list_tests(command: &Documented, executables: &[suite::Executable]) -> Result<()> {
    let wanted = command.words[2..].join(" ");
    let libraries = suite::libraries()?;
    let mut count = 0;
    for executable in executables {
        if let Some(filters) = filters(&wanted, &executable.to_string()) {
            let said = process::output(
                executable.command(&libraries).args(filters.split_whitespace()).arg("--list"),
            )?;
            count += said.lines().filter(|line| line.ends_with(": test")).count();
        }
    }
    println!("$ {} (which has {count} tests)", command.shown());
    ensure!(count > 0, "it runs no test at all");
    Ok(())
}

/// The names of tests behind a call that selects this executable.
fn filters<'w>(wanted: &'w str, executable: &str) -> Option<&'w str> {
    let rest = wanted.strip_prefix(executable)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

/// Where commands run: a folder of their own, and the cluster that one of them may have started in it.
struct Stage {
    folder: PathBuf,
    /// The master of the cluster that is up.
    master: Option<String>,
}

impl Stage {
    fn new() -> Result<Self> {
        let folder = env::temp_dir().join(format!("firesteel-commands-{}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(folder.join("input.txt"), "to be or not to be\n")?;
        Ok(Self { folder, master: None })
    }

    fn run(&mut self, command: &Documented, more: &[&str]) -> Result<()> {
        let said = self.said(command, more)?;
        if command.begins_with("firesteel cluster up") {
            let mut words = said.split_whitespace();
            let address =
                words.find(|word| word.starts_with("firesteel://")).context("no address is printed")?;
            self.master = Some(address.trim_end_matches(['.', ',', ';']).to_owned());
        } else if command.begins_with("firesteel cluster down") {
            self.master = None;
        }
        Ok(())
    }

    /// Runs a command to its end, and gives what it printed.
    fn said(&self, command: &Documented, more: &[&str]) -> Result<String> {
        println!("$ {} {}", command.shown(), more.join(" "));
        let (program, rest) = command.words.split_first().context("a command has a program")?;
        let mut call = if program == "cargo" { process::cargo(&[]) } else { self.call(&resolve(program)?) };
        for word in rest {
            match &self.master {
                Some(master) if word == DOCUMENTED_MASTER => call.arg(master),
                _ => call.arg(resolve(word)?),
            };
        }
        call.args(more).envs(command.variables.iter().map(|(name, value)| (name, value)));
        process::output(&mut call)
    }

    /// A call in the folder, whose cluster is apart from any other of this user.
    fn call(&self, program: &Path) -> Command {
        let mut call = Command::new(program);
        call.current_dir(&self.folder).env("XDG_STATE_HOME", self.folder.join("state"));
        call
    }
}

/// Leaves nothing running and nothing behind, also where a command failed.
impl Drop for Stage {
    fn drop(&mut self) {
        if self.master.is_some()
            && let Ok(program) = resolve("firesteel")
        {
            drop(self.call(&program).args(["cluster", "down"]).output());
        }
        drop(fs::remove_dir_all(&self.folder));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_an_executable_are_names_of_tests() {
        let wanted = "-p firesteel --test keyed group";

        assert_eq!(filters(wanted, "-p firesteel --test keyed"), Some("group"));
        assert_eq!(filters("-p firesteel --lib", "-p firesteel --lib"), Some(""));
        assert_eq!(filters(wanted, "-p firesteel --test key"), None);
        assert_eq!(filters(wanted, "-p firesteel --lib"), None);
    }
}
