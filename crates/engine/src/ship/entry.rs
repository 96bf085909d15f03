//! Entry points: functions named in a way that another process of the same executable understands.

use std::{marker::PhantomData, mem, ptr, sync::atomic::AtomicU8};

use super::{Frozen, Ship, ShipError, Thawing};

/// Where distances are measured from. A static and not a function: a small function may be copied into every
/// codegen unit and then has several addresses.
static ANCHOR: AtomicU8 = AtomicU8::new(0);

/// A function that rebuilds a value from its shipped form.
pub type ThawFn<T> = fn(&mut Thawing<'_>) -> Result<T, ShipError>;

/// A [`ThawFn`] as its distance from a static in the same image: the same number in every process that runs the
/// same executable, wherever the system loads it.
pub struct Entry<T> {
    distance: u64,
    gives: PhantomData<fn() -> T>,
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Entry<T> {}

impl<T> Entry<T> {
    /// The entry of `thaw`.
    pub fn new(thaw: ThawFn<T>) -> Self {
        let address = (thaw as *const ()).expose_provenance();
        Self { distance: address.wrapping_sub(anchor()) as u64, gives: PhantomData }
    }

    /// The function.
    pub fn get(self) -> ThawFn<T> {
        let address = anchor().wrapping_add(self.distance as usize);
        let function = ptr::with_exposed_provenance::<()>(address);
        // SAFETY: entries are made from a `ThawFn<T>` only (`new`), or read by `Ship::thaw` from what `freeze` of the
        // same type wrote in a process that runs the same image: peers are authenticated and their build is compared
        // before anything is thawed. In the same image the function lies at the same distance from the anchor.
        unsafe { mem::transmute::<*const (), ThawFn<T>>(function) }
    }
}

impl<T> Ship for Entry<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(&self.distance)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self { distance: input.value()?, gives: PhantomData })
    }
}

fn anchor() -> usize {
    (&raw const ANCHOR).expose_provenance()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thaw_one(input: &mut Thawing<'_>) -> Result<u32, ShipError> {
        input.value::<u32>().map(|n| n + 1)
    }

    #[test]
    fn an_entry_finds_its_function_again_after_a_journey() {
        let mut frozen = Frozen::default();
        Entry::new(thaw_one as ThawFn<u32>).freeze(&mut frozen).unwrap();
        41_u32.freeze(&mut frozen).unwrap();
        let bytes = frozen.into_bytes();

        let mut input = Thawing::new(&bytes);
        let entry: Entry<u32> = Entry::thaw(&mut input).unwrap();

        assert_eq!(entry.get()(&mut input).unwrap(), 42);
    }
}
