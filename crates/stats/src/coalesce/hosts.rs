//! Hosts as small numbers, and how many groups each of them gets.

use firesteel_types::Host;
use foldhash::fast::FixedState;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// The hosts that partitions prefer, numbered in the order in which they first appear.
#[derive(Debug)]
pub(super) struct PreferredHosts<'h> {
    /// The name of each host.
    pub(super) names: Vec<&'h Host>,
    /// For each host the partitions that prefer it, in order.
    pub(super) partitions: Vec<Vec<u32>>,
    /// For each partition the hosts it prefers.
    pub(super) of_partition: Vec<Vec<usize>>,
}

impl<'h> PreferredHosts<'h> {
    /// Numbers the hosts.
    pub(super) fn new(preferred: &'h [Vec<Host>]) -> Self {
        let mut numbers: HashMap<&Host, usize, FixedState> = HashMap::default();
        let mut hosts = Self { names: Vec::new(), partitions: Vec::new(), of_partition: Vec::new() };
        for (partition, names) in (0..).zip(preferred) {
            let mut preferred = Vec::with_capacity(names.len());
            for name in names {
                let number = *numbers.entry(name).or_insert(hosts.names.len());
                if number == hosts.names.len() {
                    hosts.names.push(name);
                    hosts.partitions.push(Vec::new());
                }
                if !preferred.contains(&number) {
                    preferred.push(number);
                    hosts.partitions[number].push(partition);
                }
            }
            hosts.of_partition.push(preferred);
        }
        hosts
    }

    /// Gives each group a host: each host as many groups as its share of the data, the fullest hosts first.
    ///
    /// Seats in a parliament by the highest average: the next group goes to the host with the most partitions
    /// per group. Needs at least one host.
    pub(super) fn host_of_groups(&self, groups: usize) -> Vec<usize> {
        let average = |host: usize, groups: u64| ((self.partitions[host].len() as u64) << 32) / groups;
        let mut next: BinaryHeap<_> =
            (0..self.names.len()).map(|host| (average(host, 1), Reverse(host), 1)).collect();
        let mut chosen = Vec::with_capacity(groups);
        while chosen.len() < groups
            && let Some((_, Reverse(host), rank)) = next.pop()
        {
            chosen.push(host);
            next.push((average(host, rank + 1), Reverse(host), rank + 1));
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preferred(hosts: &[&[&str]]) -> Vec<Vec<Host>> {
        hosts.iter().map(|names| names.iter().map(|&name| Host::from(name)).collect()).collect()
    }

    #[test]
    fn hosts_are_numbered_as_they_appear_and_named_once_for_a_partition() {
        let preferred = preferred(&[&["b", "a"], &[], &["a", "a", "c"]]);

        let hosts = PreferredHosts::new(&preferred);

        assert_eq!(hosts.names.iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["b", "a", "c"]);
        assert_eq!(hosts.of_partition, [vec![0, 1], vec![], vec![1, 2]]);
        assert_eq!(hosts.partitions, [vec![0], vec![0, 2], vec![2]]);
    }

    #[test]
    fn groups_are_shared_out_by_the_partitions_of_each_host() {
        let preferred = preferred(&[&["a"], &["b"], &["b"], &["b"], &["b"], &["c"], &["c"]]);
        let hosts = PreferredHosts::new(&preferred);

        assert_eq!(hosts.host_of_groups(2), [1, 1], "four and two per group, before two for the third host");
        assert_eq!(hosts.host_of_groups(7), [1, 1, 2, 1, 0, 1, 2]);
    }

    #[test]
    fn equally_full_hosts_get_a_group_each_before_any_gets_two() {
        let preferred = preferred(&[["a", "b", "c"].as_slice(); 9]);

        assert_eq!(PreferredHosts::new(&preferred).host_of_groups(5), [0, 1, 2, 0, 1]);
    }
}
