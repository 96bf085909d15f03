//! What the worker's executors and drivers hold of its resources.
//!
//! [`Holdings`] counts; it grants nothing. The master may give out again what a process it has killed still
//! holds for a moment, and after a lost connection it may not know of old executors yet. So more can be held
//! than there is for a short time, and that is not refused: only an order that could never fit is.

use std::collections::BTreeMap;
use std::sync::Arc;

use firesteel_types::ResourceName;

use super::message::Grant;

/// Why an order can never be carried out here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LaunchError {
    #[error("{wanted} cores were ordered, but the worker has only {there}")]
    TooManyCores { wanted: u32, there: u32 },
    #[error("{wanted} MiB of memory were ordered, but the worker has only {there}")]
    TooMuchMemory { wanted: u64, there: u64 },
    #[error("{resource} {address} was ordered, but the worker does not have it")]
    NoSuchAddress { resource: ResourceName, address: Arc<str> },
    #[error("`{name}` cannot be the name of a directory")]
    BadName { name: String },
}

/// Sums of all grants in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Holdings {
    pub(super) cores: u64,
    pub(super) memory_mib: u64,
    /// How many hold each address; addresses that nobody holds are absent.
    pub(super) addresses: BTreeMap<ResourceName, BTreeMap<Arc<str>, u32>>,
}

impl Holdings {
    /// Counts `grant` as held.
    pub(super) fn take(&mut self, grant: &Grant) {
        self.cores += u64::from(grant.cores);
        self.memory_mib += grant.memory_mib;
        for (resource, addresses) in &grant.addresses {
            for address in addresses {
                *self.addresses.entry(resource.clone()).or_default().entry(address.clone()).or_default() += 1;
            }
        }
    }

    /// Counts `grant` as held no more.
    pub(super) fn give_back(&mut self, grant: &Grant) {
        self.cores = self.cores.checked_sub(u64::from(grant.cores)).expect("only what was taken comes back");
        self.memory_mib =
            self.memory_mib.checked_sub(grant.memory_mib).expect("only what was taken comes back");
        for (resource, addresses) in &grant.addresses {
            for address in addresses {
                self.give_back_address(resource, address);
            }
        }
    }

    fn give_back_address(&mut self, resource: &ResourceName, address: &Arc<str>) {
        let held = self.addresses.get_mut(resource).expect("only what was taken comes back");
        let holders = held.get_mut(address).expect("only what was taken comes back");
        *holders -= 1;
        if *holders == 0 {
            held.remove(address);
        }
        if held.is_empty() {
            self.addresses.remove(resource);
        }
    }
}

/// Whether `wanted` is a part of `total`.
pub(super) fn check_fits(wanted: &Grant, total: &Grant) -> Result<(), LaunchError> {
    if wanted.cores > total.cores {
        return Err(LaunchError::TooManyCores { wanted: wanted.cores, there: total.cores });
    }
    if wanted.memory_mib > total.memory_mib {
        return Err(LaunchError::TooMuchMemory { wanted: wanted.memory_mib, there: total.memory_mib });
    }
    for (resource, addresses) in &wanted.addresses {
        let there = total.addresses.get(resource);
        let missing = addresses.iter().find(|&address| !there.is_some_and(|have| have.contains(address)));
        if let Some(address) = missing {
            return Err(LaunchError::NoSuchAddress { resource: resource.clone(), address: address.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(cores: u32, memory_mib: u64, gpus: &[&str]) -> Grant {
        let gpus = gpus.iter().map(|&gpu| Arc::from(gpu)).collect();
        Grant { cores, memory_mib, addresses: [("gpu".into(), gpus)].into() }
    }

    #[test]
    fn an_address_held_twice_is_free_when_both_have_given_it_back() {
        let mut held = Holdings::default();
        held.take(&grant(1, 10, &["0"]));
        held.take(&grant(2, 20, &["0", "1"]));

        held.give_back(&grant(2, 20, &["0", "1"]));

        let mut expected = Holdings::default();
        expected.take(&grant(1, 10, &["0"]));
        assert_eq!(held, expected);
        held.give_back(&grant(1, 10, &["0"]));
        assert_eq!(held, Holdings::default());
    }

    #[test]
    fn only_a_part_of_the_whole_fits() {
        let total = grant(4, 100, &["0", "1"]);

        assert_eq!(check_fits(&grant(4, 100, &["1"]), &total), Ok(()));
        assert_eq!(
            check_fits(&grant(5, 1, &[]), &total),
            Err(LaunchError::TooManyCores { wanted: 5, there: 4 })
        );
        assert_eq!(
            check_fits(&grant(1, 101, &[]), &total),
            Err(LaunchError::TooMuchMemory { wanted: 101, there: 100 })
        );
        assert_eq!(
            check_fits(&grant(1, 1, &["0", "2"]), &total),
            Err(LaunchError::NoSuchAddress { resource: "gpu".into(), address: "2".into() })
        );
    }
}
