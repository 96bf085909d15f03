//! Functions of the user: a type that ships for free, and the environment that travels with it.

use std::{fmt, marker::PhantomData, ptr::NonNull, sync::Arc};

use firesteel_types::RddId;

use super::{Frozen, Ship, ShipError, Thawing, id_bytes};
use crate::{data::Data, ship::Blame};

/// A user's function with its environment and the operator that it belongs to.
///
/// Holds no value of `F`: a closure that captures nothing, or a `fn` item, has exactly one value, which takes no
/// space. What it needs at run time is `env`, passed to it as its first argument. A `Func` exists only where one was
/// made from a value of `F`, in this process or in that of the driver: its shipped form names the type, and only the
/// same type is built from it.
pub struct Func<E, F> {
    env: Arc<E>,
    operator: RddId,
    function: PhantomData<fn() -> F>,
}

impl<E, F> Clone for Func<E, F> {
    fn clone(&self) -> Self {
        Self { env: self.env.clone(), operator: self.operator, function: PhantomData }
    }
}

impl<E, F: Copy + 'static> Func<E, F> {
    /// Takes `f` for the operator that makes `operator`.
    ///
    /// Does not compile when `f` captures variables.
    pub fn new(env: Arc<E>, _f: F, operator: RddId) -> Self {
        captures_nothing::<F>();
        Self { env, operator, function: PhantomData }
    }

    /// The function itself.
    #[inline(always)]
    pub fn function(&self) -> F {
        conjure::<F>()
    }

    /// The environment.
    #[inline(always)]
    pub fn env(&self) -> &E {
        &self.env
    }

    /// What runs `call`, and has this operator named in the error if it panics.
    #[inline(always)]
    pub fn blame(&self) -> Blame {
        Blame::new(self.operator)
    }
}

/// Does not compile when values of `F` hold anything.
#[track_caller]
#[inline(always)]
pub fn captures_nothing<F>() {
    const {
        assert!(
            size_of::<F>() == 0,
            "this closure captures variables of its surroundings, which cannot travel to executors: pass them with \
             `.with(env)` and take them as the closure's first argument"
        );
    }
}

/// The one value of a function type that takes no space.
#[inline(always)]
fn conjure<F: Copy + 'static>() -> F {
    const { assert!(size_of::<F>() == 0, "only functions that capture nothing can be conjured") }
    // SAFETY: a dangling pointer is good for reading a type without bytes, and `F: Copy` has no drop glue. The value
    // is not invented either: this is called with a `Func` at hand. `Func::new` was given a value of `F`, in this
    // process, or in the driver's, which runs the same image: `thaw` compares the type that `freeze` wrote.
    unsafe { NonNull::<F>::dangling().read() }
}

impl<E, F> fmt::Debug for Func<E, F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Func<{}>", std::any::type_name::<F>())
    }
}

impl<E: Data, F: 'static> Ship for Func<E, F> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.function(id_bytes::<F>());
        out.value(&*self.env)?;
        out.value(&self.operator)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        if input.function()? != id_bytes::<F>() {
            return Err(ShipError::OtherFunction { type_name: std::any::type_name::<F>() });
        }
        Ok(Self { env: Arc::new(input.value()?), operator: input.value()?, function: PhantomData })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Copy)]
    enum Void {}

    #[test]
    fn a_function_that_was_never_given_is_not_conjured() {
        let mut frozen = Frozen::default();
        Func::new(Arc::new(()), |(): &(), x: u32| x + 1, RddId(1)).freeze(&mut frozen).unwrap();
        let bytes = frozen.into_bytes();

        let refused = Func::<(), Void>::thaw(&mut Thawing::new(&bytes)).err().unwrap();

        assert!(refused.to_string().contains("another function than"), "{refused}");
    }

    #[test]
    fn a_function_that_was_given_comes_back() {
        fn again<F: Copy + 'static>(f: F) -> F {
            let mut frozen = Frozen::default();
            Func::new(Arc::new(7_u32), f, RddId(1)).freeze(&mut frozen).unwrap();
            let func = Func::<u32, F>::thaw(&mut Thawing::new(&frozen.into_bytes())).unwrap();
            assert_eq!(*func.env(), 7);
            func.function()
        }

        assert_eq!(again(|x: u32| x + 1)(2), 3);
    }
}
