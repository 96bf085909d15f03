//! What a rule reports: a place and a sentence.

use std::fmt;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    path: String,
    /// From 1; 0 stands for the file as a whole.
    line: usize,
    message: String,
}

impl Problem {
    /// A problem at a line, counted from 1.
    pub(crate) fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }

    /// A problem of a file as a whole.
    pub(crate) fn in_file(path: &str, message: impl Into<String>) -> Self {
        Self::at(path, 0, message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}: {}", self.path, self.message),
            line => write!(out, "{}:{line}: {}", self.path, self.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_shows_its_place_the_way_editors_read_it() {
        let shown = [Problem::at("a.rs", 3, "bad"), Problem::in_file("a.rs", "bad")].map(|p| p.to_string());

        assert_eq!(shown, ["a.rs:3: bad", "a.rs: bad"]);
    }
}
