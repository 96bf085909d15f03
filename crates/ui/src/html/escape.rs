//! Text that goes into HTML, and into addresses.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Adds `text` escaped, so that a browser takes none of it for markup, in elements and in quoted attributes.
pub(super) fn push_escaped(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Browsers take these for mistakes in the page, and some do not show them.
            '\t' | '\n' => out.push(character),
            control if control.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            other => out.push(other),
        }
    }
}

/// The address `path?name=value&…`, with the values escaped.
pub(crate) fn link(path: &str, query: &[(&str, &str)]) -> String {
    let mut link = path.to_owned();
    for (at, (name, value)) in query.iter().enumerate() {
        link.push(if at == 0 { '?' } else { '&' });
        link.push_str(name);
        link.push('=');
        link.extend(utf8_percent_encode(value, NON_ALPHANUMERIC));
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        let mut out = String::new();

        push_escaped(&mut out, "<script>alert(\"a\" & 'b')</script>\n\u{0}é");

        assert_eq!(out, "&lt;script&gt;alert(&quot;a&quot; &amp; &#39;b&#39;)&lt;/script&gt;\n\u{fffd}é");
    }

    #[test]
    fn values_stay_values_in_an_address() {
        assert_eq!(
            link("/log", &[("appId", "a&b=c/ü"), ("offset", "3")]),
            "/log?appId=a%26b%3Dc%2F%C3%BC&offset=3"
        );
        assert_eq!(link("/", &[]), "/");
    }
}
