//! What stands in one place of a table or list: [`Cell`].

use std::fmt::Write as _;

use super::escape::push_escaped;

/// What stands in one place of a table or list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// Any text.
    Text(String),
    /// A text that is set to the right, so that digits stand below each other.
    Number(String),
    /// A text that leads to an address.
    Link { to: String, text: String },
    /// How much of something is done. Said in words too, for browsers without bars.
    Progress { done: u64, of: u64, note: String },
    /// Several, with a blank between.
    Several(Vec<Self>),
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn number(number: impl ToString) -> Self {
        Self::Number(number.to_string())
    }

    pub(crate) fn link(to: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Link { to: to.into(), text: text.into() }
    }

    /// A link to the pages of another process, at the address it reported: only an HTTP address becomes a link.
    pub(crate) fn elsewhere(page: Option<&str>, text: impl Into<String>) -> Self {
        match page.filter(|page| page.starts_with("http://") || page.starts_with("https://")) {
            Some(page) => Self::link(page, text),
            None => Self::text(text),
        }
    }

    /// What `value` gives, or nothing.
    pub(crate) fn maybe(value: Option<impl Into<String>>) -> Self {
        Self::Text(value.map(Into::into).unwrap_or_default())
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    pub(super) fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) | Self::Number(text) => push_escaped(out, text),
            Self::Link { to, text } => {
                out.push_str("<a href=\"");
                push_escaped(out, to);
                out.push_str("\">");
                push_escaped(out, text);
                out.push_str("</a>");
            }
            Self::Progress { done, of, note } => {
                // A bar of nothing would be one without an end.
                let most = (*of).max(1);
                write!(out, "<progress value=\"{done}\" max=\"{most}\"></progress> {done}/{of}")
                    .expect("a text takes whatever is written to it");
                if !note.is_empty() {
                    out.push(' ');
                    push_escaped(out, note);
                }
            }
            Self::Several(cells) => {
                for (at, cell) in cells.iter().enumerate() {
                    if at > 0 {
                        out.push(' ');
                    }
                    cell.write(out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(cell: &Cell) -> String {
        let mut out = String::new();
        cell.write(&mut out);
        out
    }

    #[test]
    fn who_says_where_its_pages_are_cannot_say_what_a_browser_does() {
        let link = Cell::elsewhere(Some("http://w:8081"), "w");

        assert_eq!(written(&link), "<a href=\"http://w:8081\">w</a>");
        assert_eq!(written(&Cell::elsewhere(Some("javascript:alert(1)"), "w")), "w");
        assert_eq!(written(&Cell::elsewhere(None, "w")), "w");
    }

    #[test]
    fn progress_is_said_in_words_too() {
        let progress = Cell::Progress { done: 3, of: 10, note: "(1 failed)".to_owned() };

        assert_eq!(written(&progress), "<progress value=\"3\" max=\"10\"></progress> 3/10 (1 failed)");
        let nothing = Cell::Progress { done: 0, of: 0, note: String::new() };
        assert_eq!(written(&nothing), "<progress value=\"0\" max=\"1\"></progress> 0/0");
    }
}
