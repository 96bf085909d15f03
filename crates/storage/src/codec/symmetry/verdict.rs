//! What was found out about a type, once: [`verdict`].

use std::any::TypeId;
use std::sync::LazyLock;

use hashbrown::HashMap;
use parking_lot::RwLock;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::compare::Comparison;
use super::mismatch::Mismatch;
use super::written::Written;
use crate::codec::contain::contain;
use crate::codec::format::{Decoder, Encoder, RowError};
use crate::codec::shape::{Explored, explore_values};

/// Whether a type reads what it writes.
#[derive(Clone, Copy, Debug)]
pub(in crate::codec) enum Verdict {
    /// Every part of it does.
    Sound,
    /// Not every part could be tried with made-up values. Compare real ones with [`compare_value`].
    Unproven,
    /// It does not. Kept for the life of the process, once for each such type.
    Refused(&'static Mismatch),
}

/// Types are compared once in a process. No lock is held while they are: it is the user's code that runs.
static VERDICTS: LazyLock<RwLock<HashMap<TypeId, Verdict>>> = LazyLock::new(RwLock::default);

/// What is known of `T`, or is found out now.
pub(in crate::codec) fn verdict<T: Serialize + DeserializeOwned + 'static>() -> Verdict {
    if is_primitive::<T>() {
        return Verdict::Sound;
    }
    let known = VERDICTS.read().get(&TypeId::of::<T>()).copied();
    known.unwrap_or_else(|| {
        let found = find_out::<T>();
        *VERDICTS.write().entry(TypeId::of::<T>()).or_insert(found)
    })
}

/// Types without fields, known when the program is compiled.
#[inline]
fn is_primitive<T: 'static>() -> bool {
    macro_rules! is_one_of {
        ($($type:ty),*) => { $(TypeId::of::<T>() == TypeId::of::<$type>())||* };
    }
    is_one_of!(
        (),
        bool,
        char,
        u8,
        u16,
        u32,
        u64,
        u128,
        usize,
        i8,
        i16,
        i32,
        i64,
        i128,
        isize,
        f32,
        f64,
        String
    )
}

#[cold]
fn find_out<T: Serialize + DeserializeOwned>() -> Verdict {
    let (mut mismatch, mut all_compared) = (None, true);
    let explored = explore_values::<T>(|value| match compare(value) {
        Compared::Same => true,
        Compared::Unclear => {
            all_compared = false;
            true
        }
        Compared::Differs(found) => {
            mismatch = Some(found);
            false
        }
    });
    match (mismatch, explored) {
        (Some(mismatch), _) => Verdict::Refused(Box::leak(Box::new(mismatch))),
        (None, Explored::All) if all_compared => Verdict::Sound,
        (None, Explored::All | Explored::Part) => Verdict::Unproven,
    }
}

/// Compares what a real value writes with what is read; an error is how they differ.
#[cold]
pub(in crate::codec) fn compare_value<T: Serialize + DeserializeOwned>(value: &T) -> Result<(), RowError> {
    match compare(value) {
        Compared::Differs(mismatch) => Err(RowError::Asymmetric { mismatch: Box::new(mismatch) }),
        Compared::Same | Compared::Unclear => Ok(()),
    }
}

/// What a comparison found.
enum Compared {
    Same,
    /// The value cannot be written, or not be read back, for other reasons than its fields.
    Unclear,
    Differs(Mismatch),
}

/// Writes a value and reads it back. A panic of the user's code comes again when that happens in earnest, where it is
/// expected.
fn compare<T: Serialize + DeserializeOwned>(value: &T) -> Compared {
    let (mut bytes, mut written) = (Vec::new(), Written::default());
    let is_written =
        contain(|| Encoder::observed(&mut bytes, &mut written).append_value(value).is_ok()) == Some(true);
    if !is_written && !written.is_cut {
        return Compared::Unclear;
    }
    let mut comparison = Comparison::new(&written, bytes.len());
    let read = contain(|| {
        let mut decoder = Decoder::observed(&bytes, &mut comparison);
        let value = decoder.take_value::<T>()?;
        Ok((value, decoder.finish().is_ok()))
    });
    let is_read = match read {
        Some(Ok((value, is_read))) => {
            contain(|| drop(value));
            is_read
        }
        // What no bytes can express has an error of its own, when a value is read.
        Some(Err(RowError::NotSelfDescribing | RowError::NotNamed)) => return Compared::Unclear,
        Some(Err(_)) | None => false,
    };
    match comparison.into_mismatch(is_read) {
        Some(mismatch) => Compared::Differs(mismatch),
        None if is_written && is_read => Compared::Same,
        None => Compared::Unclear,
    }
}
