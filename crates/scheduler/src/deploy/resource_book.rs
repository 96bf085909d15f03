//! What a worker has, and what of it is given to executors and drivers.
//!
//! [`ResourceBook`] is kept on both sides. The master gives out of it only what is free, so in its book no address
//! is held twice. The worker writes down what it was ordered: for a moment more can be held there than there is,
//! since the master gives out again what a process that it has killed still holds. Neither knows who holds what.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use firesteel_types::ResourceName;
use serde::{Deserialize, Serialize};

/// Addresses of custom resources by resource, each whole.
pub type Addresses = BTreeMap<ResourceName, BTreeSet<Arc<str>>>;

/// Cores, memory and addresses: all that a worker has, or the part given to one executor or driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Cores.
    pub cores: u32,
    /// Memory in mebibytes.
    pub memory_mib: u64,
    /// Addresses of custom resources.
    pub addresses: Addresses,
}

/// What one executor or driver needs of a worker at least.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Need {
    pub(crate) cores: u32,
    pub(crate) memory_mib: u64,
    pub(crate) resources: BTreeMap<ResourceName, u32>,
}

/// Why a worker can never give something, even when nothing else runs there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GrantError {
    #[error("{wanted} cores were ordered, but the worker has only {there}")]
    TooManyCores { wanted: u32, there: u32 },
    #[error("{wanted} MiB of memory were ordered, but the worker has only {there}")]
    TooMuchMemory { wanted: u64, there: u64 },
    #[error("{resource} {address} was ordered, but the worker does not have it")]
    NoSuchAddress { resource: ResourceName, address: Arc<str> },
}

/// The resources of one worker, and the sums of all grants in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ResourceBook {
    total: Grant,
    cores: u64,
    memory_mib: u64,
    /// How many holders each address has; free addresses are absent.
    held: BTreeMap<ResourceName, BTreeMap<Arc<str>, u32>>,
}

impl ResourceBook {
    /// A book in which nothing is held.
    pub(crate) fn new(total: Grant) -> Self {
        Self { total, ..Self::default() }
    }

    /// Everything there is.
    pub(crate) fn total(&self) -> &Grant {
        &self.total
    }

    /// The cores and mebibytes that are held.
    pub(crate) fn held(&self) -> (u64, u64) {
        (self.cores, self.memory_mib)
    }

    pub(crate) fn cores_free(&self) -> u32 {
        let free = u64::from(self.total.cores).saturating_sub(self.cores);
        u32::try_from(free).expect("not above the total, which fits")
    }

    pub(crate) fn memory_free_mib(&self) -> u64 {
        self.total.memory_mib.saturating_sub(self.memory_mib)
    }

    /// How many executors or drivers that each take `resources` the free addresses suffice for.
    pub(crate) fn fits_by_addresses(&self, resources: &BTreeMap<ResourceName, u32>) -> u32 {
        let asked = resources.iter().filter(|(_, amount)| **amount > 0);
        let times = asked.map(|(name, amount)| {
            let total = self.total.addresses.get(name).map_or(0, BTreeSet::len);
            let held = self.held.get(name).map_or(0, BTreeMap::len);
            u32::try_from(total - held).unwrap_or(u32::MAX) / amount
        });
        times.min().unwrap_or(u32::MAX)
    }

    /// Whether one `need` is free.
    pub(crate) fn has_room_for(&self, need: &Need) -> bool {
        self.cores_free() >= need.cores
            && self.memory_free_mib() >= need.memory_mib
            && self.fits_by_addresses(&need.resources) >= 1
    }

    /// Gives out `need`, with the first free addresses. The caller has checked that there is room.
    pub(crate) fn give(&mut self, need: &Need) -> Grant {
        assert!(self.has_room_for(need), "only what is free is given");
        let asked = need.resources.iter().filter(|(_, amount)| **amount > 0);
        let addresses = asked.map(|(name, amount)| {
            let free = self.total.addresses[name].iter().filter(|address| !self.is_held(name, address));
            (Arc::clone(name), free.take(*amount as usize).cloned().collect())
        });
        let grant = Grant { cores: need.cores, memory_mib: need.memory_mib, addresses: addresses.collect() };
        self.take(&grant);
        grant
    }

    /// Counts `grant` as held if all of it is free; false and nothing otherwise.
    pub(crate) fn take_if_free(&mut self, grant: &Grant) -> bool {
        let mut addresses = grant
            .addresses
            .iter()
            .flat_map(|(name, of_name)| of_name.iter().map(move |address| (name, address)));
        let is_free = grant.cores <= self.cores_free()
            && grant.memory_mib <= self.memory_free_mib()
            && self.check_ever_fits(grant).is_ok()
            && !addresses.any(|(name, address)| self.is_held(name, address));
        if is_free {
            self.take(grant);
        }
        is_free
    }

    /// Counts `grant` as held, free or not.
    pub(crate) fn take(&mut self, grant: &Grant) {
        self.cores += u64::from(grant.cores);
        self.memory_mib += grant.memory_mib;
        for (name, addresses) in &grant.addresses {
            for address in addresses {
                *self.held.entry(name.clone()).or_default().entry(address.clone()).or_default() += 1;
            }
        }
    }

    /// Counts `grant` as held no more.
    pub(crate) fn give_back(&mut self, grant: &Grant) {
        const WHY: &str = "only what was taken comes back";
        self.cores = self.cores.checked_sub(u64::from(grant.cores)).expect(WHY);
        self.memory_mib = self.memory_mib.checked_sub(grant.memory_mib).expect(WHY);
        for (name, addresses) in &grant.addresses {
            let held = self.held.get_mut(name).filter(|_| !addresses.is_empty());
            let Some(held) = held else {
                assert!(addresses.is_empty(), "{WHY}");
                continue;
            };
            for address in addresses {
                let holders = held.get_mut(address).expect(WHY);
                *holders -= 1;
                if *holders == 0 {
                    held.remove(address);
                }
            }
            if held.is_empty() {
                self.held.remove(name);
            }
        }
    }

    /// Whether `grant` is a part of the whole.
    pub(crate) fn check_ever_fits(&self, grant: &Grant) -> Result<(), GrantError> {
        let Grant { cores, memory_mib, addresses } = &self.total;
        if grant.cores > *cores {
            return Err(GrantError::TooManyCores { wanted: grant.cores, there: *cores });
        }
        if grant.memory_mib > *memory_mib {
            return Err(GrantError::TooMuchMemory { wanted: grant.memory_mib, there: *memory_mib });
        }
        for (resource, wanted) in &grant.addresses {
            let there = addresses.get(resource);
            let missing = wanted.iter().find(|&address| !there.is_some_and(|have| have.contains(address)));
            if let Some(address) = missing {
                return Err(GrantError::NoSuchAddress {
                    resource: resource.clone(),
                    address: address.clone(),
                });
            }
        }
        Ok(())
    }

    /// Asserts that nothing is held twice or beyond what there is, as it must be where only free things are given.
    pub(crate) fn check_exclusive(&self) {
        assert!(self.cores <= u64::from(self.total.cores) && self.memory_mib <= self.total.memory_mib);
        for (name, held) in &self.held {
            assert!(held.values().all(|holders| *holders == 1), "an address of {name} is given twice");
        }
    }

    fn is_held(&self, name: &ResourceName, address: &Arc<str>) -> bool {
        self.held.get(name).is_some_and(|held| held.contains_key(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(cores: u32, memory_mib: u64, gpus: &[&str]) -> Grant {
        let gpus = gpus.iter().map(|&gpu| Arc::from(gpu)).collect();
        Grant { cores, memory_mib, addresses: [("gpu".into(), gpus)].into() }
    }

    fn book() -> ResourceBook {
        ResourceBook::new(grant(4, 100, &["g0", "g1", "g2"]))
    }

    fn gpus(amount: u32) -> BTreeMap<ResourceName, u32> {
        [("gpu".into(), amount)].into()
    }

    /// Behaviours: MAST-027.
    #[test]
    fn free_addresses_are_given_in_order_and_come_back() {
        let mut book = book();

        let first = book.give(&Need { cores: 1, memory_mib: 10, resources: gpus(2) });

        assert_eq!(first, grant(1, 10, &["g0", "g1"]));
        assert_eq!((book.cores_free(), book.memory_free_mib(), book.fits_by_addresses(&gpus(1))), (3, 90, 1));
        assert!(!book.has_room_for(&Need { cores: 1, memory_mib: 10, resources: gpus(2) }));
        book.give_back(&first);
        assert_eq!(book, self::book());
    }

    /// Behaviours: MAST-027.
    #[test]
    fn what_is_taken_or_unknown_is_not_taken_as_free() {
        let mut book = book();
        assert!(book.take_if_free(&grant(2, 50, &["g1"])));
        let before = book.clone();

        for report in [grant(1, 1, &["g0", "g1"]), grant(1, 1, &["g7"]), grant(3, 1, &[]), grant(1, 51, &[])]
        {
            assert!(!book.take_if_free(&report), "{report:?}");
        }

        assert_eq!(book, before);
    }

    #[test]
    fn an_address_held_twice_is_free_when_both_have_given_it_back() {
        let mut book = book();
        book.take(&grant(3, 60, &["g0"]));
        book.take(&grant(3, 60, &["g0", "g1"]));
        assert_eq!((book.held(), book.cores_free()), ((6, 120), 0));

        book.give_back(&grant(3, 60, &["g0", "g1"]));

        assert_eq!(book.fits_by_addresses(&gpus(1)), 2);
        book.give_back(&grant(3, 60, &["g0"]));
        assert_eq!(book, self::book());
    }

    #[test]
    fn a_resource_that_is_not_there_fits_nobody_and_none_asked_fits_all() {
        assert_eq!(book().fits_by_addresses(&[("fpga".into(), 1)].into()), 0);
        assert_eq!(book().fits_by_addresses(&gpus(2)), 1);
        assert_eq!(book().fits_by_addresses(&gpus(0)), u32::MAX);
    }

    #[test]
    fn only_a_part_of_the_whole_ever_fits() {
        let check = |cores, memory_mib, gpus| book().check_ever_fits(&grant(cores, memory_mib, gpus));

        assert_eq!(check(4, 100, &["g1"]), Ok(()));
        assert_eq!(check(5, 1, &[]), Err(GrantError::TooManyCores { wanted: 5, there: 4 }));
        assert_eq!(check(1, 101, &[]), Err(GrantError::TooMuchMemory { wanted: 101, there: 100 }));
        let missing = GrantError::NoSuchAddress { resource: "gpu".into(), address: "g9".into() };
        assert_eq!(check(1, 1, &["g0", "g9"]), Err(missing));
    }
}
