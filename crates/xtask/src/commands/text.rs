//! Finds commands in Markdown: the lines of `sh` blocks, cut into words as a shell would.

use std::fmt;

/// A command, and where it is documented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Documented {
    pub(crate) path: String,
    /// From 1.
    pub(crate) line: usize,
    /// The variables that are set for this command.
    pub(crate) variables: Vec<(String, String)>,
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
}

impl Documented {
    /// The words as one line.
    pub(crate) fn shown(&self) -> String {
        self.words.join(" ")
    }

    /// Whether the command begins with these words.
    pub(crate) fn begins_with(&self, words: &str) -> bool {
        let mut own = self.words.iter();
        words.split(' ').all(|word| own.next().is_some_and(|own| own == word))
    }
}

impl fmt::Display for Documented {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: `{}`", self.path, self.line, self.shown())
    }
}

/// The commands of one file, in their order.
pub(crate) fn find(path: &str, text: &str) -> Vec<Documented> {
    let (mut found, mut in_block) = (Vec::new(), false);
    for (index, line) in text.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            in_block = !in_block && language.trim() == "sh";
        } else if in_block {
            for words in commands(line) {
                found.extend(documented(path, index + 1, words));
            }
        }
    }
    found
}

/// Takes the variables off the front; nothing is left of a line that only sets some without `export`.
fn documented(path: &str, line: usize, mut words: Vec<String>) -> Option<Documented> {
    let is_variable = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        })
    };
    let count = words.iter().take_while(|word| is_variable(word)).count();
    let rest = words.split_off(count);
    let variables = words.iter().filter_map(|word| word.split_once('='));
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    (!rest.is_empty()).then(|| Documented { path: path.to_owned(), line, variables, words: rest })
}

/// The commands of a line, which `&&` joins; a pipe stays one command with its `|` as a word.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    for word in words(line) {
        match (word.as_str(), commands.last_mut()) {
            ("&&", _) | (_, None) => commands.push(Vec::new()),
            (_, Some(command)) => command.push(word),
        }
    }
    commands.retain(|command| !command.is_empty());
    commands
}

/// The words of a line up to its comment, without the quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(open)) if c == open => quote = None,
            (' ' | '\t', None) => words.extend(word.take()),
            ('#', None) if word.is_none() => break,
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_in_shell_blocks_only() {
        let text = "```rust\ncargo()\n```\n`cargo test`\n```sh\n\ncargo test  # all\n# a remark\nA_1='x y' cargo run\n```\n";

        let found = find("a.md", text);

        let shown: Vec<String> = found.iter().map(Documented::to_string).collect();
        assert_eq!(shown, ["a.md:7: `cargo test`", "a.md:9: `cargo run`"]);
        assert_eq!(found[1].variables, [("A_1".to_owned(), "x y".to_owned())]);
    }

    #[test]
    fn a_line_may_have_several_commands_and_quoted_words() {
        let found = find("a.md", "```sh\ncargo build -p a && target/release/a run 'local[2] #1' \"\"\n```\n");

        let words: Vec<Vec<String>> = found.into_iter().map(|one| one.words).collect();
        assert_eq!(
            words,
            [vec!["cargo", "build", "-p", "a"], vec!["target/release/a", "run", "local[2] #1", ""]]
        );
    }

    #[test]
    fn a_command_begins_with_whole_words() {
        let found = find("a.md", "```sh\ncargo xtask tests\n```\n");

        assert!(found[0].begins_with("cargo xtask"));
        assert!(!found[0].begins_with("cargo xtask test"));
    }
}
