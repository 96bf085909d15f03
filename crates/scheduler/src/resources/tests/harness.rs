//! What the tests share.

pub(super) use std::{collections::BTreeMap, sync::Arc};

pub(super) use firesteel_types::{Cpus, Share, TaskResourceRequest};

pub(super) use super::super::{ExecutorResources, TaskNeed};

pub(super) fn share(text: &str) -> Share {
    text.parse().unwrap()
}

pub(super) fn cpus(text: &str) -> Cpus {
    text.parse().unwrap()
}

/// One cpu and this much of `gpu`.
pub(super) fn gpu_need(amount: &str) -> TaskNeed {
    TaskNeed { cpus: Cpus::ONE, resources: TaskResourceRequest::from([("gpu".into(), share(amount))]) }
}

/// An executor with `cores` and `gpu` addresses.
pub(super) fn executor(cores: u32, gpus: &[&str]) -> ExecutorResources {
    let gpus: Vec<Arc<str>> = gpus.iter().map(|&gpu| gpu.into()).collect();
    ExecutorResources::new(Cpus::cores(cores), BTreeMap::from([("gpu".into(), gpus)]))
}
