//! What `#[firesteel::main]` makes of a function.
//!
//! ```text
//! fn main(ctx: Context) -> R { … }
//!
//! install_allocator! {}                          // not with `allocator = false`
//!
//! fn main() -> ExitCode {
//!     fn main(ctx: Context) -> R { … }
//!     run_main(|context| main(context))
//! }
//! ```
//!
//! Only the signature is parsed; the body goes through as it stands. Each token we add has the span of what it would
//! be to blame for, so that the compiler's own errors (a parameter of another type, a return type that is no
//! `Termination`) point at the user's code.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Attribute, Error, FnArg, Ident, LitBool, Result, ReturnType, Safety, Signature, Token, Type, Visibility,
    parse::{Parse, ParseStream},
    spanned::Spanned as _,
};

const ARGUMENTS: &str = "`#[firesteel::main]` takes `allocator = false` only, which leaves the program its own allocator: \
                         settings come from the environment";
const FORM: &str = "write `fn main(ctx: Context) -> Result<()>`";

/// The program's `main`, or the compile error why there is none.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let expanded = syn::parse2::<Arguments>(arguments)
        .and_then(|arguments| syn::parse2::<MainFn>(item)?.expand(&arguments));
    expanded.unwrap_or_else(|error| {
        let error = error.to_compile_error();
        // With a `main` in its place the compiler does not complain about a missing one as well.
        quote!(#error fn main() {})
    })
}

/// What stands in the attribute's brackets.
struct Arguments {
    /// Whether the counting allocator becomes the program's; so by default.
    installs_allocator: bool,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.is_empty() {
            return Ok(Self { installs_allocator: true });
        }
        let whole = input.fork().parse::<TokenStream>()?;
        let argument = (input.parse::<Ident>(), input.parse::<Token![=]>(), input.parse::<LitBool>());
        match argument {
            (Ok(name), Ok(_), Ok(value)) if name == "allocator" && input.is_empty() => {
                Ok(Self { installs_allocator: value.value })
            }
            _ => {
                // What is left is of no interest any more, and must not be complained about as well.
                input.parse::<TokenStream>()?;
                Err(Error::new_spanned(whole, ARGUMENTS))
            }
        }
    }
}

/// A function whose body is not looked into.
struct MainFn {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    signature: Signature,
    body: TokenStream,
}

impl Parse for MainFn {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse().map_err(|error: Error| {
            Error::new(error.span(), format!("`#[firesteel::main]` stands on a function: {FORM}"))
        })?;
        Ok(Self { attributes, visibility, signature, body: input.parse()? })
    }
}

impl MainFn {
    fn expand(self, arguments: &Arguments) -> Result<TokenStream> {
        self.check()?;
        let Self { attributes, visibility, signature, body } = self;
        let parameter = parameter_type(&signature)?;
        // A condition decides about the whole; all else is about the function as the user wrote it.
        let (conditions, attributes): (Vec<_>, Vec<_>) =
            attributes.into_iter().partition(|attribute| attribute.path().is_ident("cfg"));
        let context = match parameter {
            Type::Reference(reference) => {
                let span = at(reference.elem.span());
                quote_spanned!(span=> &context)
            }
            by_value => quote_spanned!(at(by_value.span())=> context),
        };
        let returned = match &signature.output {
            ReturnType::Default => signature.ident.span(),
            ReturnType::Type(_, returned) => returned.span(),
        };
        let call = quote_spanned!(at(returned)=> ::firesteel::__private::run_main(|context| main(#context)));
        let allocator = arguments.installs_allocator.then(|| {
            quote! {
                #(#conditions)*
                ::firesteel::__private::install_allocator! {}
            }
        });
        Ok(quote! {
            #allocator

            #(#conditions)*
            #visibility fn main() -> ::std::process::ExitCode {
                #(#attributes)*
                #signature #body

                #call
            }
        })
    }

    /// Refuses what cannot be a program's `main`, each with the token that is to blame.
    fn check(&self) -> Result<()> {
        let Signature { constness, asyncness, safety, abi, ident, generics, inputs, variadic, .. } =
            &self.signature;
        if ident != "main" {
            return Err(refuse(ident, "the function that starts a program is called `main`"));
        }
        if asyncness.is_some() {
            return Err(refuse(
                asyncness,
                "`main` cannot be async: actions block, and their `_async` twins can be awaited anywhere",
            ));
        }
        if !matches!(safety, Safety::Default) {
            return Err(refuse(safety, "`main` cannot be unsafe"));
        }
        if constness.is_some() {
            return Err(refuse(constness, "`main` cannot be const"));
        }
        if abi.is_some() {
            return Err(refuse(abi, "`main` cannot have an ABI of its own"));
        }
        if generics.lt_token.is_some() {
            return Err(refuse(generics, "`main` cannot be generic"));
        }
        if generics.where_clause.is_some() {
            return Err(refuse(&generics.where_clause, "`main` cannot have a where clause"));
        }
        if variadic.is_some() {
            return Err(refuse(variadic, "`main` takes the context only"));
        }
        if let Some(second) = inputs.iter().nth(1) {
            return Err(refuse(
                second,
                "`main` takes the context only: read arguments with `std::env::args`",
            ));
        }
        Ok(())
    }
}

/// The type of the one parameter.
fn parameter_type(signature: &Signature) -> Result<&Type> {
    match signature.inputs.first() {
        Some(FnArg::Typed(parameter)) => Ok(&parameter.ty),
        Some(receiver @ FnArg::Receiver(_)) => {
            Err(refuse(receiver, format!("`main` is not a method: {FORM}")))
        }
        None => {
            let message = format!("`main` takes the context: {FORM}");
            Err(Error::new(signature.paren_token.span.join(), message))
        }
    }
}

fn refuse(tokens: impl ToTokens, message: impl std::fmt::Display) -> Error {
    Error::new_spanned(tokens, message)
}

/// Where the user's tokens are, but with names that the user's code cannot catch.
fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

#[cfg(test)]
mod tests;
