//! Groups of partitions whose data is on the same host.

use firesteel_types::{Host, Rng};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;

use super::hosts::PreferredHosts;
use super::neighbours::{CoalesceError, group_neighbours};

/// How much more than its neighbours a group may hold for the sake of locality, as a share of all partitions.
pub const DEFAULT_BALANCE_SLACK: f64 = 0.10;

/// Partitions that one task computes, and the host it should run on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionGroup {
    /// The partitions, in order.
    pub partitions: Vec<u32>,
    /// The host that the group was made for.
    pub host: Option<Host>,
}

/// Groups partitions such that most of a group's partitions prefer its host and groups hold about the same number.
///
/// `preferred` lists the hosts of each partition. Groups are shared out among hosts by the partitions on them, and
/// each gets one partition. Every other partition goes to the least filled group of a host it prefers, unless that
/// group has `balance_slack` of all partitions more than the less filled of two random ones, which then gets it.
/// (Spark's `DefaultPartitionCoalescer` does the same, but gives hosts their groups by chance.) Without any preferred
/// host the groups are those of [`group_neighbours`]. The seed alone decides the random choices.
///
/// ```
/// use firesteel_stats::{DEFAULT_BALANCE_SLACK, group_by_locality};
///
/// let (a, b) = (vec!["a".into()], vec!["b".into()]);
/// let groups = group_by_locality(&[a.clone(), b.clone(), b, a], 2, DEFAULT_BALANCE_SLACK, 1)?;
///
/// assert_eq!(groups[0].partitions, [0, 3]);
/// assert_eq!(groups[1].host, Some("b".into()));
/// # Ok::<(), firesteel_stats::CoalesceError>(())
/// ```
#[expect(clippy::cast_sign_loss, reason = "a negative slack counts as none")]
pub fn group_by_locality(
    preferred: &[Vec<Host>],
    groups: u32,
    balance_slack: f64,
    seed: u64,
) -> Result<Vec<PartitionGroup>, CoalesceError> {
    let neighbours = group_neighbours(preferred.len() as u32, groups)?;
    let hosts = PreferredHosts::new(preferred);
    if hosts.names.is_empty() {
        let group = |range: Range<u32>| PartitionGroup { partitions: range.collect(), host: None };
        return Ok(neighbours.into_iter().map(group).collect());
    }
    let slack = (balance_slack * preferred.len() as f64) as usize;
    let mut packing = Packing::new(&hosts, neighbours.len(), seed);
    packing.give_each_group_one();
    packing.place_the_rest(slack);
    Ok(packing.into_groups())
}

/// Groups being filled.
struct Packing<'a> {
    hosts: &'a PreferredHosts<'a>,
    host_of_group: Vec<usize>,
    /// For each host its groups, the least filled first.
    groups_of_host: Vec<BTreeSet<(usize, usize)>>,
    groups: Vec<Vec<u32>>,
    is_placed: Vec<bool>,
    rng: Rng,
}

impl<'a> Packing<'a> {
    fn new(hosts: &'a PreferredHosts<'a>, groups: usize, seed: u64) -> Self {
        let host_of_group = hosts.host_of_groups(groups);
        let mut groups_of_host = vec![BTreeSet::new(); hosts.names.len()];
        for (group, &host) in host_of_group.iter().enumerate() {
            groups_of_host[host].insert((0, group));
        }
        Self {
            hosts,
            host_of_group,
            groups_of_host,
            groups: vec![Vec::new(); groups],
            is_placed: vec![false; hosts.of_partition.len()],
            rng: Rng::new(seed),
        }
    }

    /// Puts a partition into every group, so that there are as many groups as asked for.
    fn give_each_group_one(&mut self) {
        let hosts = self.hosts;
        // Partitions are only ever placed, so each search goes on where the last one for the same list ended.
        let mut local: Vec<_> =
            hosts.partitions.iter().map(|partitions| partitions.iter().copied()).collect();
        for group in 0..self.groups.len() {
            let on_host = local[self.host_of_group[group]].by_ref();
            if let Some(partition) = on_host.find(|&partition| !self.is_placed[partition as usize]) {
                self.place(partition, group);
            }
        }
        // A partition that prefers no host loses nothing in a group that has none of its own left.
        let is_free = |&partition: &u32| hosts.of_partition[partition as usize].is_empty();
        let all = 0..hosts.of_partition.len() as u32;
        let mut others = all.clone().filter(is_free).chain(all);
        for group in 0..self.groups.len() {
            if self.groups[group].is_empty()
                && let Some(partition) = others.find(|&partition| !self.is_placed[partition as usize])
            {
                self.place(partition, group);
            }
        }
    }

    fn place_the_rest(&mut self, slack: usize) {
        for partition in 0..self.is_placed.len() {
            if self.is_placed[partition] {
                continue;
            }
            let balanced = self.less_filled_of_two();
            let group = match self.least_filled_local(partition) {
                Some((size, local)) if size < self.groups[balanced].len() + slack.max(1) => local,
                _ => balanced,
            };
            self.place(partition as u32, group);
        }
    }

    /// The size and number of the least filled group on a host that the partition prefers.
    fn least_filled_local(&self, partition: usize) -> Option<(usize, usize)> {
        let hosts = self.hosts.of_partition[partition].iter();
        hosts.filter_map(|&host| self.groups_of_host[host].first().copied()).min()
    }

    fn less_filled_of_two(&mut self) -> usize {
        let (one, other) = (self.rng.below(self.groups.len()), self.rng.below(self.groups.len()));
        if self.groups[one].len() < self.groups[other].len() { one } else { other }
    }

    fn place(&mut self, partition: u32, group: usize) {
        let size = self.groups[group].len();
        let groups = &mut self.groups_of_host[self.host_of_group[group]];
        groups.remove(&(size, group));
        groups.insert((size + 1, group));
        self.groups[group].push(partition);
        self.is_placed[partition as usize] = true;
    }

    fn into_groups(self) -> Vec<PartitionGroup> {
        let hosts = self.host_of_group.iter().map(|&host| self.hosts.names[host].clone());
        let mut groups: Vec<_> = self.groups.into_iter().zip(hosts).collect();
        // By their first partition, so that rows stay near the order they had.
        for (partitions, _) in &mut groups {
            partitions.sort_unstable();
        }
        groups.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        groups.into_iter().map(|(partitions, host)| PartitionGroup { partitions, host: Some(host) }).collect()
    }
}

#[cfg(test)]
mod tests;
