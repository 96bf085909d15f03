//! [`TaskMemory`]: the share of one task, on the thread of that task.
//!
//! The task uses memory first and asks for it afterwards: what it holds is measured, and as soon as that is more than
//! was granted, the next look at `limit` leads to a request. So the grants follow the use, and no row pays for a lock.

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    fmt,
    rc::Rc,
    sync::Arc,
};

use firesteel_types::AttemptId;

use super::{
    Consumer, ConsumerHolding, MemoryManager, OutOfShare, TaskMeter, blocked,
    consumer::Slot,
    meter,
    pools::{Request, ShareId},
};

/// Grants come in at least this size, and smaller remainders are not given back.
pub(super) const GRANT_BYTES_MIN: u64 = 1 << 20;
/// The most that is asked for ahead of use.
const AHEAD_MAX: u64 = 64 << 20;

/// What a task may hold and holds. Dropping it gives everything back.
///
/// Belongs to the thread on which it was made, and counts what that thread allocates until it is dropped.
///
/// ```
/// use firesteel_storage::memory::{MemoryConf, MemoryManager};
/// use firesteel_types::AttemptId;
///
/// let manager = MemoryManager::new(MemoryConf { budget: 1000, storage_fraction: 0.5 });
/// let first = manager.task(AttemptId(1));
/// assert_eq!(first.acquire(1000, &|| false), 1000);
/// first.release(400);
///
/// let second = manager.task(AttemptId(2));
/// assert_eq!(second.acquire(500, &|| false), 400, "more than a quarter, so it need not wait");
/// assert_eq!((first.share(), second.granted()), (500, 400));
/// ```
#[must_use = "the memory goes back when this is dropped"]
pub struct TaskMemory {
    pub(super) state: Rc<TaskState>,
    _meter: TaskMeter,
}

/// What a task and its consumers share.
pub(super) struct TaskState {
    manager: Arc<MemoryManager>,
    attempt: AttemptId,
    /// Its place in the division, from its first request on.
    share: Cell<Option<ShareId>>,
    granted: Cell<u64>,
    /// What the task may hold until it has to look again: what was granted, and a little more in an overdraft.
    limit: Cell<i64>,
    slots: RefCell<Vec<Rc<Slot>>>,
    cancelled: RefCell<Rc<dyn Fn() -> bool>>,
    is_over: Cell<bool>,
}

/// How a task stands after it asked for what it already holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It holds no more than was granted, or was cancelled and will notice soon.
    Covered,
    /// It holds so much more than was granted, and can have no more.
    Over(u64),
}

impl fmt::Debug for TaskMemory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = out.debug_struct("TaskMemory");
        fields.field("attempt", &self.state.attempt).field("granted", &self.granted()).finish_non_exhaustive()
    }
}

impl TaskMemory {
    pub(super) fn new(manager: Arc<MemoryManager>, attempt: AttemptId) -> Self {
        let state = TaskState {
            limit: Cell::new(signed(manager.free())),
            manager,
            attempt,
            share: Cell::new(None),
            granted: Cell::new(0),
            slots: RefCell::default(),
            cancelled: RefCell::new(Rc::new(|| false)),
            is_over: Cell::new(false),
        };
        let state = Rc::new(state);
        blocked::run_here(&state);
        Self { state, _meter: TaskMeter::start() }
    }

    /// Names what tells that the task was cancelled, for the requests that its consumers and [`check`](Self::check) make.
    pub fn cancelled_by(self, cancelled: impl Fn() -> bool + 'static) -> Self {
        *self.state.cancelled.borrow_mut() = Rc::new(cancelled);
        self
    }

    /// Asks for memory and returns what was granted, which may be less or nothing.
    ///
    /// Waits for other tasks while it would be left with less than half of its share; polls `cancelled` meanwhile and
    /// gives up with 0 when it is true.
    pub fn acquire(&self, bytes: u64, cancelled: &dyn Fn() -> bool) -> u64 {
        self.state.acquire(Request { needed: bytes, wanted: bytes }, cancelled)
    }

    /// Gives memory back, at most what was granted.
    pub fn release(&self, bytes: u64) {
        self.state.release(bytes);
    }

    /// What was granted and not given back.
    pub fn granted(&self) -> u64 {
        self.state.granted.get()
    }

    /// The most that the task may hold now: with N tasks, one Nth of what is not cached blocks in their own region.
    pub fn share(&self) -> u64 {
        self.state.share_and_tasks().0
    }

    /// What the task holds: measured, or what its consumers report where nothing is measured.
    ///
    /// Only on the thread of the task, as everything here.
    #[inline]
    pub fn live(&self) -> u64 {
        meter::live().max(0).cast_unsigned()
    }

    /// The most that the task ever held.
    pub fn peak(&self) -> u64 {
        meter::peak()
    }

    /// Registers a structure that can spill, until it is dropped.
    pub fn consumer(&self, name: impl Into<Cow<'static, str>>) -> Consumer {
        let slot = Rc::new(Slot::new(name.into()));
        self.state.slots.borrow_mut().push(Rc::clone(&slot));
        Consumer::new(Rc::clone(&self.state), slot)
    }

    /// Fails if the task holds far more than its share and none of that can be spilled.
    ///
    /// For code that fills memory without being a consumer. Cheap enough for every few rows. If a consumer of the task
    /// can spill, the largest is asked to instead.
    ///
    /// ```
    /// use firesteel_storage::memory::{MemoryConf, MemoryManager};
    /// use firesteel_types::AttemptId;
    ///
    /// let manager = MemoryManager::new(MemoryConf { budget: 16 << 20, storage_fraction: 0.5 });
    /// let task = manager.task(AttemptId(1));
    /// let table = task.consumer("table");
    /// table.pin();
    /// table.set_held(17 << 20);
    /// assert!(task.check().is_ok(), "a little over");
    /// table.set_held(20 << 20);
    /// # if !firesteel_storage::memory::is_counting() {
    /// let error = task.check().unwrap_err().to_string();
    /// assert!(error.starts_with("attempt-1 holds 20.0 MiB of memory, its share is 16.0 MiB"));
    /// # }
    /// ```
    #[inline]
    pub fn check(&self) -> Result<(), OutOfShare> {
        if self.state.is_short() { self.state.check() } else { Ok(()) }
    }
}

impl Drop for TaskMemory {
    fn drop(&mut self) {
        self.state.end();
    }
}

impl TaskState {
    /// Whether the task holds more than it should without looking again.
    #[inline]
    pub(super) fn is_short(&self) -> bool {
        meter::live() > self.limit.get()
    }

    fn acquire(&self, request: Request, cancelled: &dyn Fn() -> bool) -> u64 {
        let share = self.share.get().unwrap_or_else(|| self.manager.join());
        self.share.set(Some(share));
        let granted = self.manager.acquire(share, request, cancelled);
        self.set_granted(self.granted.get() + granted);
        granted
    }

    /// The manager, if the task divides the budget.
    pub(super) fn manager_if_joined(&self) -> Option<Arc<MemoryManager>> {
        self.share.get().map(|_| self.manager.clone())
    }

    fn release(&self, bytes: u64) {
        if let Some(share) = self.share.get() {
            let released = self.manager.release(share, bytes);
            self.set_granted(self.granted.get() - released);
        }
    }

    fn set_granted(&self, bytes: u64) {
        self.granted.set(bytes);
        self.limit.set(signed(bytes));
    }

    fn share_and_tasks(&self) -> (u64, usize) {
        self.manager.share(self.share.get())
    }

    /// Asks for what the task holds beyond its grant, and for some more ahead: as much again as it has.
    pub(super) fn cover(&self) -> Standing {
        if self.is_over.get() {
            return Standing::Covered;
        }
        let needed = self.over();
        if needed == 0 {
            self.limit.set(signed(self.granted.get()));
            return Standing::Covered;
        }
        let ahead = self.granted.get().clamp(GRANT_BYTES_MIN, AHEAD_MAX);
        let cancelled = Rc::clone(&self.cancelled.borrow());
        let granted = self.acquire(Request { needed, wanted: needed.max(ahead) }, &*cancelled);
        let over = self.over();
        if over > 0 && granted >= needed {
            // Asking takes a little memory itself: a task that got all that it held before must not spill for that.
            self.acquire(Request { needed: over, wanted: over.max(ahead) }, &*cancelled);
        }
        match self.over() {
            0 => Standing::Covered,
            over if cancelled() => {
                self.tolerate(over);
                Standing::Covered
            }
            over => Standing::Over(over),
        }
    }

    /// How much the task holds beyond what was granted.
    fn over(&self) -> u64 {
        meter::live().saturating_sub(signed(self.granted.get())).max(0).cast_unsigned()
    }

    /// How far a task may go beyond its share until something has been spilled.
    pub(super) fn overdraft(&self) -> u64 {
        (self.share_and_tasks().0 / 8).max(GRANT_BYTES_MIN)
    }

    /// What a consumer holds at least for a spill to be worth its file.
    pub(super) fn least_spill(&self) -> u64 {
        (self.share_and_tasks().0 / 8).clamp(1, GRANT_BYTES_MIN)
    }

    /// Lets a task that is `over` go on for a while before it has to look again.
    pub(super) fn tolerate(&self, over: u64) {
        let overdraft = self.overdraft();
        let step = (overdraft / 16).max(1);
        let next = if over <= overdraft { (over + step).min(overdraft) } else { over + step };
        self.limit.set(signed(self.granted.get() + next));
    }

    /// Whether a task that is `over` is within its share and overdraft even so.
    pub(super) fn is_tolerable(&self, over: u64) -> bool {
        let (share, _) = self.share_and_tasks();
        self.granted.get() + over <= share.max(self.granted.get()) + self.overdraft()
    }

    /// Asks the largest consumer that can spill, other than `asker`; returns whether there is one.
    ///
    /// One at a time: while one is asked, no second is.
    pub(super) fn ask_largest(&self, asker: Option<&Rc<Slot>>) -> bool {
        let least = self.least_spill();
        let slots = self.slots.borrow();
        let others = slots.iter().filter(|slot| asker.is_none_or(|asker| !Rc::ptr_eq(slot, asker)));
        let can_spill: Vec<_> = others.filter(|slot| slot.can_spill(least)).collect();
        let largest = can_spill.iter().max_by_key(|slot| slot.held());
        if let Some(largest) = largest
            && !can_spill.iter().any(|slot| slot.is_asked())
        {
            largest.ask();
        }
        largest.is_some()
    }

    #[cold]
    fn check(&self) -> Result<(), OutOfShare> {
        let Standing::Over(over) = self.cover() else { return Ok(()) };
        if self.ask_largest(None) || self.is_tolerable(over) {
            self.tolerate(over);
            return Ok(());
        }
        Err(self.out_of_share())
    }

    pub(super) fn out_of_share(&self) -> OutOfShare {
        let (share, tasks) = self.share_and_tasks();
        let holding = |slot: &Rc<Slot>| ConsumerHolding { name: slot.name().clone(), held: slot.held() };
        OutOfShare {
            attempt: self.attempt,
            held: meter::live().max(0).cast_unsigned(),
            share,
            tasks,
            budget: self.manager.usage().budget,
            consumers: self.slots.borrow().iter().map(holding).collect(),
        }
    }

    /// Gives back what is granted and not used, except for a remainder.
    pub(super) fn trim(&self) {
        if self.is_over.get() {
            return;
        }
        let kept = meter::live().max(0).cast_unsigned().next_multiple_of(GRANT_BYTES_MIN);
        if let Some(unused) = self.granted.get().checked_sub(kept)
            && unused > 0
        {
            self.release(unused);
        }
        self.limit.set(signed(self.granted.get()));
    }

    /// Notes what a consumer holds, and counts it where no allocator does.
    #[inline]
    pub(super) fn note_held(&self, slot: &Slot, bytes: u64) {
        let before = slot.replace_held(bytes);
        meter::estimate(signed(bytes) - signed(before));
    }

    pub(super) fn forget(&self, slot: &Rc<Slot>) {
        self.note_held(slot, 0);
        self.slots.borrow_mut().retain(|other| !Rc::ptr_eq(other, slot));
        self.trim();
    }

    /// The task is over. A consumer that lives on is never short again.
    fn end(&self) {
        for slot in self.slots.take() {
            self.note_held(&slot, 0);
        }
        self.is_over.set(true);
        if let Some(share) = self.share.take() {
            self.manager.leave(share);
        }
        self.granted.set(0);
        self.limit.set(i64::MAX);
    }
}

fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
