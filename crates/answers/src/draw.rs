//! Drawing a case from a seed.
//!
//! The model is computed on the way, so that only operators are drawn whose answer is determined and whose rows are not
//! too many.

use firesteel::StorageLevel;
use firesteel_types::Rng;

use crate::{
    case::{
        Act, Action, Backend, Between, Case, Fault, FileAction, Files, FoldAction, From, Job, JoinName, Keep,
        KeyedAction, KindName, Memory, Narrow, Next, Op, Pairing, Placed, Plan, Reading, RowAction, RowByRow,
        Shape, Shuffle, Sides, Source,
    },
    kind::{Bits, Large, Nested, Plain, Set, Sparse, Text, Unit},
    model::{Model, after, after_pairing, fits, fits_pairing},
};

/// The most rows that an RDD of any case may have.
const ROWS_MAX: usize = 60_000;

impl Case {
    /// The case of a seed, on a backend of its own choice or on a given one.
    pub(crate) fn draw(seed: u64, backend: Option<Backend>) -> Self {
        Draw::new(seed).case(backend)
    }
}

impl KindName {
    /// The bits of its codes.
    pub(crate) fn bits(self) -> Bits {
        match self {
            Self::Plain => Bits::of::<Plain>(),
            Self::Text => Bits::of::<Text>(),
            Self::Nested => Bits::of::<Nested>(),
            Self::Set => Bits::of::<Set>(),
            Self::Unit => Bits::of::<Unit>(),
            Self::Sparse => Bits::of::<Sparse>(),
            Self::Large => Bits::of::<Large>(),
        }
    }
}

struct Draw {
    rng: Rng,
    seed: u64,
    kind: KindName,
    bits: Bits,
    backend: Backend,
    memory: Memory,
    faults: u32,
}

impl Draw {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed.wrapping_mul(0xD129_0DE5_A5C0_1A2F));
        rng.next_u64();
        Self {
            rng,
            seed,
            kind: KindName::Plain,
            bits: Bits::of::<Plain>(),
            backend: Backend::Local,
            memory: Memory::Ample,
            faults: 0,
        }
    }

    /// One of `of` with the given weights.
    fn pick<T: Copy>(&mut self, of: &[(usize, T)]) -> T {
        let mut place = self.rng.below(of.iter().map(|(weight, _)| weight).sum());
        for (weight, value) in of {
            if place < *weight {
                return *value;
            }
            place -= weight;
        }
        of[0].1
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.rng.below(bound as usize) as u64
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.rng.below(100) < percent
    }

    fn case(mut self, backend: Option<Backend>) -> Case {
        let drawn = self.pick(&[(45, Backend::Local), (30, Backend::Shipped), (25, Backend::Cluster)]);
        self.backend = backend.unwrap_or(drawn);
        self.kind = self.pick(&[
            (30, KindName::Plain),
            (34, KindName::Text),
            (12, KindName::Nested),
            (7, KindName::Set),
            (5, KindName::Unit),
            (6, KindName::Sparse),
            (8, KindName::Large),
        ]);
        self.bits = self.kind.bits();
        self.memory = if self.kind == KindName::Large {
            // A few rows have to fit for each task.
            self.pick(&[(4, Memory::Ample), (3, Memory::Bytes(6 << 20)), (3, Memory::Bytes(24 << 20))])
        } else {
            self.pick(&[
                (25, Memory::Ample),
                (30, Memory::Bytes(64 << 10)),
                (20, Memory::Bytes(256 << 10)),
                (15, Memory::Bytes(1 << 20)),
                (10, Memory::Bytes(4 << 20)),
            ])
        };
        let depth = 3 + self.rng.below(4);
        let (plan, _) = match self.rng.below(100) {
            0..3 => self.wide_join(),
            3..5 => self.wide_sort(),
            _ => self.plan(depth),
        };
        let jobs = self.jobs(&plan);
        // With a service less is lost when an executor dies.
        let shuffle_service = self.chance(30);
        let content_sums = self.chance(25);
        let Self { seed, kind, backend, memory, .. } = self;
        Case { seed, kind, backend, memory, shuffle_service, content_sums, plan, jobs }
    }

    fn source(&mut self) -> Source {
        let is_large = self.kind == KindName::Large;
        let rows = if is_large {
            self.pick(&[(1, 0), (1, 3), (3, 100), (5, 300)])
        } else {
            let most = self.rows_max() as u64 / 2;
            self.pick(&[(4, 0), (4, 1), (6, 2), (20, 60), (31, most / 30), (27, most / 4), (8, most)])
        };
        let rows = if rows > 2 { rows / 2 + self.below(rows) } else { rows };
        let keys = self.pick(&[(1, 1), (2, 5), (3, 100), (3, 3_000), (1, 100_000)]);
        let shape = self.pick(&[
            (4, Shape::Uniform { keys }),
            (2, Shape::HeavyHead { keys }),
            (4, Shape::HeavyTail { keys }),
            (2, Shape::Giant { keys }),
            (1, Shape::Alike),
            (3, Shape::Unique),
        ]);
        let from = if is_large {
            From::Range
        } else {
            // Where outputs can be lost, what is made of them again should be other rows.
            let unordered = if self.backend == Backend::Cluster { 12 } else { 4 };
            self.pick(&[(5, From::Parallelize), (5, From::Range), (unordered, From::Unordered)])
        };
        let partitions = 1 + self.rng.below(if is_large { 3 } else { 6 }) as u32;
        Source { from, shape, rows, partitions, seed: self.rng.next_u64() }
    }

    /// A lineage of `depth` operators, with what it holds.
    fn plan(&mut self, depth: usize) -> (Plan, Model) {
        if depth == 0 {
            let source = self.source();
            let model = Model::of_source(&source, self.bits);
            return (Plan::Source(source), model);
        }
        if self.chance(22) {
            return self.pairing(depth);
        }
        let (parent, model) = self.plan(depth - 1);
        for _ in 0..20 {
            let op = if self.chance(12) { Op::Fault(self.fault()) } else { self.op() };
            if fits(&op, &model) {
                let after = after(&op, &model, self.bits);
                if after.len() <= self.rows_max() {
                    return (Plan::One(op, Box::new(parent)), after);
                }
            }
        }
        (parent, model)
    }

    /// The most rows that an RDD of this case may have.
    fn rows_max(&self) -> usize {
        if self.kind == KindName::Large {
            return 600;
        }
        match self.memory {
            Memory::Ample => ROWS_MAX,
            // A few times what fits: with more, a case takes minutes and says nothing new.
            Memory::Bytes(bytes) => ROWS_MAX.min(bytes as usize / 32),
        }
    }

    fn pairing(&mut self, depth: usize) -> (Plan, Model) {
        let (left, left_model) = self.plan(depth - 1);
        // Now and then both sides are the same, or share their keys.
        let (right, right_model) = match self.rng.below(4) {
            0 => (left.clone(), left_model.clone()),
            1 | 2 => self.plan(1),
            _ => self.plan(depth.saturating_sub(2)),
        };
        for _ in 0..10 {
            let pairing = self.pairing_name();
            if fits_pairing(pairing, &left_model, &right_model) {
                let after = after_pairing(pairing, &left_model, &right_model, self.bits);
                if after.len() <= self.rows_max() {
                    return (Plan::Two(pairing, Box::new(left), Box::new(right)), after);
                }
            }
        }
        (left, left_model)
    }

    /// A join of so many rows in so few partitions that a side is larger than a cache.
    fn wide_join(&mut self) -> (Plan, Model) {
        self.set_kind(KindName::Plain, Memory::Ample);
        let side = |draw: &mut Self| {
            let shape = draw.pick(&[(1, Shape::Unique), (1, Shape::Uniform { keys: 30_000 })]);
            let rows = 15_000 + draw.below(10_000);
            let source = Source { from: From::Range, shape, rows, partitions: 2, seed: draw.rng.next_u64() };
            let model = Model::of_source(&source, draw.bits);
            (Plan::Source(source), model)
        };
        let ((left, left_model), (right, right_model)) = (side(self), side(self));
        let (kind, next) = (self.join_name(), self.next());
        let pairing = Pairing::Join { kind, partitions: 1, placed: Placed::Neither, next };
        let after = after_pairing(pairing, &left_model, &right_model, self.bits);
        (Plan::Two(pairing, Box::new(left), Box::new(right)), after)
    }

    /// A sort of more large rows than can be merged at once.
    fn wide_sort(&mut self) -> (Plan, Model) {
        self.set_kind(KindName::Large, Memory::Bytes(3 << 20));
        let (rows, seed, descending) = (200 + self.below(200), self.rng.next_u64(), self.chance(40));
        let shape = self.pick(&[(1, Shape::Unique), (1, Shape::Uniform { keys: 50 })]);
        let source = Source { from: From::Range, shape, rows, partitions: 2, seed };
        let op = self.pick(&[
            (1, Shuffle::SortByKey { descending }),
            (1, Shuffle::SortByRow { descending }),
            (1, Shuffle::SortWithinPartitions),
        ]);
        let op = Op::Shuffle { op, partitions: 1 };
        let after = after(&op, &Model::of_source(&source, self.bits), self.bits);
        (Plan::One(op, Box::new(Plan::Source(source))), after)
    }

    fn set_kind(&mut self, kind: KindName, memory: Memory) {
        (self.kind, self.memory, self.bits) = (kind, memory, kind.bits());
    }

    fn join_name(&mut self) -> JoinName {
        [JoinName::Inner, JoinName::LeftOuter, JoinName::RightOuter, JoinName::FullOuter][self.rng.below(4)]
    }

    fn next(&mut self) -> Next {
        self.pick(&[(1, Next::Boxed), (1, Next::Fused)])
    }

    fn partitions(&mut self) -> u32 {
        1 + self.rng.below(6) as u32
    }

    fn pairing_name(&mut self) -> Pairing {
        let partitions = self.partitions();
        let (kind, next) = (self.join_name(), self.next());
        let placed =
            self.pick(&[(3, Placed::Neither), (1, Placed::Left), (1, Placed::Right), (1, Placed::Both)]);
        let sides = self.pick(&[(3, Sides::Two), (1, Sides::Three), (1, Sides::Four)]);
        self.pick(&[
            (4, Pairing::Union),
            (9, Pairing::Join { kind, partitions, placed, next }),
            (5, Pairing::Cogroup { sides, partitions, placed }),
            (2, Pairing::SubtractByKey { partitions, placed }),
            (2, Pairing::Intersection { partitions }),
            (2, Pairing::Subtract { partitions }),
            (1, Pairing::Cartesian),
            (1, Pairing::ZipPartitions),
        ])
    }

    fn fault(&mut self) -> Fault {
        self.faults += 1;
        let spills = if self.memory == Memory::Ample { 0 } else { 2 };
        let act = self.pick(&[
            (2, Act::Panic),
            (2, Act::KillSelf),
            (3, Act::KillBeforeReport),
            (2, Act::KillPeer),
            (2, Act::Remove(Files::Outputs)),
            (1, Act::Remove(Files::Blocks)),
            (2, Act::Damage(Files::Outputs)),
            (1, Act::Damage(Files::Blocks)),
            (spills, Act::Damage(Files::Spills)),
        ]);
        let row = self.pick(&[(3, 0), (2, 5), (2, 70), (1, 1_500)]);
        let partition = self.pick(&[(5, 0), (2, 1), (2, 2), (1, 4)]);
        Fault { id: self.faults, partition, row, act }
    }

    fn op(&mut self) -> Op {
        // Large rows are there to be held in small numbers, which is known only while they stream.
        let narrow = if self.kind == KindName::Large && self.memory == Memory::Ample { 75 } else { 40 };
        // What was kept is of use in a later job, after something else was lost.
        let keep = if self.backend == Backend::Cluster { 30 } else { 17 };
        if self.chance(narrow) {
            Op::Narrow(self.narrow())
        } else if !self.chance(keep) {
            Op::Shuffle { op: self.shuffle(), partitions: self.partitions() }
        } else {
            Op::Keep(self.keep())
        }
    }

    fn narrow(&mut self) -> Narrow {
        let (salt, most) = (self.rng.next_u64(), 1 + self.below(4));
        let keys = [1, 7, 200, 5_000][self.rng.below(4)];
        let modulus = 2 + self.below(40);
        let partitions = self.partitions();
        self.pick(&[
            (2, Narrow::Rows(RowByRow::Map { keys, salt })),
            (1, Narrow::Rows(RowByRow::Filter { modulus })),
            (1, Narrow::Rows(RowByRow::FlatMap { most })),
            (1, Narrow::Rows(RowByRow::MapValues { salt })),
            (1, Narrow::Rows(RowByRow::FlatMapValues { most })),
            (1, Narrow::Rows(RowByRow::Swap)),
            (1, Narrow::MapPartitions),
            (2, Narrow::MapWhile { modulus: modulus * 5 }),
            (2, Narrow::Scan { most: modulus * 10 }),
            (1, Narrow::Rows(RowByRow::Boxed { depth: modulus as u32 })),
            (1, Narrow::Glom),
            (1, Narrow::Prune { modulus: 2 + partitions % 3 }),
            (1, Narrow::ZipWithIndex),
            (1, Narrow::ZipWithUniqueId),
            (1, Narrow::UnionSelf),
            (1, Narrow::ZipSelf),
            (1, Narrow::ZipPartitionsSelf),
            (1, Narrow::SampleAll { seed: salt }),
            (1, Narrow::SampleByKeyAll { seed: salt }),
            (1, Narrow::SparseEnvironment),
            (1, Narrow::Coalesce { partitions }),
            (1, Narrow::RandomSplits { seed: salt }),
        ])
    }

    fn shuffle(&mut self) -> Shuffle {
        let descending = self.chance(40);
        let (from, to) = (self.below(500), 500 + self.below(5_000));
        let repartition = if self.backend == Backend::Cluster { 8 } else { 2 };
        let reading = self.pick(&[
            (4, Reading::Iterate),
            (1, Reading::Slice),
            (1, Reading::Vector),
            (1, Reading::Sort),
            (1, Reading::Compare),
            (1, Reading::Ship),
        ]);
        self.pick(&[
            (1, Shuffle::PartitionBy),
            (repartition, Shuffle::Repartition),
            (1, Shuffle::ReduceByKey),
            (1, Shuffle::FoldByKey),
            (1, Shuffle::AggregateByKey),
            (1, Shuffle::CombineByKey),
            (1, Shuffle::MapReduce),
            (3, Shuffle::GroupByKey { reading }),
            (1, Shuffle::GroupBy),
            (1, Shuffle::Distinct),
            (1, Shuffle::SortByKey { descending }),
            (1, Shuffle::SortByRow { descending }),
            (1, Shuffle::SortWithinPartitions),
            (1, Shuffle::FilterByRange { from, to }),
        ])
    }

    fn keep(&mut self) -> Keep {
        match self.rng.below(9) {
            0 => Keep::Checkpoint,
            1 | 2 => Keep::LocalCheckpoint,
            _ => {
                let levels = &StorageLevel::NAMED[1..];
                Keep::Persist { level: levels[self.rng.below(levels.len())].0.to_owned() }
            }
        }
    }

    fn jobs(&mut self, plan: &Plan) -> Vec<Job> {
        let nodes = plan.nodes().len();
        let is_cluster = self.backend == Backend::Cluster;
        let job = |draw: &mut Self, place: usize| {
            let node = if place == 0 || draw.chance(50) { 0 } else { draw.rng.below(nodes) };
            let before = (place > 0 && draw.chance(if is_cluster { 65 } else { 45 })).then(|| draw.between());
            let action = draw.action();
            let during = draw.chance(if is_cluster { 30 } else { 15 }).then(|| draw.fault());
            Job { node, action, before, during }
        };
        (0..=self.rng.below(if is_cluster { 4 } else { 3 })).map(|place| job(self, place)).collect()
    }

    fn between(&mut self) -> Between {
        let (pick, is_noticed) = (self.rng.next_u64(), self.chance(60));
        let kills = if self.backend == Backend::Cluster { 3 } else { 1 };
        self.pick(&[
            (kills, Between::KillExecutor { is_noticed }),
            (2, Between::Remove { files: Files::Outputs, pick }),
            (1, Between::Remove { files: Files::Blocks, pick }),
            (1, Between::Damage { files: Files::Outputs, pick }),
            (1, Between::Damage { files: Files::Blocks, pick }),
        ])
    }

    fn action(&mut self) -> Action {
        let most = self.pick(&[(1, 0), (2, 1), (3, 20), (3, 1_700), (1, 100_000)]);
        let (seed, depth) = (self.rng.next_u64(), 1 + self.rng.below(3) as u32);
        let offset = [0.0, 1e9, 1e15, -3e12][self.rng.below(4)];
        // What is sampled twice is another sample only where outputs can be lost.
        let samples = if self.backend == Backend::Cluster { 3 } else { 1 };
        let (key, is_odd, partitions) = (self.below(300), seed % 2 == 1, self.partitions());
        let level = 1 + self.rng.below(StorageLevel::NAMED.len() - 1);
        self.pick(&[
            (8, Action::Rows(RowAction::Collect)),
            (2, Action::Rows(RowAction::CollectPartitions)),
            (1, Action::Rows(RowAction::LocalIterator)),
            (1, Action::Rows(RowAction::First)),
            (2, Action::Rows(RowAction::Take { most })),
            (1, Action::Rows(RowAction::MinMax)),
            (1, Action::Rows(RowAction::Top { most })),
            (1, Action::Rows(RowAction::TakeOrdered { most })),
            (1, Action::Rows(RowAction::TakeSample { most, seed })),
            (2, Action::Fold(FoldAction::Count)),
            (1, Action::Fold(FoldAction::IsEmpty)),
            (1, Action::Fold(FoldAction::Reduce)),
            (1, Action::Fold(FoldAction::TreeReduce { depth })),
            (1, Action::Fold(FoldAction::Fold)),
            (1, Action::Fold(FoldAction::Aggregate)),
            (1, Action::Fold(FoldAction::TreeAggregate { depth, on_executors: is_odd })),
            (1, Action::Fold(FoldAction::ForEach)),
            (1, Action::Fold(FoldAction::ForEachPartition)),
            (1, Action::Fold(FoldAction::RunJob)),
            (2, Action::Fold(FoldAction::Persisted { level })),
            (1, Action::Fold(FoldAction::Stats { offset })),
            (1, Action::Keyed(KeyedAction::CountByKey)),
            (1, Action::Keyed(KeyedAction::CountByValue)),
            (1, Action::Keyed(KeyedAction::CollectAsMap)),
            (1, Action::Keyed(KeyedAction::ReduceByKeyLocally)),
            (1, Action::Keyed(KeyedAction::Lookup { key })),
            (2, Action::File(FileAction::SaveAsText { compressed: is_odd })),
            (2, Action::File(FileAction::SaveAsObjects)),
            (1, Action::File(FileAction::HalfCheckpoint { keep: seed })),
            (1, Action::TakeRowsThatPanic { most: 1_500 }),
            (samples, Action::SampleByKey { percent: 50, seed, partitions }),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_case() {
        for seed in 0..300 {
            assert_eq!(Case::draw(seed, None), Case::draw(seed, None));
        }
    }

    #[test]
    fn a_case_survives_being_written_down() {
        for seed in 0..100 {
            let case = Case::draw(seed, None);
            let text = serde_json::to_string(&case).unwrap();
            assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
        }
    }

    #[test]
    fn every_operator_action_and_fault_is_drawn() {
        let cases: Vec<Case> = (0..1_500).map(|seed| Case::draw(seed, None)).collect();
        let text = format!("{cases:?}");
        let names = "Map Filter FlatMap MapValues FlatMapValues Swap MapPartitions MapWhile Scan Boxed Glom Coalesce Prune \
             ZipWithIndex ZipWithUniqueId UnionSelf ZipSelf ZipPartitionsSelf RandomSplits SampleAll SampleByKeyAll SparseEnvironment \
             PartitionBy Repartition ReduceByKey FoldByKey AggregateByKey CombineByKey MapReduce GroupByKey Iterate Slice Vector Sort Compare Ship GroupBy \
             Distinct SortByKey SortByRow SortWithinPartitions FilterByRange Persist Checkpoint LocalCheckpoint Union Join \
             Inner LeftOuter RightOuter FullOuter Neither Left Right Both Boxed Fused SubtractByKey Cogroup Two Three Four Intersection Subtract \
             Cartesian ZipPartitions Panic KillSelf KillBeforeReport KillPeer Remove Damage Outputs Blocks Spills KillExecutor \
             Collect CollectPartitions LocalIterator Count IsEmpty First Take Reduce TreeReduce Fold Aggregate \
             TreeAggregate MinMax Top TakeOrdered CountByKey CountByValue CollectAsMap ReduceByKeyLocally Lookup ForEach \
             ForEachPartition RunJob TakeSample SaveAsText SaveAsObjects Persisted Stats TakeRowsThatPanic HalfCheckpoint \
             SampleByKey Plain Text Nested Set Unit Sparse Large Local Shipped Cluster Unordered Range Parallelize";
        let words: std::collections::BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();

        for name in names.split_whitespace() {
            assert!(words.contains(name), "{name} is never drawn");
        }
    }
}
