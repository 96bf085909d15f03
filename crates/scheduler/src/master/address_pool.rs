//! The addresses of a worker's custom resources: which are free and which are given out.
//!
//! [`AddressPools`] holds every resource of one worker. An address is given to one executor or driver at a time,
//! whole. It does not know to whom.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use firesteel_types::ResourceName;
use serde::{Deserialize, Serialize};

use super::event::Addresses;

/// All custom resources of one worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AddressPools(BTreeMap<ResourceName, AddressPool>);

/// The addresses of one resource, in the order the worker gave them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct AddressPool {
    addresses: Vec<Arc<str>>,
    /// Positions that are given out.
    taken: BTreeSet<usize>,
}

impl AddressPools {
    /// Every address free. An address that is named twice counts once.
    pub(super) fn new(resources: &Addresses) -> Self {
        let pool = |addresses: &Vec<Arc<str>>| {
            let mut seen = BTreeSet::new();
            let addresses = addresses.iter().filter(|address| seen.insert(Arc::clone(address))).cloned();
            AddressPool { addresses: addresses.collect(), taken: BTreeSet::new() }
        };
        Self(resources.iter().map(|(name, addresses)| (Arc::clone(name), pool(addresses))).collect())
    }

    /// How many executors or drivers that each need `request` the free addresses suffice for.
    pub(super) fn fits(&self, request: &BTreeMap<ResourceName, u32>) -> u32 {
        let per_resource = request.iter().filter(|(_, amount)| **amount > 0).map(|(name, amount)| {
            let free = self.0.get(name).map_or(0, AddressPool::free);
            u32::try_from(free).unwrap_or(u32::MAX) / amount
        });
        per_resource.min().unwrap_or(u32::MAX)
    }

    /// Gives out the first free addresses. The caller has checked that they suffice.
    pub(super) fn take(&mut self, request: &BTreeMap<ResourceName, u32>) -> Addresses {
        let mut given = Addresses::new();
        for (name, amount) in request.iter().filter(|(_, amount)| **amount > 0) {
            let pool = self.0.get_mut(name).expect("a worker is asked only for resources it has");
            given.insert(Arc::clone(name), pool.take(*amount as usize));
        }
        given
    }

    /// Gives out exactly these addresses, or nothing and false when one of them is unknown or taken.
    pub(super) fn take_exactly(&mut self, wanted: &Addresses) -> bool {
        let mut positions = Vec::new();
        for (name, addresses) in wanted {
            let mut of_name = BTreeSet::new();
            let Some(pool) = self.0.get(name) else { return false };
            for address in addresses {
                match pool.position(address) {
                    Some(at) if !pool.taken.contains(&at) && of_name.insert(at) => (),
                    Some(_) | None => return false,
                }
            }
            positions.push((name, of_name));
        }
        for (name, of_name) in positions {
            self.0.get_mut(name).expect("looked up above").taken.extend(of_name);
        }
        true
    }

    /// Takes addresses back.
    pub(super) fn give_back(&mut self, given: &Addresses) {
        for (name, addresses) in given {
            let pool = self.0.get_mut(name).expect("given addresses are of a resource of this worker");
            for address in addresses {
                let at = pool.position(address).expect("given addresses are addresses of this worker");
                assert!(pool.taken.remove(&at), "address {address} of {name} was given back twice");
            }
        }
    }

    /// Every address that is given out.
    pub(super) fn taken(&self) -> BTreeSet<(ResourceName, Arc<str>)> {
        let of_pool = |(name, pool): (&ResourceName, &AddressPool)| {
            let named = pool.taken.iter().map(|at| (Arc::clone(name), Arc::clone(&pool.addresses[*at])));
            named.collect::<Vec<_>>()
        };
        self.0.iter().flat_map(of_pool).collect()
    }
}

impl AddressPool {
    fn free(&self) -> usize {
        self.addresses.len() - self.taken.len()
    }

    fn position(&self, address: &Arc<str>) -> Option<usize> {
        self.addresses.iter().position(|known| known == address)
    }

    fn take(&mut self, amount: usize) -> Vec<Arc<str>> {
        let free = (0..self.addresses.len()).filter(|at| !self.taken.contains(at));
        let positions: Vec<usize> = free.take(amount).collect();
        assert_eq!(positions.len(), amount, "addresses are taken only where they are free");
        self.taken.extend(&positions);
        positions.into_iter().map(|at| Arc::clone(&self.addresses[at])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpus(names: &[&str]) -> Addresses {
        Addresses::from([("gpu".into(), names.iter().map(|name| Arc::from(*name)).collect())])
    }

    fn request(amount: u32) -> BTreeMap<ResourceName, u32> {
        BTreeMap::from([("gpu".into(), amount)])
    }

    /// Behaviours: MAST-027.
    #[test]
    fn addresses_are_given_in_order_and_come_back() {
        let mut pools = AddressPools::new(&gpus(&["g0", "g1", "g2", "g1"]));

        let first = pools.take(&request(2));

        assert_eq!(first, gpus(&["g0", "g1"]));
        assert_eq!(pools.fits(&request(1)), 1);
        pools.give_back(&first);
        assert_eq!(pools, AddressPools::new(&gpus(&["g0", "g1", "g2"])));
    }

    /// Behaviours: MAST-027.
    #[test]
    fn a_report_of_taken_or_unknown_addresses_takes_nothing() {
        let mut pools = AddressPools::new(&gpus(&["g0", "g1", "g2"]));
        assert!(pools.take_exactly(&gpus(&["g1"])));
        let before = pools.clone();

        for report in [gpus(&["g0", "g1"]), gpus(&["g7"]), gpus(&["g2", "g2"])] {
            assert!(!pools.take_exactly(&report), "{report:?}");
        }

        assert_eq!(pools, before);
    }

    #[test]
    fn a_resource_the_worker_lacks_fits_nobody_and_none_asked_fits_all() {
        let pools = AddressPools::new(&gpus(&["g0", "g1", "g2"]));

        assert_eq!(pools.fits(&BTreeMap::from([("fpga".into(), 1)])), 0);
        assert_eq!(pools.fits(&request(2)), 1);
        assert_eq!(pools.fits(&request(0)), u32::MAX);
    }
}
