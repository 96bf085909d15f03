//! Project chores behind `cargo xtask <command>`.
//!
//! One command per file: [`tidy`] holds the house rules, [`suite`] runs every test, [`ci`] chains what has to
//! pass before a change goes in, [`defaults`] looks at what applications get, [`docs`] at what they can name, [`commands`] at what
//! documents tell people to type, [`answers`]
//! compares random jobs with a model, [`settings`] makes a reference page, [`peers`] installs what benchmarks are
//! compared with.
//! Knows no crate of the project but the types: it reads their text and calls cargo.
//!
//! Exit codes: 0 all is well, 1 something failed, 2 the command line was not understood.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool speaks to its terminal")]

mod answers;
mod ci;
mod commands;
mod defaults;
mod docs;
mod needs;
mod peers;
mod process;
mod settings;
mod suite;
mod tidy;

use std::env;
use std::process::ExitCode;

const HELP: &str = "\
Project chores.

Usage: cargo xtask <command>

Commands:
  tidy      check the house rules: who may know whom, sizes, purity of the scheduler,
            module docs, words, the page of settings, and that every behaviour has
            a test or a deviation
  settings  write docs/settings.md from the registry of settings
  test      say what the tests need, install what can be installed, run every test
  defaults  build an example as applications are built, and check its size and what
            it refuses without the features that are off by default
  docs      build the docs, and check that an application can name whatever `firesteel`
            mentions
  commands  check every command of the documents, and run those that take seconds
  regress   check that the costs of the engine are in proportion
  answers [--minutes M] [--seed S] [--cases N] [--backend local|shipped|cluster]
            compare random jobs with random faults with a plain model
  answers --case FILE
            run one case that a failing comparison printed
  answers --defects [NAME]
            put known defects back, one at a time, and see that the comparison
            finds each
  answers --coverage
            say which lines of the paths to disk the comparison enters
  peers install
            install Spark, Ray and Dask beside the build, for firesteel-bench
  ci        format, clippy, tidy, test, defaults, regress, commands, docs;
            stops at the first failure
  help      print this text";

#[derive(Debug, PartialEq, Eq)]
enum Command {
    Tidy,
    Settings,
    Test,
    Defaults,
    Docs,
    Commands,
    Regress,
    Answers(Vec<String>),
    PeersInstall,
    Ci,
    Help,
}

/// Reads the command line; anything but exactly one known word is an error that says what was wrong.
fn parse(args: &[String]) -> Result<Command, String> {
    match args {
        [] => Err("no command given".to_owned()),
        [word, rest @ ..] if word == "answers" => Ok(Command::Answers(rest.to_vec())),
        [word] => match word.as_str() {
            "tidy" => Ok(Command::Tidy),
            "settings" => Ok(Command::Settings),
            "test" => Ok(Command::Test),
            "defaults" => Ok(Command::Defaults),
            "docs" => Ok(Command::Docs),
            "commands" => Ok(Command::Commands),
            "regress" => Ok(Command::Regress),
            "peers" => Err("`peers` needs a second word: `peers install`".to_owned()),
            "ci" => Ok(Command::Ci),
            "help" | "--help" | "-h" => Ok(Command::Help),
            unknown => Err(format!("unknown command `{unknown}`")),
        },
        [word, what] if word == "peers" && what == "install" => Ok(Command::PeersInstall),
        [word, rest @ ..] if word == "peers" => {
            Err(format!("`peers` knows one word, `install`, but got `{}`", rest.join(" ")))
        }
        [word, rest @ ..] => Err(format!("`{word}` takes no arguments, but got `{}`", rest.join(" "))),
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let outcome = match parse(&args) {
        Ok(Command::Tidy) => tidy::run(),
        Ok(Command::Settings) => settings::run(),
        Ok(Command::Test) => suite::run(),
        Ok(Command::Defaults) => defaults::run(),
        Ok(Command::Docs) => docs::run(),
        Ok(Command::Commands) => commands::run(),
        Ok(Command::Regress) => ci::regress(),
        Ok(Command::Answers(args)) => answers::run(&args),
        Ok(Command::PeersInstall) => peers::install(),
        Ok(Command::Ci) => ci::run(),
        Ok(Command::Help) => {
            println!("{HELP}");
            Ok(())
        }
        Err(reason) => {
            eprintln!("error: {reason}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn each_command_is_one_word() {
        let commands = ["tidy", "settings", "test", "defaults", "docs", "commands", "regress", "ci", "help"];
        let commands = commands.map(|word| parse(&words(word)));

        let expected = [
            Command::Tidy,
            Command::Settings,
            Command::Test,
            Command::Defaults,
            Command::Docs,
            Command::Commands,
            Command::Regress,
            Command::Ci,
            Command::Help,
        ];
        assert_eq!(commands, expected.map(Ok));
    }

    #[test]
    fn peers_are_installed_by_two_words() {
        assert_eq!(parse(&words("peers install")), Ok(Command::PeersInstall));
        assert_eq!(parse(&words("peers")), Err("`peers` needs a second word: `peers install`".to_owned()));
        assert_eq!(
            parse(&words("peers remove")),
            Err("`peers` knows one word, `install`, but got `remove`".to_owned())
        );
    }

    #[test]
    fn what_follows_answers_is_passed_on() {
        let args = words("answers --minutes 60");

        assert_eq!(parse(&args), Ok(Command::Answers(words("--minutes 60"))));
    }

    #[test]
    fn anything_else_is_refused_with_a_reason() {
        let reasons = ["", "tidi", "ci --fast"].map(|line| parse(&words(line)));

        assert_eq!(
            reasons,
            ["no command given", "unknown command `tidi`", "`ci` takes no arguments, but got `--fast`"]
                .map(|reason| Err(reason.to_owned()))
        );
    }
}
