//! Making a failing case smaller.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::{
    case::{Backend, Case, KindName, Memory, Narrow, Op, Plan, RowByRow, Source},
    kind::Bits,
    model::{Model, fits, fits_pairing},
    watch::{Outcome, Runner},
};

/// How long a case is made smaller.
const TIME_MAX: Duration = Duration::from_secs(120);

/// The smallest case that was found to fail too, with what is wrong in it.
pub(crate) fn shrink(case: Case, what: String) -> Result<(Case, String)> {
    let until = Instant::now() + TIME_MAX;
    let mut runner = Runner::new(false);
    let mut smallest = (case, what);
    'smaller: while Instant::now() < until {
        for candidate in smaller(&smallest.0) {
            if Instant::now() >= until {
                break 'smaller;
            }
            if let Outcome::Failed(what) = runner.run(&candidate)? {
                smallest = (candidate, what);
                continue 'smaller;
            }
        }
        break;
    }
    Ok(smallest)
}

/// Cases that are a step smaller, the boldest steps first.
fn smaller(case: &Case) -> Vec<Case> {
    let mut found = Vec::new();
    for job in 0..case.jobs.len() {
        if case.jobs.len() > 1 {
            let mut fewer = case.clone();
            fewer.jobs.remove(job);
            found.push(fewer);
        }
        if case.jobs[job].before.is_some() {
            let mut calmer = case.clone();
            calmer.jobs[job].before = None;
            found.push(calmer);
        }
        if case.jobs[job].during.is_some() {
            let mut calmer = case.clone();
            calmer.jobs[job].during = None;
            found.push(calmer);
        }
    }
    let plans = smaller_plans(&case.plan);
    found.extend(plans.into_iter().map(|plan| Case { plan, ..case.clone() }));
    let simpler = match case.backend {
        Backend::Cluster => vec![Backend::Local, Backend::Shipped],
        Backend::Shipped => vec![Backend::Local],
        Backend::Local => vec![],
    };
    found.extend(simpler.into_iter().map(|backend| Case { backend, ..case.clone() }));
    if case.memory != Memory::Ample {
        found.push(Case { memory: Memory::Ample, ..case.clone() });
    }
    if case.kind != KindName::Plain {
        found.push(Case { kind: KindName::Plain, ..case.clone() });
    }
    found.retain(|case| is_determined(&case.plan, case.kind.bits()).is_some());
    found
}

/// Trees with one node less, or with fewer rows or partitions in one place.
fn smaller_plans(plan: &Plan) -> Vec<Plan> {
    match plan {
        Plan::Source(source) => smaller_sources(source).into_iter().map(Plan::Source).collect(),
        Plan::One(op, parent) => {
            let mut found = vec![(**parent).clone()];
            let with = |parent| Plan::One(op.clone(), Box::new(parent));
            found.extend(smaller_plans(parent).into_iter().map(with));
            if let Op::Narrow(Narrow::Rows(RowByRow::Boxed { depth: 2.. })) = op {
                let shallow = Op::Narrow(Narrow::Rows(RowByRow::Boxed { depth: 1 }));
                found.push(Plan::One(shallow, parent.clone()));
            }
            found
        }
        Plan::Two(pairing, left, right) => {
            let mut found = vec![(**left).clone(), (**right).clone()];
            let with_left = |left| Plan::Two(*pairing, Box::new(left), right.clone());
            let with_right = |right| Plan::Two(*pairing, left.clone(), Box::new(right));
            found.extend(smaller_plans(left).into_iter().map(with_left));
            found.extend(smaller_plans(right).into_iter().map(with_right));
            found
        }
    }
}

fn smaller_sources(source: &Source) -> Vec<Source> {
    let mut found = Vec::new();
    let rows = [source.rows / 8, source.rows / 2, source.rows.saturating_sub(1)];
    found.extend(
        rows.into_iter().filter(|rows| *rows < source.rows).map(|rows| Source { rows, ..source.clone() }),
    );
    let partitions = [1, source.partitions.saturating_sub(1)];
    let fewer = partitions.into_iter().filter(|partitions| (1..source.partitions).contains(partitions));
    found.extend(fewer.map(|partitions| Source { partitions, ..source.clone() }));
    found
}

/// What a plan holds, if every operator of it has but one right answer.
fn is_determined(plan: &Plan, bits: Bits) -> Option<Model> {
    match plan {
        Plan::Source(source) => Some(Model::of_source(source, bits)),
        Plan::One(op, parent) => {
            let parent = is_determined(parent, bits)?;
            fits(op, &parent).then(|| crate::model::after(op, &parent, bits))
        }
        Plan::Two(pairing, left, right) => {
            let (left, right) = (is_determined(left, bits)?, is_determined(right, bits)?);
            fits_pairing(*pairing, &left, &right)
                .then(|| crate::model::after_pairing(*pairing, &left, &right, bits))
        }
    }
}
