//! The expansion of functions given as text, and where errors stand in them.

use super::*;

fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap()
}

/// As most tests read it: the function alone.
fn with_own_allocator(main: MainFn) -> Result<TokenStream> {
    main.expand(&Arguments { installs_allocator: false })
}

fn made(text: &str) -> String {
    syn::parse2::<MainFn>(tokens(text)).and_then(with_own_allocator).unwrap().to_string()
}

fn same(text: &str) -> String {
    tokens(text).to_string()
}

/// The message of the error, and the text it stands at.
fn refused(text: &str) -> (String, String) {
    let Err(error) = syn::parse2::<MainFn>(tokens(text)).and_then(with_own_allocator) else {
        panic!("`{text}` is taken");
    };
    let at = error.span().source_text().unwrap_or_default();
    (error.to_string(), at)
}

#[test]
fn a_function_that_takes_the_context_becomes_main() {
    assert_eq!(
        made("fn main(ctx: Context) -> Result<()> { ctx.run()?; Ok(()) }"),
        same(
            "fn main() -> ::std::process::ExitCode {
                fn main(ctx: Context) -> Result<()> { ctx.run()?; Ok(()) }
                ::firesteel::__private::run_main(|context| main(context))
            }"
        )
    );
}

#[test]
fn a_reference_to_the_context_is_lent() {
    assert_eq!(
        made("fn main(Context { .. }: &firesteel::Context) {}"),
        same(
            "fn main() -> ::std::process::ExitCode {
                fn main(Context { .. }: &firesteel::Context) {}
                ::firesteel::__private::run_main(|context| main(&context))
            }"
        )
    );
}

#[test]
fn attributes_stay_with_the_function_but_visibility_and_conditions_go_outside() {
    assert_eq!(
        made("/// Counts.\n #[cfg(unix)] #[allow(unused)] pub(crate) fn main(mut ctx: Context) {}"),
        same(
            "#[cfg(unix)] pub(crate) fn main() -> ::std::process::ExitCode {
                /// Counts.
                #[allow(unused)]
                fn main(mut ctx: Context) {}
                ::firesteel::__private::run_main(|context| main(context))
            }"
        )
    );
}

#[test]
fn a_body_is_not_looked_into() {
    let made = made("fn main(ctx: Context) { syntax from the future @ 1 }");

    assert!(made.contains(&same("{ syntax from the future @ 1 }")), "{made}");
}

#[test]
fn what_cannot_be_main_is_refused_where_it_stands() {
    let form = "write `fn main(ctx: Context) -> Result<()>`";
    let cases = [
        (
            "async fn main(ctx: Context) {}",
            "`main` cannot be async: actions block, and their `_async` twins can be awaited anywhere"
                .to_owned(),
            "async",
        ),
        ("fn main() {}", format!("`main` takes the context: {form}"), "()"),
        (
            "fn main(ctx: Context, args: Vec<String>) {}",
            "`main` takes the context only: read arguments with `std::env::args`".to_owned(),
            "args: Vec<String>",
        ),
        ("fn main<T>(ctx: T) {}", "`main` cannot be generic".to_owned(), "<T>"),
        ("fn main<'a>(ctx: &'a Context) {}", "`main` cannot be generic".to_owned(), "<'a>"),
        (
            "fn main(ctx: Context) where Context: Send {}",
            "`main` cannot have a where clause".to_owned(),
            "where Context: Send",
        ),
        ("fn main(&self) {}", format!("`main` is not a method: {form}"), "&self"),
        ("unsafe fn main(ctx: Context) {}", "`main` cannot be unsafe".to_owned(), "unsafe"),
        ("const fn main(ctx: Context) {}", "`main` cannot be const".to_owned(), "const"),
        (
            "extern \"C\" fn main(ctx: Context) {}",
            "`main` cannot have an ABI of its own".to_owned(),
            "extern \"C\"",
        ),
        (
            "fn start(ctx: Context) {}",
            "the function that starts a program is called `main`".to_owned(),
            "start",
        ),
        ("struct Main;", format!("`#[firesteel::main]` stands on a function: {form}"), "struct"),
    ];

    for (text, message, at) in cases {
        assert_eq!(refused(text), (message, at.to_owned()), "{text}");
    }
}

#[test]
fn the_allocator_is_installed_under_the_conditions_of_main_unless_the_program_has_its_own() {
    let main = "#[cfg(unix)] fn main(ctx: Context) {}";
    let installed = same("#[cfg(unix)] ::firesteel::__private::install_allocator! {}");

    assert!(expand(TokenStream::new(), tokens(main)).to_string().starts_with(&installed));
    assert!(expand(tokens("allocator = true"), tokens(main)).to_string().starts_with(&installed));
    assert_eq!(expand(tokens("allocator = false"), tokens(main)).to_string(), made(main));
}

#[test]
fn other_arguments_are_refused() {
    for text in ["threads = 4", "allocator", "allocator = no", "allocator = false, threads = 4"] {
        let Err(error) = syn::parse2::<Arguments>(tokens(text)) else { panic!("`{text}` is taken") };

        assert_eq!(error.span().source_text().as_deref(), Some(text));
        assert_eq!(error.to_string(), ARGUMENTS);
    }
}

#[test]
fn a_refused_function_leaves_an_error_and_an_empty_main() {
    let made = expand(TokenStream::new(), tokens("fn main() {}")).to_string();

    assert!(made.contains("compile_error"), "{made}");
    assert!(made.ends_with(&same("fn main() {}")), "{made}");
}

#[test]
fn a_wrong_parameter_or_result_is_to_blame_for_the_call() {
    let text = "fn main(ctx: Wrong) -> Odd {}";
    let main = syn::parse2::<MainFn>(tokens(text)).and_then(with_own_allocator).unwrap();

    let spans = spans_of(main, &["context", "run_main"]);

    assert_eq!(spans, ["run_main at Odd", "context at Odd", "context at Wrong"]);
}

/// Each of our own words in the order of the text, and the user's text that the compiler shows for it.
fn spans_of(tokens: TokenStream, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Group(group) => found.extend(spans_of(group.stream(), words)),
            proc_macro2::TokenTree::Ident(ident) if words.contains(&ident.to_string().as_str()) => {
                found.push(format!("{ident} at {}", ident.span().source_text().unwrap_or_default()));
            }
            _ => {}
        }
    }
    found
}
