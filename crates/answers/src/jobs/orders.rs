//! Actions that give rows.

use firesteel::prelude::*;

use super::{Setting, Trouble, compare_rows, equal, same};
use crate::{
    case::RowAction,
    kind::Kind,
    model::{Known, Model},
    shape::Code,
};

pub(super) fn check<K: Kind>(setting: &Setting<'_, K>, action: RowAction) -> Result<(), Trouble> {
    let (rdd, model) = (&setting.node.rdd, &setting.node.model);
    match action {
        RowAction::CollectPartitions => {
            let partitions = rdd.collect_partitions()?;
            let found: Vec<Vec<Code>> =
                partitions.iter().map(|rows| rows.iter().map(K::code).collect()).collect();
            if model.known == Known::Places {
                return equal("partitions", &model.partitions, &found);
            }
            compare_rows(setting, &partitions.into_iter().flatten().collect::<Vec<_>>())
        }
        RowAction::LocalIterator => {
            compare_rows(setting, &rdd.to_local_iterator().collect::<firesteel::Result<Vec<_>>>()?)
        }
        RowAction::First => first::<K>(rdd, model),
        RowAction::Take { most } => {
            let found: Vec<Code> = rdd.take(most)?.iter().map(K::code).collect();
            same("how many are taken", &model.len().min(most), &found.len())?;
            match model.known {
                Known::Places | Known::Order => {
                    equal("the first rows", &model.rows().take(most).collect::<Vec<_>>(), &found)
                }
                Known::PerKey | Known::KeysInOrder { .. } | Known::Rows => part_of(model, found),
            }
        }
        RowAction::MinMax if model.len() == 0 => match rdd.min() {
            Err(firesteel::Error::Empty { .. }) => Ok(()),
            Err(error) => Err(error.into()),
            Ok(row) => Err(Trouble::Wrong(format!("the least of no rows is {row:?}"))),
        },
        RowAction::MinMax => {
            let found = (K::code(&rdd.min()?), K::code(&rdd.max()?));
            let expected = (model.rows().min(), model.rows().max());
            same("least and largest row", &expected, &(Some(found.0), Some(found.1)))
        }
        RowAction::Top { most } => {
            let mut expected: Vec<Code> = model.rows().collect();
            expected.sort_unstable_by(|one, two| two.cmp(one));
            expected.truncate(most);
            equal("the largest rows", &expected, &rdd.top(most)?.iter().map(K::code).collect::<Vec<_>>())
        }
        RowAction::TakeOrdered { most } => {
            let mut expected: Vec<Code> = model.rows().collect();
            expected.sort_unstable();
            expected.truncate(most);
            let found: Vec<Code> = rdd.take_ordered(most)?.iter().map(K::code).collect();
            equal("the least rows", &expected, &found)
        }
        RowAction::TakeSample { most, seed } => {
            let found = rdd.take_sample(Replacement::Without, most, seed)?;
            same("how many are sampled", &model.len().min(most), &found.len())?;
            part_of(model, found.iter().map(K::code).collect())
        }
        RowAction::Collect => compare_rows(setting, &rdd.collect()?),
    }
}

fn first<K: Kind>(rdd: &BoxRdd<(K::Key, K::Value)>, model: &Model) -> Result<(), Trouble> {
    match rdd.first() {
        Ok(row) => match model.known {
            Known::Places | Known::Order => same("the first row", &model.rows().next(), &Some(K::code(&row))),
            Known::PerKey | Known::KeysInOrder { .. } | Known::Rows => part_of(model, vec![K::code(&row)]),
        },
        Err(firesteel::Error::Empty { .. }) if model.len() == 0 => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether all of `found` are rows of the model, none more often than there.
pub(super) fn part_of(model: &Model, mut found: Vec<Code>) -> Result<(), Trouble> {
    let mut all: Vec<Code> = model.rows().collect();
    all.sort_unstable();
    found.sort_unstable();
    let mut all = all.into_iter();
    match found.into_iter().find(|row| !all.any(|other| other == *row)) {
        Some(row) => Err(Trouble::Wrong(format!("{row:?} is not there, or not so often"))),
        None => Ok(()),
    }
}
