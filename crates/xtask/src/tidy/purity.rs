//! The scheduler stays pure: no clock, no I/O, no threads, no map of random order, no floats.
//!
//! Clippy knows some of this by resolved path; this rule reads the tokens of every file, tests included, so that
//! a type cannot slip in by an alias or a macro. Modules named `proptest` or `proptests` are free to build naive
//! models, and any test module that uses proptest may write floats, which are its weights. Elsewhere a float that
//! decides nothing may stay on a line that gives its reason.

use super::problem::Problem;
use super::source::SourceFile;
use super::tokens::{self, Token};

/// The folder this rule covers.
const PURE_FOLDER: &str = "crates/scheduler/src/";

/// Tokens that must not appear, and what to do instead.
const FORBIDDEN: &[(&[&str], &str)] = &[
    (&["Instant"], "time is an argument: take `now: Timestamp`"),
    (&["SystemTime"], "time is an argument: take `now: Timestamp`"),
    (&["HashMap"], "its order is random: use a BTreeMap, or an IndexMap with a fixed hasher"),
    (&["HashSet"], "its order is random: use a BTreeSet, or an IndexSet with a fixed hasher"),
    (&["thread", ":", ":"], "the caller of the scheduler owns the threads"),
    (&["println", "!"], "return an effect; the caller of the scheduler prints"),
    (&["print", "!"], "return an effect; the caller of the scheduler prints"),
    (&["eprintln", "!"], "return an effect; the caller of the scheduler prints"),
    (&["eprint", "!"], "return an effect; the caller of the scheduler prints"),
];

/// Modules of `std` that reach out of the process.
const FORBIDDEN_STD: &[&str] = &["env", "fs", "net", "process", "thread"];

const FLOAT_MARK: &str = "// tidy: allow-float";

/// Checks one file; files outside the scheduler have no such rule.
pub(crate) fn check(file: &SourceFile) -> Vec<Problem> {
    if !file.is_rust() || !file.path.starts_with(PURE_FOLDER) || is_proptest_module(module_name(file)) {
        return Vec::new();
    }
    let tokens = match tokens::flatten(&file.text) {
        Ok(tokens) => tokens,
        Err(error) => return vec![Problem::in_file(&file.path, format!("cannot be read as Rust: {error}"))],
    };
    let lines: Vec<&str> = file.text.lines().collect();
    let mut problems = Vec::new();
    let mut at = 0;
    let mut floats_free_before = if file.is_test() && uses_proptest(&tokens) { tokens.len() } else { 0 };
    while at < tokens.len() {
        if let Some((name, close)) = opened_module(&tokens, at) {
            if is_proptest_module(name) {
                at = close + 1;
                continue;
            }
            if uses_proptest(&tokens[at..close]) {
                floats_free_before = floats_free_before.max(close);
            }
        }
        problems.extend(forbidden_at(&tokens, at, &file.path));
        let token = &tokens[at];
        if at >= floats_free_before && is_float(token) && !has_reason(lines[token.line - 1]) {
            let remedy = format!("decide with integers, or end the line with `{FLOAT_MARK} <reason>`");
            problems.push(report(&file.path, token.line, &token.text, &remedy));
        }
        at += 1;
    }
    problems
}

fn report(path: &str, line: usize, what: &str, remedy: &str) -> Problem {
    Problem::at(path, line, format!("`{what}` in the scheduler: {remedy}"))
}

fn forbidden_at(tokens: &[Token], at: usize, path: &str) -> Vec<Problem> {
    if let Some((pattern, remedy)) =
        FORBIDDEN.iter().find(|(pattern, _)| tokens::matches_at(tokens, at, pattern))
    {
        return vec![report(path, tokens[at].line, &pattern.concat(), remedy)];
    }
    if !tokens::matches_at(tokens, at, &["std", ":", ":"]) {
        return Vec::new();
    }
    let remedy = "it reaches out of the process; return an effect instead";
    let modules = std_modules(tokens, at + 3).into_iter();
    let forbidden = modules.filter(|module| FORBIDDEN_STD.contains(&module.text.as_str()));
    forbidden.map(|module| report(path, module.line, &format!("std::{}", module.text), remedy)).collect()
}

fn is_float(token: &Token) -> bool {
    token.is_float || token.text == "f32" || token.text == "f64"
}

/// What a path that begins with `std::` names next: one module, or several in braces.
fn std_modules(tokens: &[Token], at: usize) -> Vec<&Token> {
    if !tokens::matches_at(tokens, at, &["{"]) {
        return tokens.get(at).into_iter().collect();
    }
    let close = tokens::closing(tokens, at);
    let mut modules = Vec::new();
    let mut place = at + 1;
    while place < close {
        modules.push(&tokens[place]);
        // On to the next comma that is not inside inner braces.
        while place < close && tokens[place].text != "," {
            place = if tokens[place].text == "{" { tokens::closing(tokens, place) + 1 } else { place + 1 };
        }
        place += 1;
    }
    modules
}

fn has_reason(line: &str) -> bool {
    line.split_once(FLOAT_MARK).is_some_and(|(_, reason)| !reason.trim().is_empty())
}

/// The name of the inline module that opens at `at`, and where it closes.
fn opened_module(tokens: &[Token], at: usize) -> Option<(&str, usize)> {
    let opens = tokens[at].text == "mod" && tokens::matches_at(tokens, at + 2, &["{"]);
    opens.then(|| (tokens[at + 1].text.as_str(), tokens::closing(tokens, at + 2)))
}

fn uses_proptest(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.text == "proptest")
}

fn is_proptest_module(name: &str) -> bool {
    name == "proptest" || name == "proptests"
}

fn module_name(file: &SourceFile) -> &str {
    file.name().trim_end_matches(".rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(name: &str, text: &str) -> Vec<String> {
        let file = SourceFile { path: format!("{PURE_FOLDER}{name}"), text: text.to_owned() };
        check(&file).iter().map(Problem::to_string).collect()
    }

    fn words_found(text: &str) -> Vec<String> {
        let quoted = |message: String| message.split('`').nth(1).map(str::to_owned);
        problems("a.rs", text).into_iter().filter_map(quoted).collect()
    }

    #[test]
    fn pure_code_passes() {
        let text = "//! Not a HashMap.\nuse std::{collections::BTreeMap, time::Duration};\n\
                    const WHY: &str = \"Instant, f64, std::fs\";\nfn second(x: ((u8, u8), u8)) -> u8 { x.0.1 }";

        assert_eq!(problems("a.rs", text), Vec::<String>::new());
    }

    #[test]
    fn a_problem_names_place_and_remedy() {
        let found = problems("a.rs", "//! A.\nfn now() -> Instant { todo() }");

        assert_eq!(
            found,
            [
                "crates/scheduler/src/a.rs:2: `Instant` in the scheduler: time is an argument: take `now: Timestamp`"
            ]
        );
    }

    #[test]
    fn each_forbidden_word_is_found() {
        for (pattern, _) in FORBIDDEN {
            let text = format!("fn a() {{ x({}()) }}", pattern.concat());

            assert_eq!(words_found(&text), [pattern.concat()]);
        }
    }

    #[test]
    fn forbidden_modules_are_found_in_paths_and_in_braces() {
        let found =
            words_found("use std::fs;\nuse std::{collections::{BTreeMap, BTreeSet}, env, net::IpAddr};");

        assert_eq!(found, ["std::fs", "std::env", "std::net"]);
    }

    #[test]
    fn floats_need_a_reason_on_their_line() {
        let found = words_found(
            "const A: f64 = 0.5; // tidy: allow-float shown to people only\n\
             const B: f32 = 1; // tidy: allow-float\n\
             const C: u8 = 1.5;",
        );

        assert_eq!(found, ["f32", "1.5"]);
    }

    #[test]
    fn modules_of_tests_are_checked_and_proptest_modules_are_not() {
        let code = "{ fn a() -> HashMap { b } }";

        assert_eq!(words_found(&format!("mod tests {code}")), ["HashMap"]);
        assert_eq!(
            words_found(&format!("mod proptests {code} fn after() {{ thread::park() }}")),
            ["thread::"]
        );
        assert_eq!(problems("pool/proptests.rs", code), Vec::<String>::new());
    }

    #[test]
    fn weights_of_proptest_may_be_floats() {
        let module = "mod tests { use proptest::prop; fn a() -> HashMap { weighted(0.7) } }";

        assert_eq!(words_found(module), ["HashMap"]);
        assert_eq!(words_found(&format!("const A: u8 = 0.5; {module}")), ["0.5", "HashMap"]);
        assert_eq!(
            problems("pool/tests/model.rs", "use proptest::prop; const A: u8 = 0.7;"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn other_crates_may_read_the_clock() {
        let file =
            SourceFile { path: "crates/engine/src/a.rs".to_owned(), text: "type A = Instant;".to_owned() };

        assert_eq!(check(&file), []);
    }
}
