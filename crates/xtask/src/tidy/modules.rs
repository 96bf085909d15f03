//! Modules: each file opens by saying what it is for, and a `mod.rs` is a table of contents, not a place for logic.

use syn::Item;
use syn::spanned::Spanned;

use super::problem::Problem;
use super::sizes::is_cfg_test;
use super::source::SourceFile;

/// Whether a Rust file fails to open with its module doc.
pub(crate) fn check_opening(file: &SourceFile) -> Option<Problem> {
    let opens_with_doc = file.text.trim_start().starts_with("//!");
    (!opens_with_doc).then(|| {
        Problem::in_file(
            &file.path,
            "does not open with `//!`: say its purpose, its main type, what it does not do",
        )
    })
}

/// Whether a `mod.rs` holds more than docs, `mod` lines and re-exports; names the first such item.
pub(crate) fn check_contents(file: &SourceFile, syntax: &syn::File) -> Option<Problem> {
    if file.name() != "mod.rs" {
        return None;
    }
    let mut logic = syntax.items.iter().filter(|item| !belongs_in_mod_rs(item));
    let first = logic.next()?;
    let message = format!(
        "{} items of logic in a mod.rs, which holds only docs, `mod` lines and re-exports: move them to a file of their own",
        1 + logic.count()
    );
    Some(Problem::at(&file.path, first.span().start().line, message))
}

fn belongs_in_mod_rs(item: &Item) -> bool {
    match item {
        Item::Use(_) => true,
        Item::Mod(module) => module.content.is_none() || is_cfg_test(&module.attrs),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: text.to_owned() }
    }

    fn contents(path: &str, text: &str) -> Option<String> {
        let syntax = syn::parse_file(text).expect("valid Rust");
        check_contents(&file(path, text), &syntax).map(|problem| problem.to_string())
    }

    #[test]
    fn a_file_opens_with_its_doc() {
        assert_eq!(check_opening(&file("a.rs", "//! Counts.\nfn a() {}")), None);
        assert!(check_opening(&file("a.rs", "use b;\n//! Counts.")).is_some());
        assert!(check_opening(&file("a.rs", "/// Counts.\nfn a() {}")).is_some());
    }

    #[test]
    fn a_mod_rs_lists_and_re_exports() {
        let text = "//! Pool.\n#![allow(unused)]\nmod tree;\npub mod share;\npub use tree::Tree;\n\
                    #[cfg(test)]\nmod tests { fn a() {} }";

        assert_eq!(contents("pool/mod.rs", text), None);
    }

    #[test]
    fn a_mod_rs_with_logic_fails() {
        let text = "//! Pool.\nmod tree;\nconst A: u8 = 1;\nmod inner { fn a() {} }";

        let found = contents("pool/mod.rs", text);

        let message = "2 items of logic in a mod.rs, which holds only docs, `mod` lines and re-exports: \
                       move them to a file of their own";
        assert_eq!(found, Some(format!("pool/mod.rs:3: {message}")));
        assert_eq!(contents("pool/tree.rs", text), None);
    }
}
