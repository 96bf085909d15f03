//! The attribute macro of Firesteel, `#[firesteel::main]`.
//!
//! The macro only rewrites a function; everything that happens at run time is the `firesteel` crate's. Use it by
//! that crate's name: the code it makes calls `::firesteel`.

mod main_fn;

use proc_macro::TokenStream;

/// Makes a function that takes a `Context` the program's `main`.
///
/// The function takes one parameter, a `Context` or `&Context`, and returns anything that a `main` may return. What
/// is made of it gets the context from the environment (`FIRESTEEL_MASTER`, `FIRESTEEL_SETTINGS` and others; see
/// `Conf::from_env`). The arguments of the program are left to it.
///
/// It also makes `firesteel::Allocator`, which counts what each task holds, the program's global allocator. A program with
/// an allocator of its own, or that wants none, writes `#[firesteel::main(allocator = false)]`; then operators estimate what
/// their tasks hold.
///
/// ```ignore
/// use firesteel::prelude::*;
///
/// #[firesteel::main]
/// fn main(ctx: Context) -> Result<()> {
///     let sum = ctx.parallelize(1..=10, 2).sum()?;
///     println!("{sum}");
///     Ok(())
/// }
/// ```
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    main_fn::expand(arguments.into(), item.into()).into()
}
