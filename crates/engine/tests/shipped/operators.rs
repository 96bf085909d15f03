//! Operators of an application's own that read what they did not write.

use firesteel::{
    BoxRdd, Filter, KeyPartitioner, Map, PartitionId, RddHandle, Ship, Union,
    prelude::*,
    ship::{Frozen, Func, ShipError, Thawing},
};

use crate::support::each_backend;

/// Writes a few numbers, and reads an operator of type `P` from them.
struct Misread<P> {
    handle: RddHandle,
    part: Option<P>,
}

impl<P> Clone for Misread<P> {
    fn clone(&self) -> Self {
        Self { handle: self.handle.clone(), part: None }
    }
}

impl<P: Ship> Ship for Misread<P> {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.handle.freeze(out)?;
        for number in [0_u64, 1, 0x5555_5555, u64::MAX, 1 << 40, 0] {
            out.value(&number)?;
        }
        out.value(&"text that is as long as an entry point and a function together are".to_owned())
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let handle = RddHandle::thaw(input)?;
        let part = P::thaw(input)?;
        for _ in 0..6 {
            let _ = input.value::<u64>();
        }
        Ok(Self { handle, part: Some(part) })
    }
}

impl<P: Ship + Send + Sync + 'static> Rdd for Misread<P> {
    type Item = u64;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, _: PartitionId, _: &'a TaskContext) -> impl Iterator<Item = u64> + 'a {
        std::iter::once(u64::from(self.part.is_some()))
    }
}

#[track_caller]
fn misread<P: Ship + Send + Sync + 'static>(ctx: &Context, expected: &str) {
    if !is_shipped(ctx) {
        return;
    }
    let handle = ctx.range_into(0..1_u64, 1).handle().derive("misread").build();

    let error = Misread::<P> { handle, part: None }.collect().unwrap_err().to_string();

    assert!(error.contains(expected), "{error}");
}

/// Whether tasks run from the shipped form.
fn is_shipped(ctx: &Context) -> bool {
    !crate::support::runs_here(ctx) || ctx.conf().get(firesteel::settings::LOCAL_SHIP)
}

/// The type of an RDD that maps by a closure.
fn misread_map<F>(ctx: &Context, _f: F)
where
    F: Fn(u64) -> u64 + Copy + Send + Sync + 'static,
{
    misread::<Map<firesteel::Range<u64>, (), F>>(ctx, "cannot deserialize");
    misread::<Filter<BoxRdd<u64>, (), F>>(ctx, "a value stands where an entry point should");
    misread::<Func<(), F>>(ctx, "a value stands where a function should");
}

#[derive(Clone, Copy)]
enum Void {}

#[test]
fn an_operator_that_reads_another_from_its_own_values_is_told_so() {
    each_backend(|ctx| {
        misread::<BoxRdd<u64>>(ctx, "a value stands where an entry point should");
        misread::<KeyPartitioner<String>>(ctx, "a value stands where an entry point should");
        misread::<Func<(), Void>>(ctx, "a value stands where a function should");
        misread_map(ctx, |x| x + 1);
    });
}

/// Reads less than it wrote, in front of another operator.
#[derive(Clone)]
struct Forgetful {
    handle: RddHandle,
}

impl Ship for Forgetful {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.handle.freeze(out)?;
        out.value(&7_u64)
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        Ok(Self { handle: RddHandle::thaw(input)? })
    }
}

impl Rdd for Forgetful {
    type Item = u64;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, _: PartitionId, _: &'a TaskContext) -> impl Iterator<Item = u64> + 'a {
        0..3
    }
}

#[test]
fn what_an_operator_leaves_is_not_read_as_the_next_one() {
    each_backend(|ctx| {
        let forgetful =
            Forgetful { handle: ctx.range_into(0..1_u64, 1).handle().derive("forgetful").build() };

        let before = forgetful.union(&ctx.range_into(0..2_u64, 1).boxed()).collect();
        let alone = forgetful.boxed().collect();

        for answer in [before, alone] {
            match answer {
                Ok(rows) => assert!(!is_shipped(ctx) && rows.starts_with(&[0, 1, 2])),
                Err(error) => {
                    assert!(is_shipped(ctx) && error.to_string().contains("`thaw` must read"), "{error}")
                }
            }
        }
    });
}

/// An operator that was written as one type is not read as another.
#[derive(Clone)]
struct Exchanged {
    handle: RddHandle,
    rows: Option<BoxRdd<u64>>,
}

impl Ship for Exchanged {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        self.handle.freeze(out)?;
        self.rows.as_ref().map_or(Ok(()), |rows| rows.freeze(out))
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let handle = RddHandle::thaw(input)?;
        drop(BoxRdd::<String>::thaw(input)?);
        Ok(Self { handle, rows: None })
    }
}

impl Rdd for Exchanged {
    type Item = u64;

    fn handle(&self) -> &RddHandle {
        &self.handle
    }

    fn compute<'a>(&'a self, _: PartitionId, _: &'a TaskContext) -> impl Iterator<Item = u64> + 'a {
        std::iter::empty()
    }
}

#[test]
fn an_entry_point_for_rows_of_another_type_is_refused() {
    each_backend(|ctx| {
        let rows = ctx.range_into(0..4_u64, 1).boxed();
        let handle = rows.handle().derive("exchanged").build();

        let answer = Exchanged { handle, rows: Some(rows) }.union(&ctx.range_into(0..1, 1)).collect();

        match answer {
            Ok(rows) => assert!(!is_shipped(ctx) && rows == [0]),
            Err(error) => assert!(error.to_string().contains("no way to build"), "{error}"),
        }
    });
}

/// The type behind a union that was never made.
#[test]
fn a_union_of_boxed_rdds_is_not_made_of_values() {
    each_backend(|ctx| {
        misread::<Union<BoxRdd<u64>, BoxRdd<u64>>>(ctx, "a value stands where an entry point should")
    });
}
