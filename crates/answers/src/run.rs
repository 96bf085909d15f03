//! Running one case in this process: [`run`].

use anyhow::{Context as _, Result};
use firesteel::prelude::*;
use tempfile::TempDir;

use crate::{
    case::{Backend, Between, Case, Job, Keep, KindName, Memory, Narrow, Op, Plan},
    faults::{self, Folder},
    jobs::{self, Setting, Trouble},
    kind::{Kind, Large, Nested, Plain, Set, Sparse, Text, Unit},
    ops::{self, Built},
};

/// How often a job is tried whose input was made again in another order while it ran, which the engine refuses to mix.
const TRIES_MAX: usize = 6;

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Every answer is right.
    Right,
    /// The engine refused with a reason that it may have.
    Refused(&'static str),
    /// An answer is wrong, or an error has no good reason.
    Wrong(String),
}

/// Runs a case and compares all of its answers.
pub(crate) fn run(case: &Case) -> Verdict {
    let ran = match case.kind {
        KindName::Plain => run_kind::<Plain>(case),
        KindName::Text => run_kind::<Text>(case),
        KindName::Nested => run_kind::<Nested>(case),
        KindName::Set => run_kind::<Set>(case),
        KindName::Unit => run_kind::<Unit>(case),
        KindName::Sparse => run_kind::<Sparse>(case),
        KindName::Large => run_kind::<Large>(case),
    };
    ran.unwrap_or_else(|error| Verdict::Wrong(format!("the case could not be run: {error:#}")))
}

fn run_kind<K: Kind>(case: &Case) -> Result<Verdict> {
    let dir = TempDir::with_prefix("firesteel-answers-").context("no temporary folder")?;
    let folder = Folder::new(dir.path());
    std::fs::create_dir(folder.local())?;
    let ctx = start(case, &folder).context("the context does not start")?;
    let nodes = match tried(case, |_| Ok(ops::build::<K>(&ctx, case, &folder)?)) {
        Ok(nodes) => nodes,
        Err(verdict) => return Ok(verdict),
    };
    for (number, job) in case.jobs.iter().enumerate() {
        if let Some(fault) = job.before {
            spoil(fault, &ctx, &folder)?;
        }
        let place = job.node.min(nodes.len() - 1);
        let node = disturbed(&ctx, case, job, &nodes[place], &folder);
        let checked = tried(case, |attempt| {
            let name = format!("{number}-{attempt}");
            let setting = Setting { ctx: &ctx, case, folder: &folder, node: &node, place, name };
            Ok(jobs::check(&setting, job.action)?)
        });
        match checked {
            Ok(()) => (),
            Err(Verdict::Wrong(what)) => {
                return Ok(Verdict::Wrong(format!("job {number}, {:?}: {what}", job.action)));
            }
            Err(verdict) => return Ok(verdict),
        }
    }
    Ok(Verdict::Right)
}

fn start(case: &Case, folder: &Folder) -> firesteel::Result<Context> {
    let master = match case.backend {
        Backend::Local | Backend::Shipped => "local[2,6]",
        Backend::Cluster => "local-cluster[2,1,512]",
    };
    let mut builder = Context::builder()
        .master(master)
        .shipped(case.backend == Backend::Shipped)
        .set("firesteel.ui.enabled", false)?
        .set("firesteel.ui.showConsoleProgress", false)?
        .set("firesteel.local.dir", folder.local().display())?
        .set("firesteel.checkpoint.dir", folder.join("checkpoints").display())?
        .set("firesteel.shuffle.service.enabled", case.shuffle_service)?
        .set("firesteel.shuffle.orderIndependentChecksum.enabled", case.content_sums)?
        // More faults than a cluster sees in a day come here in a second.
        .set("firesteel.task.maxFailures", 8)?
        .set("firesteel.stage.maxConsecutiveAttempts", 10)?
        .set("firesteel.shuffle.io.maxRetries", 1)?
        .set("firesteel.shuffle.io.retryWait", "20ms")?;
    if let Memory::Bytes(bytes) = case.memory {
        // A number alone would be mebibytes.
        builder = builder.set("firesteel.memory.budget", format!("{bytes}b"))?;
    }
    builder.start()
}

fn spoil(fault: Between, ctx: &Context, folder: &Folder) -> firesteel::Result<()> {
    match fault {
        Between::KillExecutor { is_noticed } => return faults::kill_executor_of(ctx, is_noticed),
        Between::Remove { files, pick } => folder.remove(files, pick),
        Between::Damage { files, pick } => folder.damage(files, pick),
    }
    Ok(())
}

/// The RDD of a job, with what goes wrong in its last stage.
fn disturbed<K: Kind>(ctx: &Context, case: &Case, job: &Job, node: &Built<K>, folder: &Folder) -> Built<K> {
    let Some(fault) = &job.during else { return node.clone() };
    Built { rdd: faults::build::<K>(ctx, &node.rdd, fault, case.backend, folder), model: node.model.clone() }
}

/// Why a step of a case did not work.
enum Failed {
    Trouble(Trouble),
    Other(anyhow::Error),
}

impl std::convert::From<Trouble> for Failed {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl std::convert::From<anyhow::Error> for Failed {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<firesteel::Error>() {
            Ok(error) => Self::Trouble(Trouble::Failed(error)),
            Err(error) => Self::Other(error),
        }
    }
}

/// Does a step, again if the engine says that its input was made again in another order while it ran.
fn tried<T>(case: &Case, mut step: impl FnMut(usize) -> Result<T, Failed>) -> Result<T, Verdict> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let error = match step(attempt) {
            Ok(done) => return Ok(done),
            Err(Failed::Trouble(Trouble::Wrong(what))) => return Err(Verdict::Wrong(what)),
            Err(Failed::Trouble(Trouble::Failed(error))) => format!("{error:?}"),
            Err(Failed::Other(error)) => return Err(Verdict::Wrong(format!("{error:#}"))),
        };
        match reason(case, &error) {
            Some(Reason::RanAgain) if attempt < TRIES_MAX => (),
            Some(Reason::Refused(reason)) => return Err(Verdict::Refused(reason)),
            Some(Reason::RanAgain) | None => return Err(Verdict::Wrong(error)),
        }
    }
}

/// How the engine says that it does not mix two runs.
const RAN_AGAIN: &str = "indeterminate output ran again";

enum Reason {
    /// The job can be run again.
    RanAgain,
    Refused(&'static str),
}

/// Whether the engine may fail so in this case, and why.
fn reason(case: &Case, error: &str) -> Option<Reason> {
    let has_sparse = case.kind == KindName::Sparse
        || case.plan.any(&|node| matches!(node, Plan::One(Op::Narrow(Narrow::SparseEnvironment), _)));
    let has_local_checkpoint =
        case.plan.any(&|node| matches!(node, Plan::One(Op::Keep(Keep::LocalCheckpoint), _)));
    // The values of one key of a join or cogroup stay in memory, and an executor has little for large ones.
    let is_short = case.memory != Memory::Ample || case.kind == KindName::Large;
    if is_short && error.contains("of memory, its share is") {
        Some(Reason::Refused("memory"))
    } else if has_sparse && error.contains("skip_serializing_if") {
        Some(Reason::Refused("serde"))
    } else if has_local_checkpoint && error.contains("of a local checkpoint is lost") {
        // It lies on executors alone, and one of them was killed, or its file was spoilt.
        Some(Reason::Refused("a local checkpoint"))
    } else if error.contains(RAN_AGAIN) {
        Some(Reason::RanAgain)
    } else {
        None
    }
}
