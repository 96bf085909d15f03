//! Sizes: files and functions a reader can hold in their head.
//!
//! Clippy counts the code lines of a function and cannot look into macros; this rule counts every line from the
//! signature to the closing brace, also inside `proptest!` blocks, and gives test functions more room.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use super::problem::Problem;
use super::source::SourceFile;

const FILE_LINES_MAX: usize = 700;
const FILE_LINES_WARN: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
const TEST_FUNCTION_LINES_MAX: usize = 120;

/// What counts as source; documents and data may be as long as they need to be.
const SOURCE_EXTENSIONS: &[&str] = &["rs", "py", "sh", "js", "css", "html"];

/// Whether the file is too long.
pub(crate) fn check_file(file: &SourceFile) -> Option<Problem> {
    let lines = source_lines(file)?;
    (lines > FILE_LINES_MAX).then(|| {
        Problem::in_file(&file.path, format!("{lines} lines, at most {FILE_LINES_MAX}: split it by concept"))
    })
}

/// Whether the file is on its way to being too long.
pub(crate) fn warn_file(file: &SourceFile) -> Option<Problem> {
    let lines = source_lines(file)?;
    (FILE_LINES_WARN..=FILE_LINES_MAX).contains(&lines).then(|| {
        Problem::in_file(&file.path, format!("{lines} lines: split it before it reaches {FILE_LINES_MAX}"))
    })
}

fn source_lines(file: &SourceFile) -> Option<usize> {
    let extension = file.extension()?;
    SOURCE_EXTENSIONS.contains(&extension).then(|| file.text.lines().count())
}

/// Reports the functions of a file that are too long.
pub(crate) fn check_functions(file: &SourceFile, syntax: &syn::File) -> Vec<Problem> {
    let mut finder = Finder { path: &file.path, in_test: file.is_test(), problems: Vec::new() };
    finder.visit_file(syntax);
    finder.problems
}

struct Finder<'a> {
    path: &'a str,
    in_test: bool,
    problems: Vec<Problem>,
}

impl Finder<'_> {
    fn measure(&mut self, name: &str, first: Span, last: Span, is_test: bool) {
        let start = first.start().line;
        let lines = last.end().line + 1 - start;
        let lines_max = if is_test { TEST_FUNCTION_LINES_MAX } else { FUNCTION_LINES_MAX };
        if lines > lines_max {
            let message = format!("function `{name}` has {lines} lines, at most {lines_max}: split it");
            self.problems.push(Problem::at(self.path, start, message));
        }
    }

    fn measure_item(&mut self, attrs: &[syn::Attribute], sig: &syn::Signature, block: &syn::Block) {
        let is_test = self.in_test || attrs.iter().any(|attr| attr.path().is_ident("test"));
        self.measure(&sig.ident.to_string(), sig.fn_token.span, block.brace_token.span.close(), is_test);
    }

    /// Finds `fn name … { … }` in tokens that no parser knows.
    fn measure_tokens(&mut self, tokens: TokenStream, is_test: bool) {
        let mut open: Option<(String, Span)> = None;
        let mut trees = tokens.into_iter().peekable();
        while let Some(tree) = trees.next() {
            match tree {
                TokenTree::Ident(word) if word == "fn" => {
                    if let Some(TokenTree::Ident(name)) = trees.peek() {
                        open = Some((name.to_string(), word.span()));
                    }
                }
                TokenTree::Group(group) => {
                    if group.delimiter() == Delimiter::Brace
                        && let Some((name, first)) = open.take()
                    {
                        self.measure(&name, first, group.span_close(), is_test);
                    }
                    self.measure_tokens(group.stream(), is_test);
                }
                TokenTree::Punct(mark) if mark.as_char() == ';' => open = None,
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => (),
            }
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let outside = self.in_test;
        self.in_test |= is_cfg_test(&module.attrs);
        visit::visit_item_mod(self, module);
        self.in_test = outside;
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure_item(&function.attrs, &function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure_item(&function.attrs, &function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.measure_item(&function.attrs, &function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let is_test = self.in_test || call.path.is_ident("proptest");
        self.measure_tokens(call.tokens.clone(), is_test);
    }
}

/// Whether the attributes hold `#[cfg(test)]`.
pub(crate) fn is_cfg_test(attrs: &[syn::Attribute]) -> bool {
    attrs.iter().any(|attr| {
        attr.path().is_ident("cfg") && attr.parse_args::<syn::Ident>().is_ok_and(|what| what == "test")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: String) -> SourceFile {
        SourceFile { path: path.to_owned(), text }
    }

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    fn problems(path: &str, text: String) -> Vec<String> {
        let syntax = syn::parse_file(&text).expect("valid Rust");
        check_functions(&file(path, text), &syntax).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn files_warn_from_500_lines_and_fail_after_700() {
        let verdicts = [499, 500, 700, 701].map(|lines| {
            let file = file("a.rs", "\n".repeat(lines));
            (warn_file(&file).is_some(), check_file(&file).is_some())
        });

        assert_eq!(verdicts, [(false, false), (true, false), (true, false), (false, true)]);
    }

    #[test]
    fn documents_may_be_long() {
        assert_eq!(check_file(&file("docs/a.md", "\n".repeat(5000))), None);
    }

    #[test]
    fn functions_fail_after_70_lines() {
        assert_eq!(problems("a.rs", function(70)), Vec::<String>::new());
        assert_eq!(
            problems("a.rs", function(71)),
            ["a.rs:1: function `long` has 71 lines, at most 70: split it"]
        );
    }

    #[test]
    fn methods_are_measured_like_functions() {
        let texts = ["impl A", "trait A"].map(|head| format!("{head} {{\n{}}}\n", function(71)));

        for text in texts {
            assert_eq!(
                problems("a.rs", text),
                ["a.rs:2: function `long` has 71 lines, at most 70: split it"]
            );
        }
    }

    #[test]
    fn functions_of_tests_fail_after_120_lines() {
        let module = |lines| format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(lines));

        assert_eq!(problems("a.rs", module(120)), Vec::<String>::new());
        assert_eq!(problems("a.rs", module(121)).len(), 1);
        assert_eq!(problems("a/tests.rs", function(120)), Vec::<String>::new());
        assert_eq!(problems("a.rs", format!("#[test]\n{}", function(120))), Vec::<String>::new());
    }

    #[test]
    fn functions_inside_macros_are_measured() {
        let block = |lines| format!("proptest! {{\n#[test]\n{}}}\n", function(lines));

        assert_eq!(problems("a.rs", block(120)), Vec::<String>::new());
        assert_eq!(
            problems("a.rs", block(121)),
            ["a.rs:3: function `long` has 121 lines, at most 120: split it"]
        );
    }
}
