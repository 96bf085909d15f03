//! The executors that the driver has a line to: [`Links`].

use firesteel_net::{Address, Line, SendError};
use firesteel_types::{AttemptId, ExecutorId, StageAttemptId};
use hashbrown::{HashMap, HashSet};
use parking_lot::Mutex;

use crate::{
    driver::{Launch, PreparedStage, ShortTables},
    protocol::{Addresses, Joining, StageInputs, StageOrder, TaskOrder, ToExecutor},
    task::Program,
};

/// From this size on what is to be sent to an executor goes in several messages, or from the limit if that is smaller.
const MESSAGE_TARGET: u64 = 8 << 20;

/// Their addresses go with each stage as long as there are no more.
const FEW_EXECUTORS: usize = 32;

/// The lines to executors, and what was sent on them.
#[derive(Default)]
pub(super) struct Links(Mutex<State>);

#[derive(Default)]
struct State {
    /// Those that asked to join and were not answered yet, in their order for each id.
    joining: HashMap<ExecutorId, Vec<Link>>,
    joined: HashMap<ExecutorId, Link>,
    /// Where the shuffle files of all executors are served, also of those that are gone.
    shuffles: HashMap<ExecutorId, Address>,
    /// Where people find the logs of all executors, also of those that are gone.
    worker_pages: HashMap<ExecutorId, String>,
}

struct Link {
    line: Line<ToExecutor>,
    joining: Box<Joining>,
    /// The stages that it has.
    stages: HashSet<StageAttemptId>,
    /// Stages that it has for nothing: it hears so with the next message.
    forgotten: Vec<StageAttemptId>,
}

/// What could not be sent, and how large it is.
pub(super) struct TooLarge {
    pub(super) attempt: AttemptId,
    pub(super) size_bytes: u64,
}

impl Links {
    /// An executor asks to join.
    pub(super) fn ask(&self, line: Line<ToExecutor>, joining: Box<Joining>) {
        let executor = joining.executor;
        let asking = Link { line, joining, stages: HashSet::new(), forgotten: Vec::new() };
        self.0.lock().joining.entry(executor).or_default().push(asking);
    }

    /// The oldest of those that asked to join under this id is answered: with `joins`, it is one of us.
    pub(super) fn answer(&self, executor: ExecutorId, joins: bool) -> Option<Line<ToExecutor>> {
        let mut state = self.0.lock();
        let asked = state.joining.get_mut(&executor)?;
        let oldest = asked.remove(0);
        if asked.is_empty() {
            state.joining.remove(&executor);
        }
        let line = oldest.line.clone();
        if joins {
            state.shuffles.insert(executor, oldest.joining.shuffles.clone());
            if let Some(page) = &oldest.joining.worker_page {
                state.worker_pages.insert(executor, page.clone());
            }
            state.joined.insert(executor, oldest);
        }
        Some(line)
    }

    /// A line broke: returns whether it was that of a member.
    pub(super) fn closed(&self, executor: ExecutorId, line: u64) -> bool {
        let mut state = self.0.lock();
        if let Some(asked) = state.joining.get_mut(&executor) {
            asked.retain(|link| link.line.id() != line);
        }
        let is_member = state.joined.get(&executor).is_some_and(|link| link.line.id() == line);
        if is_member {
            state.joined.remove(&executor);
        }
        is_member
    }

    /// Whether an executor is or was one of us.
    pub(super) fn has_joined(&self, executor: ExecutorId) -> bool {
        self.0.lock().shuffles.contains_key(&executor)
    }

    /// Whether there is no member now.
    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().joined.is_empty()
    }

    /// An executor is gone for good: its line is closed.
    pub(super) fn remove(&self, executor: ExecutorId) {
        let removed = self.0.lock().joined.remove(&executor);
        if let Some(link) = removed {
            link.line.close();
        }
    }

    /// Sends to one executor. If it is gone, its connection reports that.
    pub(super) fn send(&self, to: ExecutorId, message: &ToExecutor) {
        if let Some(link) = self.0.lock().joined.get_mut(&to) {
            link.deliver(message);
        }
    }

    /// Sends to every executor.
    pub(super) fn send_all(&self, message: &ToExecutor) {
        self.0.lock().joined.values_mut().for_each(|link| link.deliver(message));
    }

    /// No task of a stage will be sent. Those that have it hear so with the next message, at the latest the answer to a
    /// heartbeat: a message of its own would wake each of them just when the next stage begins.
    pub(super) fn forget_stage(&self, set: StageAttemptId) {
        for link in self.0.lock().joined.values_mut() {
            if link.stages.remove(&set) {
                link.forgotten.push(set);
            }
        }
    }

    /// Sends tasks to their executors, each with its stage if that was not sent before; gives those that are too large
    /// for a message, and the sizes of those that are large.
    pub(super) fn launch(&self, launches: Vec<Launch>, max_bytes: u64) -> Vec<TooLarge> {
        let mut too_large = Vec::new();
        let target = MESSAGE_TARGET.min(max_bytes);
        let mut batches: HashMap<ExecutorId, Batch> = HashMap::new();
        let mut state = self.0.lock();
        let State { joined, shuffles, .. } = &mut *state;
        for Launch { task, stage, partition_data: data, tables_hold } in launches {
            let executor = task.executor;
            // One that is gone will be reported, and its tasks with it.
            let Some(link) = joined.get_mut(&executor) else { continue };
            let is_new = !link.stages.contains(&task.set);
            let order = is_new.then(|| stage_order(&stage, tables_hold.then_some(&*shuffles)));
            let stage_bytes = order.as_ref().map_or(0, |order| order.program.len() as u64);
            let bytes = stage_bytes + data.iter().map(|(_, _, data)| data.len() as u64).sum::<u64>();
            if bytes >= max_bytes {
                too_large.push(TooLarge { attempt: task.attempt, size_bytes: bytes });
                continue;
            }
            link.stages.insert(task.set);
            let batch = batches.entry(executor).or_default();
            if batch.bytes > 0 && batch.bytes + bytes > target {
                std::mem::take(batch).send(link);
            }
            batch.bytes += bytes;
            batch.stages.extend(order);
            batch.tasks.push(TaskOrder { task, data });
        }
        for (executor, batch) in batches {
            if let Some(link) = joined.get_mut(&executor) {
                batch.send(link);
            }
        }
        too_large
    }

    /// Where an executor serves its blocks.
    pub(super) fn block_address(&self, executor: ExecutorId) -> Option<Address> {
        self.0.lock().joined.get(&executor).map(|link| link.joining.blocks.clone())
    }

    /// Where these executors serve their blocks.
    pub(super) fn block_addresses(&self, executors: impl Iterator<Item = ExecutorId>) -> Addresses {
        executors.filter_map(|executor| Some((executor, self.block_address(executor)?))).collect()
    }

    /// Where the pages of an executor's worker are.
    pub(super) fn worker_page(&self, executor: ExecutorId) -> Option<String> {
        self.0.lock().worker_pages.get(&executor).cloned()
    }

    /// Where the shuffle files of all executors are served.
    pub(super) fn shuffle_addresses(&self) -> Addresses {
        addresses(&self.0.lock().shuffles)
    }
}

#[derive(Default)]
struct Batch {
    bytes: u64,
    stages: Vec<StageOrder>,
    tasks: Vec<TaskOrder>,
}

impl Batch {
    fn send(self, link: &mut Link) {
        link.deliver(&ToExecutor::Launch { stages: self.stages, tasks: self.tasks });
    }
}

fn addresses(of: &HashMap<ExecutorId, Address>) -> Addresses {
    of.iter().map(|(executor, address)| (*executor, address.clone())).collect()
}

/// A stage as it is sent; with its tables, if they hold and those who serve shuffles are few.
fn stage_order(stage: &PreparedStage, shuffles: Option<&HashMap<ExecutorId, Address>>) -> StageOrder {
    let program = match &stage.program {
        Program::Shipped(program) => program.clone(),
        Program::Here(_) => unreachable!("tasks run elsewhere"),
    };
    let inputs = match shuffles {
        Some(shuffles) if !stage.tables.tables.is_empty() && shuffles.len() <= FEW_EXECUTORS => {
            let ShortTables { epoch, tables } = &stage.tables;
            StageInputs { epoch: *epoch, tables: tables.clone(), addresses: addresses(shuffles) }
        }
        _ => StageInputs::default(),
    };
    let launch = &stage.launch;
    StageOrder {
        set: launch.set,
        program,
        partitions: launch.partitions,
        properties: launch.properties.clone(),
        generations: launch.generations.clone(),
        inputs,
    }
}

impl Link {
    /// Sends, without waiting; a line that is closed is no news.
    fn deliver(&mut self, message: &ToExecutor) {
        let executor = self.joining.executor;
        let forgotten: Vec<_> = self.forgotten.drain(..).map(ToExecutor::ForgetStage).collect();
        match self.line.send_many(forgotten.iter().chain([message])) {
            Ok(()) => (),
            Err(SendError::Closed) => {
                tracing::debug!(%executor, "a message was not sent: the line is closed")
            }
            Err(error) => tracing::error!(%executor, %error, "a message cannot be sent"),
        }
    }
}
