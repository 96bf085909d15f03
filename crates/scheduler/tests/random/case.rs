//! What one random run is made from: a seed, and which parts of it are left out.
//!
//! Every part draws from a generator of its own, derived from the seed. So a failing case can be made smaller by
//! leaving parts out, and the rest stays as it was.

use firesteel_types::Rng;

/// One random run, before it is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub seed: u64,
    pub flavour: Flavour,
    /// Features that are left out even if the seed has them, one bit each.
    pub without: u32,
    /// The lineage is cut off after this many RDDs.
    pub rdds_max: usize,
    /// One number per step: the seed of what happens in it.
    pub steps: Vec<u64>,
}

/// What kind of trouble a run is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Jobs come and tasks end, mostly well. Trouble is rare.
    Calm,
    /// Executors come and go, map outputs get lost.
    Losses,
    /// Jobs are cancelled, stages are given up, the lineage changes.
    Cancellations,
    /// Reports are late, repeated, or wrong.
    Lies,
    /// Many short tasks are sent before a slot is free.
    Queues,
}

/// A part of the configuration or of the lineage that a run may have or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    Fair,
    Speculation,
    Exclusion,
    ShuffleService,
    ReliableShuffle,
    NoLocalityWait,
    Racks,
    DynamicAllocation,
    CannotKill,
    Gpus,
    OddCpus,
    TightLimits,
    Decommission,
    Profiles,
    Barrier,
    Indeterminate,
    Cached,
    Preferred,
    EmptyRdds,
    HostLoss,
    ShortHeartbeats,
    Local,
    KeepAhead,
}

impl Feature {
    pub const ALL: [Self; 23] = [
        Self::Fair,
        Self::Speculation,
        Self::Exclusion,
        Self::ShuffleService,
        Self::ReliableShuffle,
        Self::NoLocalityWait,
        Self::Racks,
        Self::DynamicAllocation,
        Self::CannotKill,
        Self::Gpus,
        Self::OddCpus,
        Self::TightLimits,
        Self::Decommission,
        Self::Profiles,
        Self::Barrier,
        Self::Indeterminate,
        Self::Cached,
        Self::Preferred,
        Self::EmptyRdds,
        Self::HostLoss,
        Self::ShortHeartbeats,
        Self::Local,
        Self::KeepAhead,
    ];

    /// Its place in a set of features.
    pub const fn bit(self) -> u32 {
        1 << self as u32
    }

    /// How many of a hundred cases have it.
    const fn percent(self) -> usize {
        match self {
            Self::Fair | Self::NoLocalityWait | Self::TightLimits | Self::Cached | Self::KeepAhead => 50,
            Self::Speculation | Self::Exclusion | Self::Preferred | Self::Decommission => 40,
            Self::ShuffleService | Self::Barrier | Self::Indeterminate | Self::HostLoss => 30,
            Self::Racks | Self::DynamicAllocation | Self::Gpus | Self::OddCpus => 25,
            Self::CannotKill | Self::EmptyRdds | Self::Profiles | Self::ShortHeartbeats => 20,
            Self::ReliableShuffle | Self::Local => 10,
        }
    }
}

impl Case {
    pub fn new(seed: u64, flavour: Flavour) -> Self {
        let mut dice = Dice::of(seed, 1);
        let steps = dice.between(10, 110);
        let mut steps_dice = Dice::of(seed, 2);
        Self {
            seed,
            flavour,
            without: 0,
            rdds_max: *dice.pick(&[2, 4, 6, 8, 12, 30]).expect("the list is not empty"),
            steps: (0..steps).map(|_| steps_dice.0.next_u64()).collect(),
        }
    }

    pub fn has(&self, feature: Feature) -> bool {
        let of_feature = 100 + feature as u64;
        let is_about_it = self.flavour == Flavour::Queues && feature == Feature::KeepAhead;
        self.without & feature.bit() == 0
            && (is_about_it || Dice::of(self.seed, of_feature).chance(feature.percent()))
    }

    /// The generator of one part of the case.
    pub fn dice(&self, part: u64) -> Dice {
        Dice::of(self.seed, part)
    }
}

/// A seeded generator with the draws that the tests need.
#[derive(Clone, Debug)]
pub struct Dice(Rng);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Rng::new(seed))
    }

    fn of(seed: u64, part: u64) -> Self {
        let mut mixed = Rng::new(seed ^ part.wrapping_mul(0xA24B_AED4_963E_E407));
        Self(Rng::new(mixed.next_u64()))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        low + self.below((high - low + 1) as usize) as u32
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }

    /// One of the choices, with a probability by its weight.
    pub fn weighted<T: Copy>(&mut self, choices: &[(usize, T)]) -> T {
        let total = choices.iter().map(|(weight, _)| weight).sum();
        let mut at = self.below(total);
        for (weight, choice) in choices {
            if at < *weight {
                return *choice;
            }
            at -= weight;
        }
        unreachable!("the draw is below the sum of the weights")
    }
}
