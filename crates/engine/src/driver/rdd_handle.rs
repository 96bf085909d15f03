//! What the driver knows of an RDD: its place in the lineage, without types.

mod debug;

use std::{
    fmt,
    panic::Location,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;

use firesteel_scheduler::Event;
use firesteel_types::{
    Dependency, Determinism, NarrowMap, PreferredLocations, ProfileId, RddId, RddNode, StorageLevel,
};

use super::{Driver, Incoming, ShuffleHandle, fit::first_misfit};
use crate::{
    bury::bury,
    partitioner::AnyPartitioner,
    ship::{Frozen, Ship, ShipError, Thawing},
    task::{Abort, TaskContext, abort_task},
};

pub(crate) use debug::debug_as_handle;

/// The most partitions of one RDD. A shuffle keeps some bytes for each of them in every map task, and a job for each
/// result.
pub(crate) const MAX_PARTITIONS: u32 = 1 << 24;

/// The most RDDs that read each other in one stage. Where they are boxed, each takes a piece of the stack of a task.
const MAX_DEPTH: u32 = 4_096;

/// Why rows cannot be brought into no partitions.
pub(crate) const NO_PARTITIONS: &str = "rows need at least one partition";

/// The identity of an RDD: shared by its clones, by every RDD made from it, and by the shuffles that read it.
///
/// On an executor only the id and the number of partitions are known: an RDD cannot be used inside a task.
#[must_use = "a handle only names an RDD"]
#[derive(Clone)]
pub struct RddHandle(Arc<Inner>);

struct Inner {
    id: RddId,
    partitions: u32,
    /// What only the driver knows.
    driver: Option<Box<DriverSide>>,
}

struct DriverSide {
    driver: Arc<Driver>,
    operator: &'static str,
    site: &'static Location<'static>,
    name: Mutex<Option<Arc<str>>>,
    state: Mutex<State>,
    preferred: PreferredLocations,
    partitioner: Option<AnyPartitioner>,
    traits: Traits,
    partition_data: Option<PartitionData>,
    /// Why it, or something behind it, cannot be computed.
    invalid: Option<Arc<str>>,
    /// Whether it, or something behind it in the same stage, prefers any place.
    located: bool,
    /// How many RDDs are behind it in the same stage, one behind the other, at most.
    depth: u32,
    /// Whether the scheduler has ever heard of it.
    known: AtomicBool,
}

/// What can change after an RDD was made.
struct State {
    parents: Vec<Parent>,
    storage: StorageLevel,
    /// Whether executors may have been told to keep partitions, now or before.
    was_kept: bool,
    checkpointed: bool,
    /// Run when the first job that uses the RDD has succeeded.
    after_job: Option<AfterJob>,
}

impl State {
    fn set_storage(&mut self, level: StorageLevel) {
        self.storage = level;
        self.was_kept |= level.is_persisted();
    }
}

/// Data that travels with the tasks of one partition only.
pub(crate) type PartitionData = Arc<dyn Fn(u32) -> Result<Vec<u8>, ShipError> + Send + Sync>;

/// What happens once a job has used an RDD: the checkpoint is written.
pub(crate) type AfterJob = Arc<dyn Fn(&RddHandle) -> crate::Result<()> + Send + Sync>;

#[derive(Clone, Copy, Default)]
struct Traits {
    order_sensitive: bool,
    determinism: Option<Determinism>,
    barrier: bool,
    profile: Option<ProfileId>,
}

/// What an RDD is computed from.
#[derive(Clone)]
pub enum Parent {
    /// A few known partitions of another RDD, in the same stage.
    Narrow(RddHandle, NarrowMap),
    /// Everything that a shuffle brings.
    Shuffle(ShuffleHandle),
}

impl Parent {
    /// Partition *i* comes from partition *i* of `parent`.
    ///
    /// ```
    /// # use firesteel::{Parent, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..4, 2);
    /// let mine = ctx.new_rdd("mine", 2).parents(vec![Parent::one_to_one(rows.handle())]).build();
    /// assert_eq!(mine.parents()[0].handle().id(), rows.handle().id());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn one_to_one(parent: &RddHandle) -> Self {
        Self::Narrow(parent.clone(), NarrowMap::OneToOne)
    }

    /// The RDD on the other side.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..4).map(|x| (x, x));
    /// let grouped = pairs.group_by_key();
    /// assert_eq!(grouped.handle().parents()[0].handle().id(), pairs.handle().id());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn handle(&self) -> &RddHandle {
        match self {
            Self::Narrow(handle, _) => handle,
            Self::Shuffle(shuffle) => shuffle.parent(),
        }
    }
}

/// An RDD under construction. Made by [`Context::new_rdd`](crate::Context::new_rdd) and [`RddHandle::derive`].
#[must_use]
pub struct HandleBuilder {
    id: RddId,
    partitions: u32,
    side: DriverSide,
}

impl HandleBuilder {
    /// The id that it will have.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let builder = ctx.new_rdd("mine", 2);
    /// let id = builder.id();
    /// assert_eq!(builder.build().id(), id);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn id(&self) -> RddId {
        self.id
    }

    /// How many partitions it has, once that is known.
    pub(crate) fn partitions(mut self, partitions: u32) -> Self {
        self.partitions = partitions;
        self
    }

    /// What it is computed from.
    ///
    /// ```
    /// # use firesteel::{NarrowMap, Parent, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..4, 2);
    /// let parent = Parent::Narrow(rows.handle().clone(), NarrowMap::Modulo(2));
    /// let twice = rows.handle().derive_into("twice", 4).parents(vec![parent]).build();
    /// assert_eq!((twice.partitions(), twice.parents().len()), (4, 1));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn parents(self, parents: Vec<Parent>) -> Self {
        self.side.state.lock().parents = parents;
        self
    }

    /// Where its partitions would rather be computed.
    ///
    /// ```
    /// # use firesteel::{PartitionId, PreferredLocations, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let places = PreferredLocations::PerPartition([vec!["host-1".into()], vec![]].into());
    /// let mine = ctx.new_rdd("mine", 2).preferred(places).build();
    /// assert_eq!(mine.preferred_places(PartitionId(0)), ["host-1".into()]);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn preferred(mut self, preferred: PreferredLocations) -> Self {
        self.side.preferred = preferred;
        self
    }

    /// How its keys are dealt to partitions; none by default.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let dealt = KeyPartitioner::<u64>::hash(2).erased();
    /// let mine = ctx.new_rdd("mine", 2).partitioner(Some(dealt.clone())).build();
    /// assert_eq!(mine.partitioner(), Some(&dealt));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn partitioner(mut self, partitioner: Option<AnyPartitioner>) -> Self {
        self.side.partitioner = partitioner;
        self
    }

    /// The same rows in another order would give other rows.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..4, 2);
    /// let numbered = rows.handle().derive("numbered").order_sensitive().build();
    /// assert_eq!(numbered.partitions(), 2);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn order_sensitive(mut self) -> Self {
        self.side.traits.order_sensitive = true;
        self
    }

    /// What a second run may give, when it differs from what the parents imply.
    ///
    /// ```
    /// # use firesteel::{Determinism, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let dice = ctx.new_rdd("dice", 2).determinism(Determinism::Indeterminate).build();
    /// assert_eq!(dice.partitions(), 2);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn determinism(mut self, determinism: Determinism) -> Self {
        self.side.traits.determinism = Some(determinism);
        self
    }

    /// Opens a barrier stage.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..4, 2);
    /// let together = rows.handle().derive("together").barrier().build();
    /// assert_eq!(together.partitions(), 2);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn barrier(mut self) -> Self {
        self.side.traits.barrier = true;
        self
    }

    /// The resource profile of its tasks.
    ///
    /// ```
    /// # use firesteel::{ProfileId, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let mine = ctx.new_rdd("mine", 2).profile(ProfileId::DEFAULT).build();
    /// assert_eq!(mine.partitions(), 2);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn profile(mut self, profile: ProfileId) -> Self {
        self.side.traits.profile = Some(profile);
        self
    }

    /// Data that travels with the tasks of one partition only.
    pub(crate) fn partition_data(mut self, data: PartitionData) -> Self {
        self.side.partition_data = Some(data);
        self
    }

    /// How computed partitions are kept.
    pub(crate) fn storage(self, level: StorageLevel) -> Self {
        self.side.state.lock().set_storage(level);
        self
    }

    /// It was asked for in a way that cannot be: every job on it, or on what is made from it, fails with `why`.
    pub(crate) fn invalid(mut self, why: impl fmt::Display) -> Self {
        let (operator, site) = (self.side.operator, self.side.site);
        self.side.invalid = Some(format!("{operator} at {}:{}: {why}", site.file(), site.line()).into());
        self
    }

    /// What is wrong with how it reads its parents.
    fn misfit(&mut self) -> Option<String> {
        let DriverSide { state, driver, .. } = &mut self.side;
        state.get_mut().parents.iter().find_map(|parent| {
            if !Arc::ptr_eq(parent.handle().driver(), driver) {
                let why = "it reads an RDD of another context: only RDDs of one context can be combined";
                return Some(why.to_owned());
            }
            match parent {
                Parent::Narrow(handle, map) => {
                    let partition = first_misfit(map, self.partitions, handle.partitions())?;
                    Some(format!("partition {partition} reads one that {} does not have", handle.id()))
                }
                Parent::Shuffle(shuffle) => (shuffle.reducers() == 0).then(|| NO_PARTITIONS.to_owned()),
            }
        })
    }

    /// The RDD.
    ///
    /// If a parent does not have a partition that is read of it, every job on the RDD fails with an error.
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let mine = ctx.new_rdd("mine", 2).build();
    /// assert!(mine.parents().is_empty() && mine.partitioner().is_none());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn build(mut self) -> RddHandle {
        if self.partitions > MAX_PARTITIONS {
            let why = format!("{} partitions are more than {MAX_PARTITIONS}: use fewer", self.partitions);
            self = self.invalid(why).partitions(0);
        } else if let Some(why) = self.misfit()
            && self.side.invalid.is_none()
        {
            self = self.invalid(why);
        }
        let state = self.side.state.get_mut();
        // What was wrong first explains the rest.
        if let Some(why) = state.parents.iter().find_map(|parent| parent.handle().side().invalid.clone()) {
            self.side.invalid = Some(why);
        }
        self.side.located = self.side.preferred != PreferredLocations::None
            || state.parents.iter().any(|parent| match parent {
                Parent::Narrow(handle, _) => handle.is_located(),
                Parent::Shuffle(_) => false,
            });
        let depth = |parent: &Parent| match parent {
            Parent::Narrow(handle, _) => handle.depth() + 1,
            Parent::Shuffle(_) => 0,
        };
        self.side.depth = state.parents.iter().map(depth).max().unwrap_or(0);
        if self.side.depth > MAX_DEPTH && self.side.invalid.is_none() {
            let why = format!(
                "more than {MAX_DEPTH} RDDs are behind it without a shuffle: checkpoint the RDD now and then"
            );
            self = self.invalid(why);
        }
        RddHandle(Arc::new(Inner {
            id: self.id,
            partitions: self.partitions,
            driver: Some(Box::new(self.side)),
        }))
    }
}

impl RddHandle {
    /// A new RDD with `partitions` partitions and, for now, no parents.
    #[track_caller]
    pub(crate) fn builder(driver: &Arc<Driver>, operator: &'static str, partitions: u32) -> HandleBuilder {
        if TaskContext::is_set() {
            let message = format!(
                "`{operator}` was called inside a task: RDDs exist on the driver only; collect or broadcast what \
                 the task needs"
            );
            abort_task(Abort::Failed { message, operator: None });
        }
        let state = State {
            parents: Vec::new(),
            storage: StorageLevel::NONE,
            was_kept: false,
            checkpointed: false,
            after_job: None,
        };
        HandleBuilder {
            id: driver.next_rdd(),
            partitions,
            side: DriverSide {
                driver: driver.clone(),
                operator,
                site: Location::caller(),
                name: Mutex::default(),
                state: Mutex::new(state),
                preferred: PreferredLocations::None,
                partitioner: None,
                traits: Traits::default(),
                partition_data: None,
                invalid: None,
                located: false,
                depth: 0,
                known: AtomicBool::new(false),
            },
        }
    }

    /// A new RDD that is computed from this one, partition by partition.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let rows = ctx.range_into(0..4, 2);
    /// let mine = rows.handle().derive("mine").build();
    /// assert_eq!((mine.partitions(), mine.parents()[0].handle().id()), (2, rows.handle().id()));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn derive(&self, operator: &'static str) -> HandleBuilder {
        self.derive_into(operator, self.partitions()).parents(vec![Parent::one_to_one(self)])
    }

    /// A new RDD with another number of partitions and, for now, no parents.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let mine = ctx.range_into(0..4, 2).handle().derive_into("mine", 5).build();
    /// assert_eq!((mine.partitions(), mine.parents().len()), (5, 0));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    #[track_caller]
    pub fn derive_into(&self, operator: &'static str, partitions: u32) -> HandleBuilder {
        Self::builder(self.driver(), operator, partitions)
    }

    /// The id.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let (rows, others) = (ctx.range(0..4), ctx.range(0..4));
    /// assert_eq!(rows.handle().id(), rows.clone().handle().id());
    /// assert_ne!(rows.handle().id(), others.handle().id());
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn id(&self) -> RddId {
        self.0.id
    }

    /// How many partitions there are.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// assert_eq!(ctx.range_into(0..4, 3).handle().partitions(), 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn partitions(&self) -> u32 {
        self.0.partitions
    }

    /// How keys are dealt to partitions, if that is known.
    ///
    /// ```
    /// # use firesteel::prelude::*;
    /// # let ctx = Context::local(2)?;
    /// let pairs = ctx.range(0..4).map(|x| (x, x));
    /// assert!(pairs.handle().partitioner().is_none());
    /// assert_eq!(pairs.partition_by(3).handle().partitioner().unwrap().num_partitions(), 3);
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn partitioner(&self) -> Option<&AnyPartitioner> {
        self.side().partitioner.as_ref()
    }

    /// Why jobs on it cannot run, if it was asked for in a way that cannot be.
    pub(crate) fn invalid(&self) -> Option<&Arc<str>> {
        self.side().invalid.as_ref()
    }

    /// Whether it, or something behind it in the same stage, prefers any place.
    pub(crate) fn is_located(&self) -> bool {
        self.side().located
    }

    /// How many RDDs are behind it in the same stage, one behind the other; none once its lineage is cut.
    pub(crate) fn depth(&self) -> u32 {
        if self.side().state.lock().parents.is_empty() { 0 } else { self.side().depth }
    }

    /// The operator that made it, and the line where it was called.
    pub(crate) fn origin(&self) -> (&'static str, &'static Location<'static>) {
        (self.side().operator, self.side().site)
    }

    /// The name that the user gave it.
    pub(crate) fn own_name(&self) -> Option<Arc<str>> {
        self.side().name.lock().clone()
    }

    /// Gives it a name for people.
    pub(crate) fn set_name(&self, name: &str) {
        *self.side().name.lock() = Some(name.into());
        self.tell_change();
    }

    /// Its name, or the operator and the line that made it.
    pub(crate) fn name(&self) -> Arc<str> {
        let side = self.side();
        let name = side.name.lock().clone();
        name.unwrap_or_else(|| {
            format!("{} at {}:{}", side.operator, side.site.file(), side.site.line()).into()
        })
    }

    /// How computed partitions are kept.
    pub(crate) fn storage(&self) -> StorageLevel {
        self.side().state.lock().storage
    }

    /// Changes how computed partitions are kept from now on.
    pub(crate) fn set_storage(&self, level: StorageLevel) {
        self.side().state.lock().set_storage(level);
        self.tell_change();
    }

    /// What to do when the first job that uses it has succeeded.
    pub(crate) fn set_after_job(&self, after_job: AfterJob) {
        self.side().state.lock().after_job = Some(after_job);
    }

    /// Takes what is to be done after a job.
    pub(crate) fn take_after_job(&self) -> Option<AfterJob> {
        self.side().state.lock().after_job.take()
    }

    /// Cuts the lineage here: the content can be read from somewhere else from now on.
    pub(crate) fn cut(&self, reliable: bool) {
        let mut state = self.side().state.lock();
        let parents = std::mem::take(&mut state.parents);
        state.checkpointed = reliable;
        drop(state);
        bury(parents);
        self.tell_change();
    }

    /// What it is computed from.
    ///
    /// ```
    /// # use firesteel::{Parent, prelude::*};
    /// # let ctx = Context::local(2)?;
    /// let (left, right) = (ctx.range(0..4).map(|x| (x, x)), ctx.range(2..6).map(|x| (x, x)));
    /// let parents = left.cogroup(&right).handle().parents();
    /// assert!(matches!(parents[..], [Parent::Shuffle(_), Parent::Shuffle(_)]));
    /// # Ok::<(), firesteel::Error>(())
    /// ```
    pub fn parents(&self) -> Vec<Parent> {
        self.side().state.lock().parents.clone()
    }

    /// Where its own partitions would rather be computed.
    pub(crate) fn preferred(&self) -> &PreferredLocations {
        &self.side().preferred
    }

    /// The data of one partition that travels with its tasks, if there is any.
    pub(crate) fn partition_data(&self) -> Option<&PartitionData> {
        self.side().partition_data.as_ref()
    }

    /// The driver it belongs to. On an executor there is none: the task ends.
    pub(crate) fn driver(&self) -> &Arc<Driver> {
        &self.side().driver
    }

    /// Whether the scheduler has heard of it.
    pub(crate) fn is_known(&self) -> bool {
        self.side().known.load(Ordering::Acquire)
    }

    /// The scheduler hears of it now.
    pub(crate) fn mark_known(&self) {
        self.side().known.store(true, Ordering::Release);
    }

    /// Tells the scheduler what changed, if it knows the RDD at all.
    fn tell_change(&self) {
        if self.is_known() {
            self.driver().post(Incoming::event(Event::RddsRegistered(vec![self.node()])));
        }
    }

    /// The lineage node that the scheduler keeps for this RDD.
    pub(crate) fn node(&self) -> RddNode {
        let side = self.side();
        let state = side.state.lock();
        let dependency = |parent: &Parent| match parent {
            Parent::Narrow(handle, map) => Dependency::Narrow { parent: handle.id(), map: map.clone() },
            Parent::Shuffle(shuffle) => Dependency::Shuffle(shuffle.dependency()),
        };
        RddNode {
            id: self.0.id,
            name: self.name(),
            partitions: self.0.partitions,
            dependencies: state.parents.iter().map(dependency).collect(),
            preferred: side.preferred.clone(),
            storage: state.storage,
            barrier: side.traits.barrier,
            profile: side.traits.profile,
            order_sensitive: side.traits.order_sensitive,
            determinism: side.traits.determinism,
            checkpointed: state.checkpointed,
        }
    }

    fn side(&self) -> &DriverSide {
        self.0.driver.as_ref().unwrap_or_else(|| {
            let message = "an RDD was used inside a task: RDDs exist on the driver only; collect or broadcast what \
                           the task needs";
            abort_task(Abort::Failed { message: message.to_owned(), operator: Some(self.0.id) })
        })
    }
}

/// Nothing can reach the RDD any more: the scheduler forgets it.
impl Drop for Inner {
    fn drop(&mut self) {
        let Some(mut side) = self.driver.take() else { return };
        if side.known.load(Ordering::Acquire) {
            let was_kept = side.state.get_mut().was_kept;
            side.driver.rdd_dropped(self.id, was_kept);
        }
        bury(side);
    }
}

impl Ship for RddHandle {
    fn freeze(&self, out: &mut Frozen) -> Result<(), ShipError> {
        out.value(&(self.0.id, self.0.partitions))
    }

    fn thaw(input: &mut Thawing<'_>) -> Result<Self, ShipError> {
        let (id, partitions) = input.value()?;
        Ok(Self(Arc::new(Inner { id, partitions, driver: None })))
    }
}
