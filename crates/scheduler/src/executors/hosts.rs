//! Hosts and racks as small numbers, and who is alive on them.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use firesteel_types::{ExecutorId, Host};

/// A host, numbered in the order of first mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct HostId(pub(crate) u32);

/// A rack, numbered in the order of first mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RackId(pub(crate) u32);

/// Every host ever mentioned. Names are compared once, when a host is first met; after that numbers are.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    hosts: IndexMap<Host, HostState, FxBuildHasher>,
    racks: IndexSet<Arc<str>, FxBuildHasher>,
    /// Alive hosts of each rack.
    alive_in_rack: Vec<u32>,
}

#[derive(Debug, Default)]
struct HostState {
    rack: RackState,
    /// Executors that count as alive for locality, in the order of their ids.
    alive: Vec<ExecutorId>,
}

/// What is known of a host's rack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RackState {
    #[default]
    Unasked,
    Asked,
    Known(Option<RackId>),
}

impl Hosts {
    /// The number of `host`, which is given one if it has none.
    pub(crate) fn intern(&mut self, host: &Host) -> HostId {
        let index = match self.hosts.get_index_of(host) {
            Some(index) => index,
            None => self.hosts.insert_full(host.clone(), HostState::default()).0,
        };
        HostId(index as u32)
    }

    /// The number of `host`, if it was ever mentioned.
    pub(crate) fn find(&self, host: &Host) -> Option<HostId> {
        self.hosts.get_index_of(host).map(|index| HostId(index as u32))
    }

    /// The name of a host.
    pub(crate) fn name(&self, id: HostId) -> &Host {
        self.hosts.get_index(id.0 as usize).expect("host ids come from this table").0
    }

    /// Whether an executor is alive there.
    pub(crate) fn is_alive(&self, id: HostId) -> bool {
        !self.hosts[id.0 as usize].alive.is_empty()
    }

    /// Whether a host of the rack has an executor alive.
    pub(crate) fn is_rack_alive(&self, rack: RackId) -> bool {
        self.alive_in_rack[rack.0 as usize] > 0
    }

    /// The rack of a host, if it has one and it is known.
    pub(crate) fn rack(&self, id: HostId) -> Option<RackId> {
        match self.hosts[id.0 as usize].rack {
            RackState::Known(rack) => rack,
            RackState::Unasked | RackState::Asked => None,
        }
    }

    /// Executors that are alive there, in the order of their ids.
    pub(crate) fn alive_on(&self, id: HostId) -> &[ExecutorId] {
        &self.hosts[id.0 as usize].alive
    }

    /// One more executor is alive on the host.
    pub(crate) fn add_alive(&mut self, id: HostId, executor: ExecutorId) {
        let state = &mut self.hosts[id.0 as usize];
        let at = state.alive.partition_point(|other| *other < executor);
        state.alive.insert(at, executor);
        if let (1, RackState::Known(Some(rack))) = (state.alive.len(), state.rack) {
            self.alive_in_rack[rack.0 as usize] += 1;
        }
    }

    /// One executor less is alive on the host.
    pub(crate) fn remove_alive(&mut self, id: HostId, executor: ExecutorId) {
        let state = &mut self.hosts[id.0 as usize];
        state.alive.retain(|other| *other != executor);
        if let (true, RackState::Known(Some(rack))) = (state.alive.is_empty(), state.rack) {
            self.alive_in_rack[rack.0 as usize] -= 1;
        }
    }

    /// Those of `ids` whose rack has not been asked for yet; they count as asked for from now on.
    pub(crate) fn ask_racks(&mut self, ids: impl IntoIterator<Item = HostId>) -> Vec<Host> {
        let mut names = Vec::new();
        for id in ids {
            let (name, state) =
                self.hosts.get_index_mut(id.0 as usize).expect("host ids come from this table");
            if state.rack == RackState::Unasked {
                state.rack = RackState::Asked;
                names.push(name.clone());
            }
        }
        names
    }

    /// Takes the answer for one host. Whether that changed anything.
    pub(crate) fn set_rack(&mut self, host: &Host, rack: Option<&str>) -> bool {
        let id = self.intern(host);
        let rack = rack.map(|name| {
            let index = self.racks.insert_full(Arc::from(name)).0;
            self.alive_in_rack.resize(self.racks.len(), 0);
            RackId(index as u32)
        });
        let state = &mut self.hosts[id.0 as usize];
        let before = std::mem::replace(&mut state.rack, RackState::Known(rack));
        if before == RackState::Known(rack) {
            return false;
        }
        if !state.alive.is_empty() {
            if let RackState::Known(Some(old)) = before {
                self.alive_in_rack[old.0 as usize] -= 1;
            }
            if let Some(new) = rack {
                self.alive_in_rack[new.0 as usize] += 1;
            }
        }
        true
    }
}
