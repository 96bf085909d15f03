//! How many cores each worker gives to an application: the arithmetic of placing executors.
//!
//! [`cores_for_workers`] is a pure function over numbers (Spark's `scheduleExecutorsOnWorkers`). It knows no ids
//! and starts nothing; the workers come in the order in which they are asked, and each has room for at least one
//! executor.

use super::config::Placement;

/// What an application wants for one profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Cores of one executor; none lets each executor grow by single cores.
    pub cores_per_executor: Option<u32>,
    /// Memory of one executor, in mebibytes.
    pub memory_mib: u64,
    /// Cores the application may still take.
    pub cores_left: u32,
    /// Executors the application may still take.
    pub executors_left: u32,
}

/// What one worker has free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Cores.
    pub cores: u32,
    /// Memory in mebibytes.
    pub memory_mib: u64,
    /// How many executors the addresses of its custom resources suffice for.
    pub executors_by_addresses: u32,
}

/// The cores that each worker gives, in the order of `rooms`.
///
/// Cores go out in lumps of one executor, or in single cores when executors have no fixed size; giving single
/// cores to executors of a fixed size could leave every worker with less than one executor. Without a fixed size
/// a worker starts at most one executor, so its memory and addresses are looked at once and further cores need
/// only be free.
///
/// ```
/// use firesteel_scheduler::master::{Demand, Placement, Room, cores_for_workers};
///
/// let rooms = [Room { cores: 10, memory_mib: 512, executors_by_addresses: u32::MAX }; 3];
/// let demand = Demand { cores_per_executor: None, memory_mib: 128, cores_left: 16, executors_left: 10 };
///
/// assert_eq!(cores_for_workers(&demand, &rooms, Placement::SpreadOut), [6, 5, 5]);
/// assert_eq!(cores_for_workers(&demand, &rooms, Placement::Packed), [10, 6, 0]);
/// ```
pub fn cores_for_workers(demand: &Demand, rooms: &[Room], placement: Placement) -> Vec<u32> {
    let mut plan = Plan {
        lump: demand.cores_per_executor.unwrap_or(1),
        demand,
        rooms,
        cores_left: demand.cores_left,
        executors_left: demand.executors_left,
        cores: vec![0; rooms.len()],
        executors: vec![0; rooms.len()],
    };
    assert!(plan.lump > 0, "executors have at least one core");
    let mut open: Vec<usize> = (0..rooms.len()).filter(|&at| plan.can_give(at)).collect();
    while !open.is_empty() {
        for &at in &open {
            match placement {
                Placement::SpreadOut => {
                    plan.give_if_possible(at);
                }
                Placement::Packed => while plan.give_if_possible(at) {},
            }
        }
        open.retain(|&at| plan.can_give(at));
    }
    plan.cores
}

struct Plan<'a> {
    demand: &'a Demand,
    rooms: &'a [Room],
    lump: u32,
    cores_left: u32,
    executors_left: u32,
    cores: Vec<u32>,
    executors: Vec<u32>,
}

impl Plan<'_> {
    fn starts_executor(&self, at: usize) -> bool {
        self.demand.cores_per_executor.is_some() || self.executors[at] == 0
    }

    fn can_give(&self, at: usize) -> bool {
        let room = self.rooms[at];
        if self.cores_left < self.lump || room.cores - self.cores[at] < self.lump {
            return false;
        }
        if !self.starts_executor(at) {
            return true;
        }
        let executors = self.executors[at];
        let memory_left = room.memory_mib.saturating_sub(u64::from(executors) * self.demand.memory_mib);
        self.executors_left > 0
            && memory_left >= self.demand.memory_mib
            && room.executors_by_addresses > executors
    }

    fn give_if_possible(&mut self, at: usize) -> bool {
        if !self.can_give(at) {
            return false;
        }
        if self.starts_executor(at) {
            self.executors[at] += 1;
            self.executors_left -= 1;
        }
        self.cores[at] += self.lump;
        self.cores_left -= self.lump;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{super::UNLIMITED, *};

    /// Three workers with 10 cores and 512 MB each.
    const ROOMS: [Room; 3] = [Room { cores: 10, memory_mib: 512, executors_by_addresses: u32::MAX }; 3];

    fn executors(cores_per_executor: impl Into<Option<u32>>, memory_mib: u64) -> Demand {
        Demand {
            cores_per_executor: cores_per_executor.into(),
            memory_mib,
            cores_left: UNLIMITED,
            executors_left: UNLIMITED,
        }
    }

    impl Demand {
        fn cores_max(self, cores_left: u32) -> Self {
            Self { cores_left, ..self }
        }

        fn limit(self, executors_left: u32) -> Self {
            Self { executors_left, ..self }
        }
    }

    fn check(demand: Demand, spread_out: [u32; 3], packed: [u32; 3]) {
        assert_eq!(cores_for_workers(&demand, &ROOMS, Placement::SpreadOut), spread_out, "{demand:?}");
        assert_eq!(cores_for_workers(&demand, &ROOMS, Placement::Packed), packed, "{demand:?}");
    }

    /// Behaviours: MAST-004, MAST-005.
    #[test]
    fn executors_without_a_size_grow_core_by_core() {
        check(executors(None, 128), [10, 10, 10], [10, 10, 10]);
        check(executors(None, 384), [10, 10, 10], [10, 10, 10]);
        check(executors(None, 128).cores_max(8), [3, 3, 2], [8, 0, 0]);
        check(executors(None, 128).cores_max(16), [6, 5, 5], [10, 6, 0]);
    }

    /// Behaviours: MAST-004, MAST-006.
    #[test]
    fn executors_with_a_size_are_given_whole() {
        check(executors(2, 128), [8, 8, 8], [8, 8, 8]);
        check(executors(2, 32), [10, 10, 10], [10, 10, 10]);
        check(executors(3, 32), [9, 9, 9], [9, 9, 9]);
        check(executors(2, 32).cores_max(4), [2, 2, 0], [4, 0, 0]);
        check(executors(2, 32).cores_max(20), [8, 6, 6], [10, 10, 0]);
        check(executors(3, 32).cores_max(20), [6, 6, 6], [9, 9, 0]);
    }

    /// Behaviours: MAST-007.
    #[test]
    fn the_executor_limit_bounds_the_workers_or_the_lumps() {
        check(executors(None, 256).limit(0), [0, 0, 0], [0, 0, 0]);
        check(executors(None, 256).limit(2), [10, 10, 0], [10, 10, 0]);
        check(executors(None, 256).limit(2).cores_max(16), [8, 8, 0], [10, 6, 0]);
        check(executors(4, 256).limit(0), [0, 0, 0], [0, 0, 0]);
        check(executors(4, 256).limit(2), [4, 4, 0], [8, 0, 0]);
        check(executors(4, 256).limit(5), [8, 8, 4], [8, 8, 4]);
    }

    /// Behaviours: MAST-007.
    #[test]
    fn limit_and_core_maximum_hold_together() {
        check(executors(4, 256).limit(2).cores_max(16), [4, 4, 0], [8, 0, 0]);
        check(executors(4, 256).limit(5).cores_max(16), [8, 4, 4], [8, 8, 0]);
        check(executors(4, 256).limit(5).cores_max(20), [8, 8, 4], [8, 8, 4]);
    }

    /// Behaviours: MAST-027.
    #[test]
    fn addresses_bound_the_executors_of_a_worker() {
        let mut rooms = ROOMS;
        rooms[1].executors_by_addresses = 1;

        assert_eq!(cores_for_workers(&executors(2, 32), &rooms, Placement::SpreadOut), [10, 2, 10]);
        assert_eq!(cores_for_workers(&executors(None, 32), &rooms, Placement::SpreadOut), [10, 10, 10]);
    }
}
