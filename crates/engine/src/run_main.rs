//! What `#[firesteel::main]` calls.

use std::process::{ExitCode, Termination};

use crate::{Conf, Context};

/// Starts a context with the settings of the environment and hands it to the program.
///
/// The environment is the one that `firesteel submit` or the user sets; without a word the program runs on every core of
/// this machine. The program's arguments are its own.
pub fn run_main<R: Termination>(program: impl FnOnce(Context) -> R) -> ExitCode {
    let started = Conf::from_env().map_err(crate::Error::from);
    match started.and_then(|conf| Context::builder().conf(conf).start()) {
        Ok(ctx) => program(ctx).report(),
        Err(error) => Err::<(), _>(error).report(),
    }
}
