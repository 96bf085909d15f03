//! Tasks that wait, by the place where they would rather run.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use firesteel_types::{ExecutorId, Locality, TaskIndex, TaskLocation};

use crate::executors::{ExecutorTable, Executors, HostId, RackId};

/// Lists of task indices, each used as a stack: the last entry goes first.
///
/// A task is in every list where it could be looked for. Taking it from one does not remove it from the others; entries
/// that no longer wait are dropped when they come to the end of a list. So adding and taking cost what they touch,
/// regardless of the number of tasks.
#[derive(Debug, Default)]
pub(crate) struct PendingTasks {
    for_executor: ExecutorTable<Vec<TaskIndex>>,
    for_host: IndexMap<HostId, Vec<TaskIndex>, FxBuildHasher>,
    for_rack: IndexMap<RackId, Vec<TaskIndex>, FxBuildHasher>,
    no_prefs: Vec<TaskIndex>,
    all: Vec<TaskIndex>,
}

/// What to do with an entry at the end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The task goes to this offer.
    Take,
    /// The task does not wait any more: forget the entry.
    Stale,
    /// The task may not run here: look further, keep the entry.
    Barred,
}

/// In which kinds of list a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) executor: bool,
    pub(crate) host: bool,
    pub(crate) rack: bool,
    pub(crate) no_pref: bool,
}

impl PendingTasks {
    /// Puts a task into the lists of its preferred places.
    pub(crate) fn add(
        &mut self,
        index: TaskIndex,
        preferred: &[TaskLocation],
        executors: &mut Executors,
    ) -> Listed {
        let mut listed = Listed { no_pref: preferred.is_empty(), ..Listed::default() };
        for place in preferred {
            let host = executors.hosts.intern(place.host());
            match place {
                TaskLocation::Executor { executor, .. } => {
                    self.for_executor.get_or_default(*executor).push(index);
                    listed.executor = true;
                }
                TaskLocation::HostCache(_) => {
                    for executor in executors.hosts.alive_on(host) {
                        self.for_executor.get_or_default(*executor).push(index);
                        listed.executor = true;
                    }
                }
                TaskLocation::Host(_) => (),
            }
            self.for_host.entry(host).or_default().push(index);
            listed.host = true;
            if let Some(rack) = executors.hosts.rack(host) {
                self.for_rack.entry(rack).or_default().push(index);
                listed.rack = true;
            }
        }
        if listed.no_pref {
            self.no_prefs.push(index);
        }
        self.all.push(index);
        listed
    }

    /// Puts a task into the list of a rack that has just become known.
    pub(crate) fn add_rack(&mut self, index: TaskIndex, rack: RackId) {
        self.for_rack.entry(rack).or_default().push(index);
    }

    pub(crate) fn take_for_executor(
        &mut self,
        id: ExecutorId,
        judge: impl Fn(TaskIndex) -> Entry,
    ) -> Option<TaskIndex> {
        take(self.for_executor.get_mut(id)?, judge)
    }

    pub(crate) fn take_for_host(
        &mut self,
        id: HostId,
        judge: impl Fn(TaskIndex) -> Entry,
    ) -> Option<TaskIndex> {
        take(self.for_host.get_mut(&id)?, judge)
    }

    pub(crate) fn take_for_rack(
        &mut self,
        id: RackId,
        judge: impl Fn(TaskIndex) -> Entry,
    ) -> Option<TaskIndex> {
        take(self.for_rack.get_mut(&id)?, judge)
    }

    pub(crate) fn take_without_preference(
        &mut self,
        judge: impl Fn(TaskIndex) -> Entry,
    ) -> Option<TaskIndex> {
        take(&mut self.no_prefs, judge)
    }

    pub(crate) fn take_any(&mut self, judge: impl Fn(TaskIndex) -> Entry) -> Option<TaskIndex> {
        take(&mut self.all, judge)
    }

    /// The task that would be looked at first, at any place.
    pub(crate) fn next(&mut self, is_waiting: impl Fn(TaskIndex) -> bool) -> Option<TaskIndex> {
        trim(&mut self.all, is_waiting);
        self.all.last().copied()
    }

    /// Whether a task is in the list of an executor.
    pub(crate) fn is_listed_for(&self, executor: ExecutorId, index: TaskIndex) -> bool {
        self.for_executor.get(executor).is_some_and(|list| list.contains(&index))
    }

    /// The levels with a waiting task and a place alive, if one more executor were; the last is not among them.
    pub(crate) fn levels_with(
        &self,
        (executor, host, rack): (ExecutorId, HostId, Option<RackId>),
        executors: &Executors,
        is_waiting: impl Fn(TaskIndex) -> bool,
    ) -> impl Iterator<Item = Locality> {
        let any = |list: &Vec<TaskIndex>| list.iter().any(|index| is_waiting(*index));
        let is_alive = |id: ExecutorId| id == executor || executors.is_alive(id);
        let process = self.for_executor.iter().any(|(id, list)| is_alive(id) && any(list));
        let is_alive = |id: HostId| id == host || executors.hosts.is_alive(id);
        let node = self.for_host.iter().any(|(id, list)| is_alive(*id) && any(list));
        let is_alive = |id: RackId| Some(id) == rack || executors.hosts.is_rack_alive(id);
        let in_rack = self.for_rack.iter().any(|(id, list)| is_alive(*id) && any(list));
        let levels =
            [(process, Locality::Process), (node, Locality::Node), (any(&self.no_prefs), Locality::NoPref)];
        levels.into_iter().chain([(in_rack, Locality::Rack)]).filter(|(is, _)| *is).map(|(_, level)| level)
    }

    /// Whether a waiting task prefers an executor that is alive.
    pub(crate) fn wants_alive_executor(
        &mut self,
        executors: &Executors,
        is_waiting: impl Fn(TaskIndex) -> bool,
    ) -> bool {
        self.for_executor.iter_mut().any(|(id, list)| {
            executors.is_alive(id) && {
                trim(list, &is_waiting);
                !list.is_empty()
            }
        })
    }

    /// Whether a waiting task prefers a host with an executor alive.
    pub(crate) fn wants_alive_host(
        &mut self,
        executors: &Executors,
        is_waiting: impl Fn(TaskIndex) -> bool,
    ) -> bool {
        any_waiting(&mut self.for_host, |id| executors.hosts.is_alive(id), is_waiting)
    }

    /// Whether a waiting task has no preference.
    pub(crate) fn wants_no_place(&mut self, is_waiting: impl Fn(TaskIndex) -> bool) -> bool {
        trim(&mut self.no_prefs, is_waiting);
        !self.no_prefs.is_empty()
    }

    /// Whether a waiting task prefers a rack with a host alive.
    pub(crate) fn wants_alive_rack(
        &mut self,
        executors: &Executors,
        is_waiting: impl Fn(TaskIndex) -> bool,
    ) -> bool {
        any_waiting(&mut self.for_rack, |id| executors.hosts.is_rack_alive(id), is_waiting)
    }
}

/// The last entry that may be taken, which leaves the list.
fn take(list: &mut Vec<TaskIndex>, judge: impl Fn(TaskIndex) -> Entry) -> Option<TaskIndex> {
    let mut at = list.len();
    while at > 0 {
        at -= 1;
        let index = list[at];
        match judge(index) {
            Entry::Take => {
                list.remove(at);
                return Some(index);
            }
            Entry::Stale => {
                list.remove(at);
            }
            Entry::Barred => (),
        }
    }
    None
}

/// Drops entries that do not wait any more from the end of a list.
fn trim(list: &mut Vec<TaskIndex>, is_waiting: impl Fn(TaskIndex) -> bool) {
    while list.last().is_some_and(|index| !is_waiting(*index)) {
        list.pop();
    }
}

/// Whether a place that is alive has a task waiting for it. Lists found empty are dropped on the way.
fn any_waiting<P: Copy + Eq + std::hash::Hash>(
    lists: &mut IndexMap<P, Vec<TaskIndex>, FxBuildHasher>,
    is_alive: impl Fn(P) -> bool,
    is_waiting: impl Fn(TaskIndex) -> bool,
) -> bool {
    let mut at = 0;
    while let Some((place, list)) = lists.get_index_mut(at) {
        if is_alive(*place) {
            trim(list, &is_waiting);
            if !list.is_empty() {
                return true;
            }
            lists.swap_remove_index(at);
        } else {
            at += 1;
        }
    }
    false
}
