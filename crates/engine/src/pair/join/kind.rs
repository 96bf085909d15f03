//! What the kinds of join give for a key.

use crate::data::Data;

/// A kind of join: what becomes of a pair, and of a row without a partner.
pub trait JoinKind<V, W>: Send + Sync + 'static {
    /// The values of a row of the result.
    type Row: Data;
    /// Whether rows of the left side without a partner are in the result.
    const KEEPS_LEFT: bool;
    /// Whether rows of the right side without a partner are in the result.
    const KEEPS_RIGHT: bool;

    /// A row of the left side and a row of the right side.
    fn both(left: V, right: W) -> Self::Row;
    /// A row of the left side without a partner; none if such rows are not kept.
    fn left(left: V) -> Option<Self::Row>;
    /// A row of the right side without a partner; none if such rows are not kept.
    fn right(right: W) -> Option<Self::Row>;
}

/// The kind of [`join`](crate::JoinRdd::join): pairs only.
#[derive(Debug)]
pub enum Inner {}

impl<V: Data, W: Data> JoinKind<V, W> for Inner {
    type Row = (V, W);
    const KEEPS_LEFT: bool = false;
    const KEEPS_RIGHT: bool = false;

    #[inline]
    fn both(left: V, right: W) -> (V, W) {
        (left, right)
    }

    fn left(_: V) -> Option<(V, W)> {
        None
    }

    fn right(_: W) -> Option<(V, W)> {
        None
    }
}

/// The kind of [`left_outer_join`](crate::JoinRdd::left_outer_join).
#[derive(Debug)]
pub enum LeftOuter {}

impl<V: Data, W: Data> JoinKind<V, W> for LeftOuter {
    type Row = (V, Option<W>);
    const KEEPS_LEFT: bool = true;
    const KEEPS_RIGHT: bool = false;

    #[inline]
    fn both(left: V, right: W) -> Self::Row {
        (left, Some(right))
    }

    #[inline]
    fn left(left: V) -> Option<Self::Row> {
        Some((left, None))
    }

    fn right(_: W) -> Option<Self::Row> {
        None
    }
}

/// The kind of [`right_outer_join`](crate::JoinRdd::right_outer_join).
#[derive(Debug)]
pub enum RightOuter {}

impl<V: Data, W: Data> JoinKind<V, W> for RightOuter {
    type Row = (Option<V>, W);
    const KEEPS_LEFT: bool = false;
    const KEEPS_RIGHT: bool = true;

    #[inline]
    fn both(left: V, right: W) -> Self::Row {
        (Some(left), right)
    }

    fn left(_: V) -> Option<Self::Row> {
        None
    }

    #[inline]
    fn right(right: W) -> Option<Self::Row> {
        Some((None, right))
    }
}

/// The kind of [`full_outer_join`](crate::JoinRdd::full_outer_join).
#[derive(Debug)]
pub enum FullOuter {}

impl<V: Data, W: Data> JoinKind<V, W> for FullOuter {
    type Row = (Option<V>, Option<W>);
    const KEEPS_LEFT: bool = true;
    const KEEPS_RIGHT: bool = true;

    #[inline]
    fn both(left: V, right: W) -> Self::Row {
        (Some(left), Some(right))
    }

    #[inline]
    fn left(left: V) -> Option<Self::Row> {
        Some((Some(left), None))
    }

    #[inline]
    fn right(right: W) -> Option<Self::Row> {
        Some((None, Some(right)))
    }
}

/// A kind of join with its sides exchanged, for when the left side is built and the right side streams past
/// it.
pub(super) struct Flipped<J>(J);

impl<V, W, J: JoinKind<V, W>> JoinKind<W, V> for Flipped<J> {
    type Row = J::Row;
    const KEEPS_LEFT: bool = J::KEEPS_RIGHT;
    const KEEPS_RIGHT: bool = J::KEEPS_LEFT;

    #[inline]
    fn both(left: W, right: V) -> J::Row {
        J::both(right, left)
    }

    #[inline]
    fn left(left: W) -> Option<J::Row> {
        J::right(left)
    }

    #[inline]
    fn right(right: V) -> Option<J::Row> {
        J::left(right)
    }
}
