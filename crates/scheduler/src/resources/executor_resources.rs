//! The ledger of one executor: what it has and what of it is free.
//!
//! The main type is [`ExecutorResources`]. It keeps amounts only: which task holds what is known to the owner of the
//! assignments. A task that needs nothing but cpus, which is nearly every task, costs a comparison and a subtraction;
//! the addresses are looked at only for tasks that ask for some.

use std::{collections::BTreeMap, sync::Arc};

use firesteel_types::{Cpus, ResourceAssignment, ResourceName, ResourceProfile, Share, TaskResourceRequest};
use serde::{Deserialize, Serialize};

use super::ResourceError;

/// Sums of slots stop where the slots of a single address do.
pub(super) const MOST_SLOTS: u32 = i32::MAX as u32;

/// What one task takes of an executor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskNeed {
    /// Cpus.
    pub cpus: Cpus,
    /// Custom resources. An amount of zero takes nothing.
    pub resources: TaskResourceRequest,
}

impl TaskNeed {
    /// Cpus and nothing else.
    pub const fn of_cpus(cpus: Cpus) -> Self {
        Self { cpus, resources: TaskResourceRequest::new() }
    }

    /// Whether it needs no custom resource.
    #[inline]
    pub fn is_cpus_only(&self) -> bool {
        self.resources.is_empty()
    }

    fn requested(&self) -> impl Iterator<Item = (&ResourceName, Share)> {
        self.resources.iter().map(|(name, &amount)| (name, amount)).filter(|(_, amount)| !amount.is_zero())
    }
}

impl From<&ResourceProfile> for TaskNeed {
    /// What a task of the profile takes; requests of zero are left out, so that they cost nothing later.
    fn from(profile: &ResourceProfile) -> Self {
        let resources = profile.requested_resources().map(|(name, &amount)| (name.clone(), amount)).collect();
        Self { cpus: profile.task_cpus, resources }
    }
}

/// What one executor has, and what of it is free.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorResources {
    cpus_total: Cpus,
    cpus_free: Cpus,
    /// The addresses of each custom resource in the order of their names, which is the order they are taken in.
    custom: BTreeMap<ResourceName, Vec<Address>>,
}

/// One address of a custom resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Address {
    name: Arc<str>,
    free: Share,
}

impl Address {
    fn is_whole(&self) -> bool {
        self.free == Share::WHOLE
    }
}

/// In which direction amounts named by an assignment move.
#[derive(Clone, Copy)]
enum Move {
    Take,
    GiveBack,
}

impl ExecutorResources {
    /// An executor of which nothing is taken yet. An address named twice counts once.
    pub fn new(cpus: Cpus, addresses: BTreeMap<ResourceName, Vec<Arc<str>>>) -> Self {
        let custom = addresses.into_iter().map(|(resource, mut names)| {
            names.sort_unstable();
            names.dedup();
            let whole = names.into_iter().map(|name| Address { name, free: Share::WHOLE });
            (resource, whole.collect())
        });
        Self { cpus_total: cpus, cpus_free: cpus, custom: custom.collect() }
    }

    /// Cpus that are not taken.
    #[inline]
    pub const fn cpus_free(&self) -> Cpus {
        self.cpus_free
    }

    /// Cpus, taken or free.
    #[inline]
    pub const fn cpus_total(&self) -> Cpus {
        self.cpus_total
    }

    /// Whether a task fits now.
    #[inline]
    pub fn can_take(&self, need: &TaskNeed) -> bool {
        self.cpus_free >= need.cpus && (need.is_cpus_only() || self.has_addresses(need))
    }

    /// Takes what a task needs and returns which addresses it got, or takes nothing when it does not fit.
    ///
    /// Whole amounts take entirely free addresses, parts the first address with enough left, both in the order
    /// of the addresses, so that one is filled before the next. Without custom resources the assignment is
    /// empty, and nothing is allocated.
    #[inline]
    pub fn take(&mut self, need: &TaskNeed) -> Option<ResourceAssignment> {
        if !self.can_take(need) {
            return None;
        }
        self.cpus_free = self.cpus_free - need.cpus;
        if need.is_cpus_only() {
            return Some(ResourceAssignment::new());
        }
        let assignment = need.requested().map(|(resource, amount)| {
            let addresses =
                self.custom.get_mut(resource).expect("can_take has found every resource of the need");
            (resource.clone(), take_from(addresses, amount))
        });
        let assignment = assignment.collect();
        self.check_in_debug();
        Some(assignment)
    }

    /// Takes exactly what is named, as when an executor reports tasks that run on it already. After an error
    /// nothing has changed.
    pub fn take_exactly(&mut self, cpus: Cpus, assignment: &ResourceAssignment) -> Result<(), ResourceError> {
        let error = ResourceError::NotEnoughCpus { wanted: cpus, free: self.cpus_free };
        let free = self.cpus_free.checked_sub(cpus).ok_or(error)?;
        self.move_all(assignment, Move::Take)?;
        self.cpus_free = free;
        self.check_in_debug();
        Ok(())
    }

    /// Gives back exactly what is named. After an error nothing has changed.
    #[inline]
    pub fn give_back(&mut self, cpus: Cpus, assignment: &ResourceAssignment) -> Result<(), ResourceError> {
        let taken = self.cpus_total - self.cpus_free;
        if cpus > taken {
            return Err(ResourceError::TooManyCpus { given: cpus, taken });
        }
        if !assignment.is_empty() {
            self.move_all(assignment, Move::GiveBack)?;
        }
        self.cpus_free = self.cpus_free.plus(cpus);
        self.check_in_debug();
        Ok(())
    }

    /// How many tasks fit in what is free now, at most `i32::MAX`.
    pub fn free_slots(&self, need: &TaskNeed) -> u32 {
        self.slots(self.cpus_free, need, |addresses, each| {
            let whole = addresses.iter().filter(|address| address.is_whole()).count();
            if each.is_whole() {
                return Share::slots_on_addresses(whole as u32, each);
            }
            let slots = addresses.iter().map(|address| address.free.slots(each));
            slots.fold(0, u32::saturating_add).min(MOST_SLOTS)
        })
    }

    /// How many tasks the executor can run at once, regardless of what it runs now; at most `i32::MAX`.
    pub fn total_slots(&self, need: &TaskNeed) -> u32 {
        self.slots(self.cpus_total, need, |addresses, each| {
            Share::slots_on_addresses(addresses.len() as u32, each)
        })
    }

    /// Whether nothing at all is taken.
    pub fn is_all_free(&self) -> bool {
        self.cpus_free == self.cpus_total && self.custom.values().flatten().all(Address::is_whole)
    }

    /// Every address with what is free of it, by resource and address.
    pub fn addresses(&self) -> impl Iterator<Item = (&ResourceName, &Arc<str>, Share)> {
        self.custom.iter().flat_map(|(resource, addresses)| {
            addresses.iter().map(move |address| (resource, &address.name, address.free))
        })
    }

    /// The addresses of `resource` that are taken in part or as a whole.
    pub fn taken_addresses(&self, resource: &str) -> impl Iterator<Item = &Arc<str>> {
        let addresses = self.custom.get(resource).map_or(&[][..], Vec::as_slice);
        addresses.iter().filter(|address| !address.is_whole()).map(|address| &address.name)
    }

    /// Checks that no more is free than there is.
    pub fn check_invariants(&self) {
        assert!(self.cpus_free <= self.cpus_total, "more cpus are free than there are");
        for addresses in self.custom.values() {
            assert!(addresses.is_sorted_by(|a, b| a.name < b.name), "addresses are sorted and distinct");
            assert!(addresses.iter().all(|address| address.free <= Share::WHOLE), "an address is one whole");
        }
    }

    #[inline]
    fn check_in_debug(&self) {
        if cfg!(debug_assertions) {
            self.check_invariants();
        }
    }

    fn has_addresses(&self, need: &TaskNeed) -> bool {
        need.requested().all(|(resource, amount)| {
            let Some(addresses) = self.custom.get(resource) else { return false };
            if amount.is_whole() {
                let wanted = whole_addresses(amount);
                addresses.iter().filter(|address| address.is_whole()).take(wanted).count() == wanted
            } else {
                addresses.iter().any(|address| address.free >= amount)
            }
        })
    }

    fn slots(&self, cpus: Cpus, need: &TaskNeed, on_addresses: impl Fn(&[Address], Share) -> u32) -> u32 {
        need.requested().fold(cpus.slots(need.cpus), |least, (resource, each)| {
            let slots = self.custom.get(resource).map_or(0, |addresses| on_addresses(addresses, each));
            least.min(slots)
        })
    }

    /// Moves all shares of an assignment, or none of them: it may come from a peer and name anything, even an
    /// address twice, so each share is checked against what the ones before it have left.
    fn move_all(&mut self, assignment: &ResourceAssignment, direction: Move) -> Result<(), ResourceError> {
        // Looked at first, because an assignment may name a resource without any address of it.
        if let Some(resource) = assignment.keys().find(|resource| !self.custom.contains_key(*resource)) {
            return Err(ResourceError::UnknownResource { resource: resource.clone() });
        }
        let shares =
            || assignment.iter().flat_map(|(name, shares)| shares.iter().map(move |one| (name, one)));
        for (done, (resource, (address, share))) in shares().enumerate() {
            if let Err(error) = self.move_share(resource, address, *share, direction) {
                let back = match direction {
                    Move::Take => Move::GiveBack,
                    Move::GiveBack => Move::Take,
                };
                for (resource, (address, share)) in shares().take(done) {
                    self.move_share(resource, address, *share, back)
                        .expect("what has just been moved can be moved back");
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn move_share(
        &mut self,
        resource: &ResourceName,
        address: &Arc<str>,
        share: Share,
        direction: Move,
    ) -> Result<(), ResourceError> {
        let addresses = self.custom.get_mut(resource).expect("move_all has looked for every resource");
        let Ok(place) = addresses.binary_search_by(|one| one.name.cmp(address)) else {
            let (resource, address) = (resource.clone(), address.clone());
            return Err(ResourceError::UnknownAddress { resource, address });
        };
        let free = addresses[place].free;
        let after = match direction {
            Move::Take => free.checked_sub(share),
            Move::GiveBack => Some(free.plus(share)).filter(|&after| after <= Share::WHOLE),
        };
        let Some(after) = after else {
            let (resource, address) = (resource.clone(), address.clone());
            return Err(match direction {
                Move::Take => ResourceError::NotEnoughLeft { resource, address, wanted: share, free },
                Move::GiveBack => ResourceError::BeyondWhole { resource, address, given: share, free },
            });
        };
        addresses[place].free = after;
        Ok(())
    }
}

/// The number of addresses in a whole amount.
fn whole_addresses(amount: Share) -> usize {
    (amount.units() / Share::WHOLE.units()) as usize
}

/// Takes `amount` of addresses that are known to have it.
fn take_from(addresses: &mut [Address], amount: Share) -> Vec<(Arc<str>, Share)> {
    if amount.is_whole() {
        let free = addresses.iter_mut().filter(|address| address.is_whole());
        let taken = free.take(whole_addresses(amount)).map(|address| {
            address.free = Share::ZERO;
            (address.name.clone(), Share::WHOLE)
        });
        return taken.collect();
    }
    let address = addresses
        .iter_mut()
        .find(|address| address.free >= amount)
        .expect("can_take has found an address with enough left");
    address.free =
        address.free.checked_sub(amount).expect("the address was chosen because it has enough left");
    vec![(address.name.clone(), amount)]
}
