//! The sizes of the blocks of one map output, small enough to keep a million of them.
//!
//! [`BlockSizes`] answers with estimates. The one thing it promises exactly is emptiness: a block that has
//! bytes is never reported empty, because readers skip empty blocks.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::size_code;

/// When sizes are no longer kept one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeLimits {
    /// The largest number of blocks of which each has its own size (Spark's
    /// `firesteel.shuffle.minNumPartitionsToHighlyCompress`).
    pub coded_blocks_max: u32,
    /// Above that number only blocks of at least this many bytes have their own size
    /// (`firesteel.shuffle.accurateBlockThreshold`).
    pub accurate_block_bytes: u64,
}

impl Default for SizeLimits {
    fn default() -> Self {
        Self { coded_blocks_max: 2000, accurate_block_bytes: 100 << 20 }
    }
}

/// The sizes of one map output's blocks, one block for each reducer. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSizes(Form);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Form {
    /// Nothing but empty blocks.
    Empty { blocks: u32 },
    /// One byte for each block.
    Coded(Arc<[u8]>),
    /// One size for all blocks but the huge and the empty ones.
    Averaged(Arc<Averaged>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Averaged {
    blocks: u32,
    average: u64,
    /// A bit for each empty block, without the zero bytes at the end: often there is nothing to store.
    empty: Box<[u8]>,
    /// Reducer and size of each huge block, by reducer.
    huge: Box<[(u32, u64)]>,
}

impl BlockSizes {
    /// The sizes of `blocks` empty blocks. Costs no allocation.
    pub const fn empty(blocks: u32) -> Self {
        Self(Form::Empty { blocks })
    }

    /// The sizes of blocks that have `sizes` bytes, in the order of the reducers.
    ///
    /// ```
    /// use firesteel_scheduler::map_output::{BlockSizes, SizeLimits};
    ///
    /// let sizes = BlockSizes::from_bytes(&[0, 1_000_000], &SizeLimits::default());
    /// assert_eq!(sizes.size(0), 0);
    /// assert!((1_000_000..1_100_000).contains(&sizes.size(1)));
    /// ```
    pub fn from_bytes(sizes: &[u64], limits: &SizeLimits) -> Self {
        let blocks = u32::try_from(sizes.len()).expect("reducers are numbered by 32 bits");
        if sizes.iter().all(|&size| size == 0) {
            Self::empty(blocks)
        } else if blocks <= limits.coded_blocks_max {
            Self(Form::Coded(sizes.iter().map(|&size| size_code::encode(size)).collect()))
        } else {
            Self(Form::Averaged(Arc::new(Averaged::new(blocks, sizes, limits.accurate_block_bytes))))
        }
    }

    /// How many blocks there are, empty ones included.
    pub fn len(&self) -> u32 {
        match &self.0 {
            Form::Empty { blocks } => *blocks,
            Form::Coded(codes) => codes.len() as u32,
            Form::Averaged(averaged) => averaged.blocks,
        }
    }

    /// Whether there are no blocks at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// About how many bytes the block for `reducer` has; 0 if and only if it is empty.
    ///
    /// # Panics
    ///
    /// If there is no such reducer.
    pub fn size(&self, reducer: u32) -> u64 {
        assert!(reducer < self.len(), "reducer {reducer} of {}", self.len());
        match &self.0 {
            Form::Empty { .. } => 0,
            Form::Coded(codes) => size_code::decode(codes[reducer as usize]),
            Form::Averaged(averaged) => averaged.size(reducer),
        }
    }

    /// Adds the sizes of the blocks from reducer `first` on to `sums`, one for each sum.
    pub(super) fn add_to(&self, first: u32, sums: &mut [u64]) {
        match &self.0 {
            Form::Empty { .. } => (),
            Form::Coded(codes) => {
                for (sum, &code) in sums.iter_mut().zip(&codes[first as usize..]) {
                    *sum = sum.saturating_add(size_code::decode(code));
                }
            }
            Form::Averaged(averaged) => {
                for (sum, reducer) in sums.iter_mut().zip(first..) {
                    *sum = sum.saturating_add(averaged.size(reducer));
                }
            }
        }
    }
}

impl Averaged {
    fn new(blocks: u32, sizes: &[u64], accurate_block_bytes: u64) -> Self {
        let mut empty = vec![0_u8; sizes.len().div_ceil(8)];
        let mut huge = Vec::new();
        let (mut small_bytes, mut small_blocks) = (0_u128, 0_u128);
        for (reducer, &size) in (0_u32..).zip(sizes) {
            if size == 0 {
                empty[reducer as usize / 8] |= 1 << (reducer % 8);
            } else if size >= accurate_block_bytes {
                huge.push((reducer, size));
            } else {
                small_bytes += u128::from(size);
                small_blocks += 1;
            }
        }
        let used = empty.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        empty.truncate(used);
        // Each small block has at least one byte, so their average has too.
        let average = small_bytes.checked_div(small_blocks).unwrap_or(0) as u64;
        Self { blocks, average, empty: empty.into(), huge: huge.into() }
    }

    fn size(&self, reducer: u32) -> u64 {
        let byte = self.empty.get(reducer as usize / 8).copied().unwrap_or(0);
        if byte & (1 << (reducer % 8)) != 0 {
            return 0;
        }
        match self.huge.binary_search_by_key(&reducer, |&(huge, _)| huge) {
            Ok(at) => self.huge[at].1,
            Err(_) => self.average,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all_sizes(sizes: &BlockSizes) -> Vec<u64> {
        (0..sizes.len()).map(|reducer| sizes.size(reducer)).collect()
    }

    /// Behaviours: MOT-013.
    #[test]
    fn up_to_two_thousand_blocks_each_has_its_own_size() {
        let bytes: Vec<u64> = (0..2000).map(|reducer| reducer * 1000).collect();

        let sizes = BlockSizes::from_bytes(&bytes, &SizeLimits::default());

        let coded: Vec<u64> = bytes.iter().map(|&size| size_code::decode(size_code::encode(size))).collect();
        assert_eq!(all_sizes(&sizes), coded);
    }

    /// Behaviours: MOT-014.
    #[test]
    fn above_two_thousand_blocks_small_ones_share_their_average_and_huge_ones_are_exact() {
        let huge = (100 << 20) + 7;
        let mut bytes: Vec<u64> = (0..2001).collect();
        bytes[2000] = huge;
        bytes[1999] = 100 << 20;

        let sizes = BlockSizes::from_bytes(&bytes, &SizeLimits::default());

        let mut expected = vec![999; 2001];
        expected[0] = 0;
        expected[1999] = 100 << 20;
        expected[2000] = huge;
        assert_eq!(sizes.len(), 2001);
        assert_eq!(all_sizes(&sizes), expected);
    }

    /// Behaviours: MOT-014.
    #[test]
    fn a_block_just_below_the_threshold_is_averaged() {
        let limits = SizeLimits { coded_blocks_max: 1, accurate_block_bytes: 1000 };

        let sizes = BlockSizes::from_bytes(&[999, 1, 1000], &limits);

        assert_eq!(all_sizes(&sizes), [500, 500, 1000]);
    }

    #[test]
    fn an_output_without_a_byte_is_the_empty_form() {
        assert_eq!(BlockSizes::from_bytes(&[0; 3], &SizeLimits::default()), BlockSizes::empty(3));
        assert_eq!(BlockSizes::from_bytes(&[0; 2001], &SizeLimits::default()), BlockSizes::empty(2001));
        assert_eq!(all_sizes(&BlockSizes::empty(2)), [0, 0]);
        assert!(BlockSizes::empty(0).is_empty());
    }

    proptest! {
        /// Behaviours: MOT-013, MOT-014.
        #[test]
        fn exactly_the_empty_blocks_are_reported_empty_before_and_after_the_wire(
            bytes in prop::collection::vec(prop_oneof![Just(0_u64), 1..200_u64, any::<u64>()], 0..60),
            coded_blocks_max in 0..60_u32,
            accurate_block_bytes in 1..200_u64,
        ) {
            let sizes =
                BlockSizes::from_bytes(&bytes, &SizeLimits { coded_blocks_max, accurate_block_bytes });
            let wire = postcard::to_stdvec(&sizes).unwrap();
            let read: BlockSizes = postcard::from_bytes(&wire).unwrap();

            let empty: Vec<bool> = bytes.iter().map(|&size| size == 0).collect();
            let reported: Vec<bool> = all_sizes(&read).iter().map(|&size| size == 0).collect();
            prop_assert_eq!(reported, empty);
            prop_assert_eq!(read, sizes);
        }

        #[test]
        fn adding_to_sums_adds_what_size_says(
            bytes in prop::collection::vec(0..5000_u64, 1..40),
            coded_blocks_max in 0..40_u32,
            first in any::<prop::sample::Index>(),
        ) {
            let limits = SizeLimits { coded_blocks_max, accurate_block_bytes: 4000 };
            let sizes = BlockSizes::from_bytes(&bytes, &limits);
            let first = first.index(bytes.len());
            let mut sums = vec![5; bytes.len() - first];

            sizes.add_to(first as u32, &mut sums);

            let expected: Vec<u64> = all_sizes(&sizes)[first..].iter().map(|size| size + 5).collect();
            prop_assert_eq!(sums, expected);
        }
    }
}
