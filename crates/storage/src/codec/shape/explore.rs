//! Runs a type on made-up values until all of it was seen: [`explore`] and [`explore_values`].

use serde::de::DeserializeOwned;

use super::node::{Goal, Tree};
use super::trace::{At, Run, Stop};
use crate::codec::contain::contain;
use crate::codec::format::RowError;

/// A type is run at most so many times, and as often as this with other values of one leaf.
const RUNS_MAX: usize = 2000;
const TRIES_MAX: usize = 8;

/// How much of a type was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codec) enum Explored {
    /// Every place of it was part of a value.
    All,
    /// It refuses some of the made-up values, is too large, or asks for what the format cannot express.
    Part,
}

/// Makes values of `T`, all parts of which come up in one of them if that is possible, until `visit` returns false.
pub(in crate::codec) fn explore_values<T: DeserializeOwned>(visit: impl FnMut(&T) -> bool) -> Explored {
    let mut tree = Tree::new(Goal::Made);
    match explore::<T>(&mut tree, visit) {
        Ok(()) if tree.is_complete(Tree::ROOT) => Explored::All,
        Ok(()) | Err(_) => Explored::Part,
    }
}

/// Runs the `Deserialize` of `T` until all of it is done, or no value helps, or `visit` returns false for a value.
///
/// Fails only if the type asks for what the format cannot express.
pub(super) fn explore<T: DeserializeOwned>(
    tree: &mut Tree,
    mut visit: impl FnMut(&T) -> bool,
) -> Result<(), RowError> {
    let mut tries = Vec::new();
    for _ in 0..RUNS_MAX {
        let changes = tree.changes();
        let mut run = Run::new(tree, &tries);
        let at = At::root(&mut run);
        // The values are not the user's, so a panic about them is none either.
        let ended = contain(|| T::deserialize(at));
        let Run { last, refused, visited, .. } = run;
        if let Some(refused) = refused {
            return Err(refused);
        }
        match ended {
            Some(Ok(value)) => {
                for node in visited {
                    tree.set_made(node);
                }
                let goes_on = visit(&value);
                contain(|| drop(value));
                if !goes_on {
                    break;
                }
            }
            Some(Err(Stop::SeenBefore)) => (),
            Some(Err(Stop::Full)) => break,
            Some(Err(Stop::Refused)) | None => {
                let Some(last) = last else { break };
                tries.resize(tree.len(), 0);
                tries[last] += 1;
                if tries[last] >= TRIES_MAX {
                    break;
                }
                continue;
            }
        }
        if tree.is_complete(Tree::ROOT) || tree.changes() == changes {
            break;
        }
    }
    Ok(())
}
