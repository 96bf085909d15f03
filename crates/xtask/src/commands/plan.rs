//! Which documented commands are run, how, and why the others are not.

use super::text::Documented;

/// What is done with a command once its words are known to be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Runs with these words behind it.
    Run(&'static [&'static str]),
    /// Lists the tests that it would run: there must be some.
    ListTests,
    /// Is not run, for this reason.
    No(&'static str),
}

const TINY: &[&str] = &["--scale=0.0005", "--runs=1"];

/// By how commands begin; the first that fits holds.
const PLANS: &[(&str, Plan)] = &[
    ("cargo xtask peers", Plan::No("downloads other systems")),
    ("cargo xtask answers", Plan::No("takes minutes; the tests run some of its cases")),
    ("cargo xtask", Plan::No("is a step of CI itself")),
    ("cargo bench", Plan::No("takes minutes; the tests start each benchmark at a tiny size")),
    ("cargo test", Plan::ListTests),
    ("cargo run", Plan::Run(&[])),
    (
        "cargo build --release -p firesteel-cli",
        Plan::No("compiles all again; the tests built the same programs"),
    ),
    ("cargo build --workspace", Plan::No("is part of what the tests build")),
    ("cargo build", Plan::Run(&[])),
    ("target/release/firesteel-bench compare", Plan::No("needs other systems; a test compares without them")),
    ("target/release/firesteel-bench list", Plan::Run(&[])),
    ("target/release/firesteel-bench", Plan::Run(TINY)),
    ("firesteel master", Plan::No("does not end; `cluster up` starts one")),
    ("firesteel worker", Plan::No("does not end; `cluster up` starts some")),
    ("firesteel submit --master firesteel://master-host:7077", Plan::No("needs a second machine")),
    ("firesteel", Plan::Run(&[])),
    ("export", Plan::No("is for the shell")),
    ("printf", Plan::No("needs openssl")),
];

/// The plan for a command; none for a kind of command that nobody has thought of yet.
pub(crate) fn plan(command: &Documented) -> Option<Plan> {
    PLANS.iter().find(|(words, _)| command.begins_with(words)).map(|(_, plan)| *plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::text::find;

    fn plan_of(line: &str) -> Option<Plan> {
        plan(&find("a.md", &format!("```sh\n{line}\n```\n"))[0])
    }

    #[test]
    fn the_first_words_decide() {
        assert_eq!(plan_of("FIRESTEEL_RANDOM_CASES=2 cargo test -p a"), Some(Plan::ListTests));
        assert_eq!(plan_of("target/release/firesteel-bench limit join"), Some(Plan::Run(TINY)));
        assert_eq!(
            plan_of("firesteel worker firesteel://a:7077"),
            Some(Plan::No("does not end; `cluster up` starts some"))
        );
    }

    #[test]
    fn a_new_kind_of_command_needs_a_plan() {
        assert_eq!(plan_of("kubectl apply"), None);
    }
}
