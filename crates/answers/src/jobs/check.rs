//! Runs an action and compares its answer with the model's: [`check`].

use std::fmt::Debug;

use firesteel::prelude::*;

use super::{files, folds, keyed, orders, special};
use crate::{
    case::{Action, Case},
    faults::Folder,
    kind::{Kind, Row},
    model::Known,
    ops::Built,
    shape::Code,
};

/// Why a job is not right.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The engine returned an error, which may be allowed.
    Failed(firesteel::Error),
    /// The answer is another one.
    Wrong(String),
}

impl From<firesteel::Error> for Trouble {
    fn from(error: firesteel::Error) -> Self {
        Self::Failed(error)
    }
}

/// What a job runs on.
pub(crate) struct Setting<'a, K: Kind> {
    pub(crate) ctx: &'a Context,
    pub(crate) case: &'a Case,
    pub(crate) folder: &'a Folder,
    pub(crate) node: &'a Built<K>,
    /// Where the node is in the plan.
    pub(crate) place: usize,
    /// Tells the jobs of a case apart, and the tries of a job.
    pub(crate) name: String,
}

/// Runs an action and compares its answer with the model's.
pub(crate) fn check<K: Kind>(setting: &Setting<'_, K>, action: Action) -> Result<(), Trouble> {
    match action {
        Action::Rows(action) => orders::check(setting, action),
        Action::Fold(action) => folds::check(setting, action),
        Action::Keyed(action) => keyed::check(setting, action),
        Action::File(action) => files::check(setting, action),
        Action::TakeRowsThatPanic { most } => {
            special::take_rows_that_panic(setting, most);
            Ok(())
        }
        Action::SampleByKey { percent, seed, partitions } => {
            special::sample(setting, percent, seed, partitions)
        }
    }
}

/// Compares all rows of an RDD in as far as their order is known.
pub(super) fn compare_rows<K: Kind>(setting: &Setting<'_, K>, rows: &[Row<K>]) -> Result<(), Trouble> {
    compare_codes(setting.node, rows.iter().map(K::code).collect())
}

pub(super) fn compare_codes<K: Kind>(node: &Built<K>, mut found: Vec<Code>) -> Result<(), Trouble> {
    let mut expected: Vec<Code> = node.model.rows().collect();
    match node.model.known {
        Known::Places | Known::Order => (),
        Known::KeysInOrder { is_descending } => {
            let in_order =
                |one: &Code, two: &Code| if is_descending { one.0 >= two.0 } else { one.0 <= two.0 };
            if !found.is_sorted_by(in_order) {
                return Err(Trouble::Wrong("the keys are not in order".to_owned()));
            }
            sort_both(&mut expected, &mut found);
        }
        Known::PerKey => {
            // A stable sort by key leaves the rows of a key as they came.
            expected.sort_by_key(|row| row.0);
            found.sort_by_key(|row| row.0);
        }
        Known::Rows => sort_both(&mut expected, &mut found),
    }
    equal("rows", &expected, &found)
}

fn sort_both(one: &mut [Code], two: &mut [Code]) {
    one.sort_unstable();
    two.sort_unstable();
}

/// Compares two lists, and says where they differ first.
pub(super) fn equal<T: PartialEq + Debug>(what: &str, expected: &[T], found: &[T]) -> Result<(), Trouble> {
    if expected == found {
        return Ok(());
    }
    let place = expected.iter().zip(found).take_while(|(one, two)| one == two).count();
    Err(Trouble::Wrong(format!(
        "{what}: expected {} and found {}; the first difference is at {place}: {:?} and {:?}",
        expected.len(),
        found.len(),
        expected.get(place),
        found.get(place)
    )))
}

/// Compares two values.
pub(super) fn same<T: PartialEq + Debug>(what: &str, expected: &T, found: &T) -> Result<(), Trouble> {
    if expected == found {
        return Ok(());
    }
    Err(Trouble::Wrong(format!("{what}: expected {expected:?}, found {found:?}")))
}
