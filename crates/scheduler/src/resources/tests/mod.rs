//! Tests of the resource ledger and of the profiles.

mod executor_resources;
mod profiles;

use std::{collections::BTreeMap, sync::Arc};

use firesteel_types::{Cpus, Share, TaskResourceRequest};

use super::{ExecutorResources, TaskNeed};

fn share(text: &str) -> Share {
    text.parse().unwrap()
}

fn cpus(text: &str) -> Cpus {
    text.parse().unwrap()
}

/// One cpu and this much of `gpu`.
fn gpu_need(amount: &str) -> TaskNeed {
    TaskNeed { cpus: Cpus::ONE, resources: TaskResourceRequest::from([("gpu".into(), share(amount))]) }
}

/// An executor with `cores` and `gpu` addresses.
fn executor(cores: u32, gpus: &[&str]) -> ExecutorResources {
    let gpus: Vec<Arc<str>> = gpus.iter().map(|&gpu| gpu.into()).collect();
    ExecutorResources::new(Cpus::cores(cores), BTreeMap::from([("gpu".into(), gpus)]))
}
