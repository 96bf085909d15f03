//! The language of input paths: lists, alternatives and globs. [`split_list`], [`alternatives`], [`Segment`].
//!
//! `a,b` is a list. `{a,b}` stands for both, may be nested and may hold slashes. Within one name, `*` is any text, `?`
//! any character, `[a-c]` one of a range, `[!a]` and `[^a]` any other. `\` takes the next character as it is. These are
//! words only: nothing here looks at a file.

use glob::{MatchOptions, Pattern};

use super::error::IoError;

/// More alternatives than this are surely a slip of the pen.
const ALTERNATIVES_MAX: usize = 10_000;

const MATCH_OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: false,
    require_literal_leading_dot: false,
};

/// Splits a list at its commas, except for those inside braces and those behind a backslash.
pub(crate) fn split_list(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => (),
        }
    }
    items.push(&text[start..]);
    items
}

/// Writes out the alternatives in braces: `{a,b}c` gives `ac` and `bc`.
pub(crate) fn alternatives(pattern: &str) -> Result<Vec<String>, IoError> {
    let mut done = Vec::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(text) = open.pop() {
        match first_braces(&text).map_err(|reason| bad(pattern, reason))? {
            None => done.push(text),
            Some((start, end)) => {
                let (before, after) = (&text[..start], &text[end + 1..]);
                let choices = split_list(&text[start + 1..end]).into_iter().rev();
                open.extend(choices.map(|choice| format!("{before}{choice}{after}")));
            }
        }
        if done.len() + open.len() > ALTERNATIVES_MAX {
            return Err(bad(pattern, "it has more than 10,000 alternatives"));
        }
    }
    Ok(done)
}

/// One name of a path: as it is, or as a glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// The name itself.
    Literal(String),
    /// Any name that fits.
    Glob(Pattern),
}

impl Segment {
    /// Reads one segment of the path `pattern`, which is named in errors.
    pub(crate) fn parse(segment: &str, pattern: &str) -> Result<Self, IoError> {
        let mut plain = String::new();
        let mut glob = String::new();
        let mut is_glob = false;
        let mut chars = segment.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' => {
                    let taken = chars.next().ok_or_else(|| bad(pattern, "nothing follows its last `\\`"))?;
                    plain.push(taken);
                    glob.push_str(&Pattern::escape(&taken.to_string()));
                    continue;
                }
                '*' => {
                    is_glob = true;
                    // Two stars would cross folders; within one name they say no more than one.
                    while chars.next_if_eq(&'*').is_some() {}
                }
                '?' => is_glob = true,
                '[' => {
                    is_glob = true;
                    glob.push('[');
                    if chars.next_if_eq(&'^').is_some() {
                        glob.push('!');
                    }
                    continue;
                }
                _ => (),
            }
            plain.push(c);
            glob.push(c);
        }
        if !is_glob {
            return Ok(Self::Literal(plain));
        }
        Pattern::new(&glob).map(Self::Glob).map_err(|error| bad(pattern, error.msg))
    }

    /// Whether a name found in a folder fits a glob.
    ///
    /// A hidden name does only when the glob itself begins with the same character, as `_*` does.
    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Literal(literal) => literal == name,
            Self::Glob(glob) => {
                let asked_for = !is_hidden(name) || glob.as_str().chars().next() == name.chars().next();
                asked_for && glob.matches_with(name, MATCH_OPTIONS)
            }
        }
    }
}

/// Whether a name is hidden from readers of a folder, as in Hadoop: `_SUCCESS`, `.part.crc`.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with(['_', '.'])
}

/// Finds the first braces that are not escaped, as the places of `{` and its `}`.
fn first_braces(text: &str) -> Result<Option<(usize, usize)>, &'static str> {
    let mut start = None;
    let mut depth = 0_usize;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => {
                start = start.or(Some(at));
                depth += 1;
            }
            '}' if depth == 0 => return Err("it has a `}` without a `{`"),
            '}' => {
                depth -= 1;
                if let (0, Some(start)) = (depth, start) {
                    return Ok(Some((start, at)));
                }
            }
            _ => (),
        }
    }
    if start.is_some() { Err("it has a `{` without a `}`") } else { Ok(None) }
}

fn bad(pattern: &str, reason: &str) -> IoError {
    IoError::BadPattern { pattern: pattern.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_outside_of_braces() {
        let cases: [(&str, &[&str]); 5] = [
            ("a", &["a"]),
            ("a,b/c", &["a", "b/c"]),
            ("{a,b},c", &["{a,b}", "c"]),
            (r"a\,b,c", &[r"a\,b", "c"]),
            ("a,,b", &["a", "", "b"]),
        ];

        for (text, items) in cases {
            assert_eq!(split_list(text), items, "{text}");
        }
    }

    #[test]
    fn braces_are_written_out_in_order() {
        let cases: [(&str, &[&str]); 6] = [
            ("a", &["a"]),
            ("a{b,c}", &["ab", "ac"]),
            ("{a,b}{c,d}", &["ac", "ad", "bc", "bd"]),
            ("{a,b{c,d/e}}f", &["af", "bcf", "bd/ef"]),
            ("a{,b}", &["a", "ab"]),
            (r"\{a,b\}", &[r"\{a,b\}"]),
        ];

        for (pattern, expected) in cases {
            assert_eq!(alternatives(pattern).unwrap(), expected, "{pattern}");
        }
    }

    #[test]
    fn a_glob_fits_whole_names() {
        let cases: [(&str, &[&str], &[&str]); 9] = [
            ("*", &["a", "a.txt"], &["_a", ".a"]),
            ("**", &["a"], &[".a"]),
            ("a*.txt", &["a.txt", "ab.txt"], &["a.txt.gz", "ba.txt"]),
            ("a?", &["ab", "aü"], &["a", "abc"]),
            ("[a-c]1", &["a1", "c1"], &["d1", "A1"]),
            ("[!a]", &["b"], &["a"]),
            ("[^a]", &["b"], &["a"]),
            ("_*", &["_a"], &["a", ".a"]),
            (r"\**", &["*", "*a"], &["a"]),
        ];

        for (glob, fitting, others) in cases {
            let segment = Segment::parse(glob, glob).unwrap();
            for name in fitting {
                assert!(segment.matches(name), "{glob} {name}");
            }
            for name in others {
                assert!(!segment.matches(name), "{glob} {name}");
            }
        }
    }

    #[test]
    fn an_escaped_segment_is_literal() {
        assert_eq!(Segment::parse(r"a\*\[b", "").unwrap(), Segment::Literal("a*[b".to_owned()));
        assert_eq!(Segment::parse("a]b", "").unwrap(), Segment::Literal("a]b".to_owned()));
    }

    #[test]
    fn bad_patterns_are_named_with_the_reason() {
        let refuse = |pattern: &str| {
            let parsed = alternatives(pattern).and_then(|texts| Segment::parse(&texts[0], pattern));
            parsed.unwrap_err().to_string()
        };

        assert_eq!(refuse("a{b"), "cannot use `a{b` as a pattern: it has a `{` without a `}`");
        assert_eq!(refuse("a}"), "cannot use `a}` as a pattern: it has a `}` without a `{`");
        assert_eq!(refuse("a["), "cannot use `a[` as a pattern: invalid range pattern");
        assert_eq!(refuse("a\\"), "cannot use `a\\` as a pattern: nothing follows its last `\\`");
        let many = "{a,b}".repeat(14);
        assert!(refuse(&many).ends_with("it has more than 10,000 alternatives"));
    }
}
