//! The sort as an RDD.

use firesteel::prelude::*;

use crate::{
    checksum::Answer,
    data::records,
    workload::{Job, Setup, rows::ordered_digest},
};

pub(super) fn engine(setup: &Setup<'_>) -> Job {
    let ctx = setup.ctx.clone();
    let (records, parts) = (setup.sizes.of("records"), setup.sizes.of("parts") as u32);
    let sorted = move || {
        ctx.range_into(0..records, parts)
            .map(|x| (records::key(x), records::payload(x)))
            .sort_by_key_into(Order::Ascending, parts)
    };
    let checked = sorted.clone();
    Job::new(
        move || {
            sorted()?.for_each(|_| ())?;
            Ok(Answer::Nothing.into())
        },
        move || Ok(ordered_digest(&checked()?.map(|(key, payload)| records::row(&key, &payload)))?.into()),
    )
}
