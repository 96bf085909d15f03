//! Entry points: functions named in a way that another process of the same executable understands.

use std::{any::TypeId, fmt, mem::offset_of};

use super::{Frozen, Image, Ship, ShipError, Thawing, id_bytes, image::anchor};

/// A function that rebuilds a value from its shipped form.
pub type ThawFn<T> = fn(&mut Thawing<'_>) -> Result<T, ShipError>;

/// A way to rebuild a `T`: its function becomes an [`Entry`].
pub trait Thaw<T> {
    /// Builds the value from what follows the entry.
    fn thaw(input: &mut Thawing<'_>) -> Result<T, ShipError>;
}

/// A [`ThawFn`] that travels: as the distance of its record from a static in the same image, which is the same number
/// in every process that runs the same executable, wherever the system loads it.
///
/// Bytes may be wrong, so a distance is not believed. The other side looks for a record at that place, which tells what
/// it builds, and uses the function only if that is what is asked for.
pub struct Entry<T: 'static>(&'static Record<T>);

/// A constant of the executable, one for each function that can be an entry.
#[repr(C)]
struct Record<T> {
    mark: [u8; 16],
    gives: TypeId,
    thaw: ThawFn<T>,
}

/// How a record begins. Read together with the id of a type, so that the same bytes elsewhere in the image do not count.
const MARK: [u8; 16] = *b"firesteel entry\0";

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Entry<T> {}

impl<T: 'static> Entry<T> {
    /// The entry of the function of `W`.
    pub fn of<W: Thaw<T>>() -> Self {
        Self(const { &Record { mark: MARK, gives: TypeId::of::<T>(), thaw: W::thaw } })
    }

    /// Builds a value from what follows the entry.
    pub fn build(self, input: &mut Thawing<'_>) -> Result<T, ShipError> {
        (self.0.thaw)(input)
    }

    /// The record at `address`, if there is one, and one that gives a `T`.
    fn at(image: &Image, address: usize) -> Option<Self> {
        const { assert!(offset_of!(Record<T>, gives) == 16 && offset_of!(Record<T>, thaw) == 32) }
        if !address.is_multiple_of(align_of::<Record<T>>()) {
            return None;
        }
        let found = image.bytes(address, size_of::<Record<T>>())?;
        if found[..16] != MARK || found[16..32] != id_bytes::<T>() {
            return None;
        }
        // SAFETY: the place is aligned, lies in memory of the image that never changes, and begins with the mark and
        // the id of `T`. Only records have these behind each other: nothing else puts an id of a type behind the mark.
        // A record with the id of `T` is a `Record<T>`, whose function gives a `T` whichever way it was made for.
        let record = unsafe { &*std::ptr::with_exposed_provenance::<Record<T>>(address) };
        Some(Self(record))
    }
}

impl<T: 'static> fmt::Debug for Entry<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Entry<{}>", std::any::type_name::<T>())
    }
}

impl<T: 'static> Ship for Entry<T> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        let address = (&raw const *self.0).expose_provenance();
        let image = Image::own().map_err(|reason| ShipError::Image { reason })?;
        if Self::at(image, address).is_none() {
            let reason = "the constants of the operators are not in the read-only part of the engine's image: link the \
                          application and the engine into one file, with RELRO"
                .to_owned();
            return Err(ShipError::Image { reason });
        }
        out.entry(address.wrapping_sub(anchor()) as u64);
        Ok(())
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let address = anchor().wrapping_add(input.entry()? as usize);
        let image = Image::own().map_err(|reason| ShipError::Image { reason })?;
        Self::at(image, address).ok_or(ShipError::NoEntry { type_name: std::any::type_name::<T>() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct PlusOne;

    impl Thaw<u32> for PlusOne {
        fn thaw(input: &mut Thawing<'_>) -> Result<u32, ShipError> {
            input.value::<u32>().map(|n| n + 1)
        }
    }

    fn frozen() -> Vec<u8> {
        let mut frozen = Frozen::default();
        Entry::of::<PlusOne>().freeze(&mut frozen).unwrap();
        41_u32.freeze(&mut frozen).unwrap();
        frozen.into_bytes()
    }

    #[test]
    fn an_entry_finds_its_function_again_after_a_journey() {
        let bytes = frozen();
        let mut input = Thawing::new(&bytes);

        let entry: Entry<u32> = Entry::thaw(&mut input).unwrap();

        assert_eq!(entry.build(&mut input).unwrap(), 42);
        input.finish().unwrap();
    }

    #[test]
    fn an_entry_for_another_type_is_refused() {
        let bytes = frozen();

        let refused = Entry::<i32>::thaw(&mut Thawing::new(&bytes)).err().unwrap();

        assert_eq!(refused.to_string(), "the bytes name no way to build i32: they are damaged");
    }

    #[test]
    fn no_other_place_of_the_image_is_an_entry() {
        let image = Image::own().unwrap();
        let right = (&raw const *Entry::<u32>::of::<PlusOne>().0).addr();
        let records =
            |range: std::ops::Range<usize>| range.filter(|place| Entry::<u32>::at(image, *place).is_some());

        assert!(records(right - 4096..right + 4096).eq([right]));
    }
}
