//! Settings as lines of text: the form of files and of the variable `FIRESTEEL_SETTINGS`.
//!
//! A line is `key value` or `key=value`. Blanks around key and value do not count; blank lines and lines that begin
//! with `#` are passed over. Values are taken as they stand: no quotes, no escapes, no continued lines.

/// The settings in `text`, each with the number of its line, counted from 1.
pub(super) fn parse(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let end = line.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(line.len());
        let (key, rest) = line.split_at(end);
        let rest = rest.trim_start();
        let value = rest.strip_prefix('=').unwrap_or(rest).trim_start();
        Some((index + 1, key, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_ends_at_a_blank_or_an_equals_sign() {
        let text = "a 1\nb=2\nc = 3\n\td\t 4 \ne  =  5 6 = 7\nf==8\r\ng #9\nh\ni=";

        let lines: Vec<_> = parse(text).collect();

        assert_eq!(
            lines,
            [
                (1, "a", "1"),
                (2, "b", "2"),
                (3, "c", "3"),
                (4, "d", "4"),
                (5, "e", "5 6 = 7"),
                (6, "f", "=8"),
                (7, "g", "#9"),
                (8, "h", ""),
                (9, "i", ""),
            ]
        );
    }

    #[test]
    fn blank_lines_and_comments_are_passed_over_and_counted() {
        let lines: Vec<_> = parse("\n# a 1\n   #b 2\n\nc 3\n").collect();

        assert_eq!(lines, [(5, "c", "3")]);
    }
}
