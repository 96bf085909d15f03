//! The attribute as the compiler sees it, with this crate in the place of `firesteel`.

extern crate self as firesteel;

use std::{
    fmt,
    process::{ExitCode, Termination},
    sync::Mutex,
};

use firesteel_macros::main;

/// What the functions below were called with.
static CALLS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What a `main` is given.
#[derive(Debug)]
pub struct Context {
    name: &'static str,
}

/// A program has one allocator; the functions below are parts of one program.
macro_rules! install_allocator {
    () => {};
}

#[doc(hidden)]
pub mod __private {
    use super::{Context, ExitCode, Termination};

    pub(crate) use install_allocator;

    pub fn run_main<R: Termination>(f: fn(Context) -> R) -> ExitCode {
        f(Context { name: "given" }).report()
    }
}

struct Failed;

impl fmt::Debug for Failed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("failed on purpose")
    }
}

fn call(main: fn() -> ExitCode) -> (String, bool) {
    let code = main();
    let name = CALLS.lock().expect("no test panics with it").pop().expect("the function was called");
    (name, format!("{code:?}") == format!("{:?}", ExitCode::SUCCESS))
}

fn record(ctx: &Context, shape: &str) {
    CALLS.lock().expect("no test panics with it").push(format!("{shape} {}", ctx.name));
}

mod by_value {
    use super::*;

    #[main]
    pub fn main(ctx: Context) {
        record(&ctx, "by value");
    }
}

mod by_reference {
    use super::*;

    #[main]
    pub fn main(ctx: &Context) -> Result<(), Failed> {
        record(ctx, "by reference");
        if ctx.name.is_empty() { Err(Failed) } else { Ok(()) }
    }
}

mod failing {
    use super::*;

    /// Fails.
    #[main]
    #[expect(unused_variables, reason = "attributes stay with the function")]
    pub fn main(ctx @ Context { name }: Context) -> Result<(), Failed> {
        record(&ctx, "failing");
        Err(Failed)
    }
}

mod conditional {
    #[firesteel_macros::main]
    #[cfg(any())]
    pub fn main(ctx: NoSuchType) {}
}

mod with_code {
    use super::*;

    #[main]
    pub fn main(context: Context) -> ExitCode {
        // A name that the macro uses too.
        let main = "shadowed";
        record(&context, main);
        ExitCode::from(3)
    }
}

#[test]
fn every_shape_of_main_is_called_with_the_context_and_reports() {
    assert_eq!(call(by_value::main), ("by value given".to_owned(), true));
    assert_eq!(call(by_reference::main), ("by reference given".to_owned(), true));
    assert_eq!(call(failing::main), ("failing given".to_owned(), false));
    assert_eq!(call(with_code::main), ("shadowed given".to_owned(), false));
}
