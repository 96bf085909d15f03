//! Rust text as a flat list of tokens with lines, for rules that look for words in code.
//!
//! Comments are gone and string literals keep their quotes, so neither can be mistaken for code.

use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};

/// One token; brackets are tokens of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// From 1.
    pub(crate) line: usize,
    pub(crate) is_float: bool,
}

/// Cuts Rust text into tokens; the error is the lexer's own.
pub(crate) fn flatten(text: &str) -> Result<Vec<Token>, String> {
    let stream: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
    let mut tokens = Vec::new();
    push_all(stream, &mut tokens);
    Ok(tokens)
}

/// Whether the tokens from `at` on read like `pattern`.
pub(crate) fn matches_at(tokens: &[Token], at: usize, pattern: &[&str]) -> bool {
    tokens.len() >= at + pattern.len()
        && pattern.iter().zip(&tokens[at..]).all(|(expected, token)| token.text == *expected)
}

/// The place of the bracket that closes the one at `open`.
pub(crate) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => (),
        }
        if depth == 0 {
            return place;
        }
    }
    tokens.len()
}

fn push_all(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                tokens.push(Token { text: open.to_owned(), line, is_float: false });
                push_all(group.stream(), tokens);
                let line = group.span_close().start().line;
                tokens.push(Token { text: close.to_owned(), line, is_float: false });
            }
            TokenTree::Literal(literal) => {
                // In `pair.0.1` the lexer sees the number 0.1, which is two field names.
                let is_field = tokens.last().is_some_and(|before| before.text == ".");
                let is_float = !is_field && is_float(&literal);
                tokens.push(Token { text: literal.to_string(), line, is_float });
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {
                tokens.push(Token { text: tree.to_string(), line, is_float: false });
            }
        }
    }
}

fn is_float(literal: &Literal) -> bool {
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Float(_) => true,
        syn::Lit::Int(number) => matches!(number.suffix(), "f32" | "f64"),
        _ => false,
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        // Made by macros only, never by text.
        Delimiter::None => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_vanish_and_strings_keep_their_quotes() {
        let tokens = flatten("// HashMap\nlet a = \"HashMap\";").expect("valid tokens");

        let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(texts, ["let", "a", "=", "\"HashMap\"", ";"]);
        assert_eq!(tokens[0].line, 2);
    }

    #[test]
    fn tuple_fields_are_not_floats() {
        let tokens = flatten("pair.0.1 + 1.5 + 2f64 + 3").expect("valid tokens");

        let floats: Vec<&str> =
            tokens.iter().filter(|token| token.is_float).map(|token| token.text.as_str()).collect();
        assert_eq!(floats, ["1.5", "2f64"]);
    }
}
