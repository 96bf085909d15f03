//! Words that must not stay behind: notes to oneself, debug prints, names of the place where the code was written.
//!
//! The words are put together from halves, so that this file passes its own rule.

use super::problem::Problem;
use super::source::SourceFile;
use super::tokens;

/// Notes, found as whole words in any text.
const NOTES: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];

/// Paths of a workplace, found where a path begins: `$HOME` and a folder of that name behind it are fine.
const PLACES: &[&str] = &[concat!("/wo", "rk/"), concat!("../sha", "red")];

/// Checks the lines of one text file.
pub(crate) fn check(file: &SourceFile) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for word in NOTES.iter().filter(|word| has_word(line, word)) {
            let message = format!("`{word}` stands in the text: do it now, or open an issue");
            problems.push(Problem::at(&file.path, index + 1, message));
        }
        for place in PLACES.iter().filter(|place| has_path(line, place)) {
            let message = format!("`{place}` is a path of one machine, which readers do not have");
            problems.push(Problem::at(&file.path, index + 1, message));
        }
    }
    problems
}

/// Finds debug prints in Rust code; a file that is not Rust enough for the lexer is reported by other rules.
pub(crate) fn check_debug_prints(file: &SourceFile) -> Vec<Problem> {
    let tokens = tokens::flatten(&file.text).unwrap_or_default();
    let places = (0..tokens.len()).filter(|&at| tokens::matches_at(&tokens, at, &["dbg", "!"]));
    let report = |at: usize| Problem::at(&file.path, tokens[at].line, "`dbg!` left in the code");
    places.map(report).collect()
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(is_word_char) && !line[at + word.len()..].starts_with(is_word_char)
    })
}

fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(is_word_char))
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '}'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: String) -> SourceFile {
        SourceFile { path: "a.rs".to_owned(), text }
    }

    #[test]
    fn clean_text_passes() {
        let text = "mktemp a.XXXXXX\n$HOME/work/app\n${HOME}/work/app\nsrc/worker/mod.rs\nmastodon shared\n";

        assert_eq!(check(&file(text.to_owned())), []);
    }

    #[test]
    fn notes_are_found_as_words() {
        for word in NOTES {
            let problems = check(&file(format!("fine\n// {word}: later\n// my{word}s\n")));

            let message = format!("`{word}` stands in the text: do it now, or open an issue");
            assert_eq!(problems, [Problem::at("a.rs", 2, message)]);
        }
    }

    #[test]
    fn workplace_paths_are_found() {
        for place in PLACES {
            let problems = check(&file(format!("see `{place}a`\n")));

            let message = format!("`{place}` is a path of one machine, which readers do not have");
            assert_eq!(problems, [Problem::at("a.rs", 1, message)]);
        }
    }

    #[test]
    fn debug_prints_are_found_in_code_only() {
        let problems = check_debug_prints(&file("// dbg!(a)\nlet b = \"dbg!(a)\";\ndbg!(c);".to_owned()));

        assert_eq!(problems, [Problem::at("a.rs", 3, "`dbg!` left in the code")]);
    }
}
