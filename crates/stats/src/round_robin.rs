//! Dealing rows to partitions in turn.

use firesteel_types::Rng;

use crate::sampling::derive_seed;

/// Deals the rows of one input partition to output partitions in turn, from a random start.
///
/// The start depends on the input partition: if every input began at output 0, the last round of each would go to the
/// same few outputs, and many small inputs would fill only those. It depends on nothing else, so that equal inputs are
/// dealt alike.
///
/// ```
/// use firesteel_stats::RoundRobin;
///
/// let mut dealer = RoundRobin::new(3, 0);
/// let start = dealer.next_partition();
/// assert_eq!(dealer.next_partition(), (start + 1) % 3);
/// assert_eq!(RoundRobin::new(3, 0).next_partition(), start);
/// ```
#[derive(Clone, Debug)]
pub struct RoundRobin {
    next: u32,
    partitions: u32,
}

impl RoundRobin {
    /// Makes the dealer for the rows of `input` among `partitions` outputs, of which there is at least one.
    pub fn new(partitions: u32, input: u32) -> Self {
        let start = Rng::new(derive_seed(0, u64::from(input))).below(partitions as usize);
        Self { next: start as u32, partitions }
    }

    /// The output partition of the next row.
    #[inline]
    pub fn next_partition(&mut self) -> u32 {
        let current = self.next;
        // A comparison and not a remainder: there is one for each row.
        self.next = if current + 1 < self.partitions { current + 1 } else { 0 };
        current
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn inputs_start_at_different_outputs_all_about_equally_often() {
        let mut starts = [0_u32; 10];
        for input in 0..10_000 {
            starts[RoundRobin::new(10, input).next_partition() as usize] += 1;
        }

        // 1000 each with a standard deviation of 30.
        assert!(starts.iter().all(|&n| n.abs_diff(1000) < 150), "{starts:?}");
    }

    #[test]
    fn many_inputs_of_one_row_do_not_all_go_to_the_same_output() {
        let used: std::collections::BTreeSet<u32> =
            (0..100).map(|input| RoundRobin::new(20, input).next_partition()).collect();

        assert!(used.len() > 15, "{used:?}");
    }

    proptest! {
        /// Behaviours: RDD-014.
        #[test]
        fn sizes_of_outputs_differ_by_at_most_the_number_of_inputs(
            inputs in prop::collection::vec(0..300_u32, 0..12), partitions in 1..20_u32,
        ) {
            let mut sizes = vec![0_usize; partitions as usize];
            for (rows, input) in inputs.iter().zip(0..) {
                let mut dealer = RoundRobin::new(partitions, input);
                (0..*rows).for_each(|_| sizes[dealer.next_partition() as usize] += 1);
            }

            let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            prop_assert!(most - least <= inputs.len(), "{:?}", sizes);
        }
    }
}
