//! What groups by locality promise.

use super::*;
use firesteel_types::Rng;
use proptest::prelude::*;

/// Partitions with three replicas each on random hosts.
fn replicated(partitions: usize, hosts: usize, seed: u64) -> Vec<Vec<Host>> {
    let mut rng = Rng::new(seed);
    let host = |number: usize| Host::from(format!("host-{number}"));
    (0..partitions).map(|_| (0..3).map(|_| host(rng.below(hosts))).collect()).collect()
}

fn named(hosts: &[&[&str]]) -> Vec<Vec<Host>> {
    hosts.iter().map(|names| names.iter().map(|&name| Host::from(name)).collect()).collect()
}

fn group(preferred: &[Vec<Host>], groups: u32) -> Vec<PartitionGroup> {
    group_by_locality(preferred, groups, DEFAULT_BALANCE_SLACK, 7919).unwrap()
}

/// The share of a group's partitions that prefer its host.
fn local_share(group: &PartitionGroup, preferred: &[Vec<Host>]) -> f64 {
    let is_local = |&&partition: &&u32| {
        group.host.as_ref().is_some_and(|host| preferred[partition as usize].contains(host))
    };
    group.partitions.iter().filter(is_local).count() as f64 / group.partitions.len() as f64
}

/// Behaviours: RDD-013.
#[test]
fn without_preferred_hosts_groups_are_neighbours() {
    for (partitions, groups) in [(10, 3), (3, 10), (0, 2)] {
        let made = group(&vec![Vec::new(); partitions], groups);

        let expected = group_neighbours(partitions as u32, groups).unwrap();
        let as_made = |range: Range<u32>| PartitionGroup { partitions: range.collect(), host: None };
        assert_eq!(made, expected.into_iter().map(as_made).collect::<Vec<_>>());
    }
    assert_eq!(group_by_locality(&[Vec::new()], 0, 0.1, 1), Err(CoalesceError));
}

#[test]
fn each_host_gets_a_group_of_its_own_if_all_hold_everything() {
    let preferred = named(&[["a", "b", "c"].as_slice(); 9]);

    let groups = group(&preferred, 3);

    let mut hosts: Vec<_> = groups.iter().filter_map(|group| group.host.clone()).collect();
    hosts.sort_unstable();
    assert_eq!(hosts, ["a", "b", "c"].map(Host::from));
    assert!(groups.iter().all(|group| group.partitions.len() == 3));
}

#[test]
fn many_replicated_partitions_are_balanced_and_nine_in_ten_are_local() {
    for (partitions, hosts, groups) in [(10_000, 6, 100), (10_000, 30, 100), (1_000, 50, 20)] {
        let preferred = replicated(partitions, hosts, 3);

        let made = group(&preferred, groups);

        let even = partitions as f64 / f64::from(groups);
        assert_eq!(made.len(), groups as usize);
        for group in &made {
            assert!((group.partitions.len() as f64 - even).abs() <= 0.2 * even, "{}", group.partitions.len());
        }
        let local: f64 = made.iter().map(|group| local_share(group, &preferred)).sum();
        let wanted = if hosts <= groups as usize { 0.9 } else { 0.7 };
        assert!(local / made.len() as f64 >= wanted, "{hosts} hosts: {local}");
    }
}

#[test]
fn a_host_with_most_of_the_data_gets_most_of_the_groups() {
    let preferred: Vec<_> =
        (0..1000).map(|i| vec![Host::from(if i % 10 == 0 { "b" } else { "a" })]).collect();

    let groups = group(&preferred, 20);

    let on_a = groups.iter().filter(|group| group.host == Some(Host::from("a"))).count();
    assert_eq!(on_a, 18);
    for group in &groups {
        assert!(local_share(group, &preferred) >= 1.0);
        assert!(group.partitions.len().abs_diff(50) <= 5, "{}", group.partitions.len());
    }
}

#[test]
fn slack_decides_between_balance_and_locality() {
    let mut preferred = named(&[["a"].as_slice(); 50]);
    preferred.extend(named(&[["b"].as_slice(); 30]));
    let sizes = |slack| -> Vec<usize> {
        let groups = group_by_locality(&preferred, 2, slack, 5).unwrap();
        groups.iter().map(|group| group.partitions.len()).collect()
    };

    assert_eq!(sizes(1.0), [50, 30]);
    assert!(sizes(0.0).iter().all(|size| size.abs_diff(40) <= 1), "{:?}", sizes(0.0));
}

#[test]
fn partitions_without_a_preferred_host_fill_the_groups_that_lack_some() {
    let mut preferred = named(&[&["a"], &["b"]]);
    preferred.extend(vec![Vec::new(); 18]);

    let groups = group(&preferred, 10);

    assert_eq!(groups.len(), 10);
    assert!(groups.iter().all(|group| !group.partitions.is_empty()));
    assert!(groups.iter().all(|group| group.partitions.len() <= 5), "{groups:?}");
}

#[test]
fn the_seed_decides() {
    let preferred = replicated(500, 40, 1);
    let groups = |seed| group_by_locality(&preferred, 25, 0.0, seed).unwrap();

    assert_eq!(groups(1), groups(1));
    assert_ne!(groups(1), groups(2));
}

proptest! {
    #[test]
    fn every_partition_is_in_one_group_and_no_group_is_empty(
        preferred in prop::collection::vec(prop::collection::vec(0..6_u8, 0..4), 0..60),
        groups in 1..30_u32, slack in 0.0..1.0_f64, seed: u64,
    ) {
        let host = |number: &u8| Host::from(number.to_string());
        let preferred: Vec<Vec<Host>> = preferred.iter().map(|hosts| hosts.iter().map(host).collect()).collect();

        let made = group_by_locality(&preferred, groups, slack, seed).unwrap();

        prop_assert_eq!(made.len(), preferred.len().min(groups as usize));
        prop_assert!(made.iter().all(|group| !group.partitions.is_empty()));
        prop_assert!(made.iter().all(|group| group.partitions.is_sorted()));
        prop_assert!(made.is_sorted_by_key(|group| group.partitions[0]));
        let mut all: Vec<u32> = made.into_iter().flat_map(|group| group.partitions).collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..preferred.len() as u32).collect::<Vec<_>>());
    }
}
