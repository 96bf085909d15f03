//! The values of one key: [`Group`], and how it is filled when memory is short.

use std::{
    cell::RefCell,
    fmt,
    ops::{Deref, DerefMut},
    rc::Rc,
    sync::{Arc, OnceLock},
    vec,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    data::Data,
    either::Either,
    spill::{Fold, RowFile, RowFileWriter},
    task::TaskContext,
};

/// All values of one key, in the order in which they came. Made by [`group_by_key`](crate::PairRdd::group_by_key) and
/// [`group_by`](crate::Rearrange::group_by).
///
/// Can be used like a slice. Where the values of one key are more than the task may hold, they lie on disk:
/// [`into_iter`](IntoIterator::into_iter) reads them one after the other, while everything that needs a slice brings
/// them into memory first.
///
/// ```
/// use firesteel::prelude::*;
///
/// let ctx = Context::local(2)?;
/// let sums = ctx.range(0..10_u64).map(|x| (x % 2, x)).group_by_key().map(|(key, values)| {
///     assert_eq!(values.len(), 5);
///     (key, values.into_iter().sum::<u64>())
/// });
/// let mut sums = sums.collect()?;
/// sums.sort();
/// assert_eq!(sums, [(0, 20), (1, 25)]);
/// # Ok::<(), firesteel::Error>(())
/// ```
#[derive(Clone)]
pub struct Group<V: Data>(Values<V>);

#[derive(Clone)]
enum Values<V: Data> {
    InMemory(Vec<V>),
    OnDisk(Arc<OnDisk<V>>),
}

/// More values than a task may hold.
struct OnDisk<V> {
    file: RowFile<V>,
    /// The values after those in the file.
    rest: Vec<V>,
    loaded: OnceLock<Vec<V>>,
}

impl<V: Data> Group<V> {
    /// How many values there are. Does not read them.
    ///
    /// ```
    /// # use firesteel::Group;
    /// assert_eq!(Group::from(vec![1, 2, 3]).len(), 3);
    /// ```
    pub fn len(&self) -> usize {
        match &self.0 {
            Values::InMemory(values) => values.len(),
            Values::OnDisk(values) => values.len(),
        }
    }

    /// Whether there is no value. Groups of a key have at least one.
    ///
    /// ```
    /// # use firesteel::Group;
    /// assert!(Group::<u8>::from(vec![]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values in a vector; all of them have to fit in memory.
    ///
    /// ```
    /// # use firesteel::Group;
    /// assert_eq!(Group::from(vec![1, 2, 3]).into_vec(), [1, 2, 3]);
    /// ```
    pub fn into_vec(self) -> Vec<V> {
        match self.0 {
            Values::InMemory(values) => values,
            Values::OnDisk(_) => self.into_iter().collect(),
        }
    }
}

impl<V: Data> OnDisk<V> {
    fn len(&self) -> usize {
        self.file.len() as usize + self.rest.len()
    }

    fn values(self: &Arc<Self>) -> impl Iterator<Item = V> + use<V> {
        let (group, len) = (self.clone(), self.rest.len());
        let rest = (0..len).map(move |place| group.rest[place].clone());
        self.file.rows().chain(rest)
    }
}

impl<V: Data> Deref for Group<V> {
    type Target = [V];

    fn deref(&self) -> &[V] {
        match &self.0 {
            Values::InMemory(values) => values,
            Values::OnDisk(values) => values.loaded.get_or_init(|| values.values().collect()),
        }
    }
}

/// Brings the values into memory.
impl<V: Data> DerefMut for Group<V> {
    fn deref_mut(&mut self) -> &mut [V] {
        if let Values::OnDisk(values) = &self.0 {
            self.0 = Values::InMemory(values.values().collect());
        }
        match &mut self.0 {
            Values::InMemory(values) => values,
            Values::OnDisk(_) => unreachable!("it was replaced just now"),
        }
    }
}

impl<V: Data> From<Vec<V>> for Group<V> {
    fn from(values: Vec<V>) -> Self {
        Self(Values::InMemory(values))
    }
}

impl<V: Data> From<Group<V>> for Vec<V> {
    fn from(group: Group<V>) -> Self {
        group.into_vec()
    }
}

impl<V: Data> FromIterator<V> for Group<V> {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        Self(Values::InMemory(values.into_iter().collect()))
    }
}

/// The values of a [`Group`] one after the other.
#[must_use = "values are read when they are asked for"]
pub struct GroupValues<V>(Either<vec::IntoIter<V>, Box<dyn Iterator<Item = V> + Send>>);

impl<V> Iterator for GroupValues<V> {
    type Item = V;

    fn next(&mut self) -> Option<V> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    fn fold<B, F: FnMut(B, V) -> B>(self, init: B, f: F) -> B {
        self.0.fold(init, f)
    }
}

impl<V> fmt::Debug for GroupValues<V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("GroupValues").finish_non_exhaustive()
    }
}

impl<V: Data> IntoIterator for Group<V> {
    type Item = V;
    type IntoIter = GroupValues<V>;

    fn into_iter(self) -> GroupValues<V> {
        GroupValues(match self.0 {
            Values::InMemory(values) => Either::One(values.into_iter()),
            Values::OnDisk(values) => Either::Two(Box::new(values.values())),
        })
    }
}

impl<'a, V: Data> IntoIterator for &'a Group<V> {
    type Item = &'a V;
    type IntoIter = std::slice::Iter<'a, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<V: Data + fmt::Debug> fmt::Debug for Group<V> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, out)
    }
}

impl<V: Data + PartialEq> PartialEq for Group<V> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<V: Data + Eq> Eq for Group<V> {}

impl<V: Data + PartialEq> PartialEq<Vec<V>> for Group<V> {
    fn eq(&self, other: &Vec<V>) -> bool {
        self[..] == other[..]
    }
}

impl<V: Data + PartialEq> PartialEq<[V]> for Group<V> {
    fn eq(&self, other: &[V]) -> bool {
        self[..] == *other
    }
}

impl<V: Data + PartialEq, const N: usize> PartialEq<[V; N]> for Group<V> {
    fn eq(&self, other: &[V; N]) -> bool {
        self[..] == *other
    }
}

impl<V: Data + PartialOrd> PartialOrd for Group<V> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self[..].partial_cmp(&other[..])
    }
}

impl<V: Data + Ord> Ord for Group<V> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self[..].cmp(&other[..])
    }
}

impl<V: Data + std::hash::Hash> std::hash::Hash for Group<V> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self[..].hash(state);
    }
}

/// As a sequence, whose values are never all in memory.
impl<V: Data> Serialize for Group<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Values::InMemory(values) => values.serialize(serializer),
            Values::OnDisk(values) => {
                use serde::ser::SerializeSeq;
                let mut sequence = serializer.serialize_seq(Some(values.len()))?;
                values.values().try_for_each(|value| sequence.serialize_element(&value))?;
                sequence.end()
            }
        }
    }
}

impl<'de, V: Data> Deserialize<'de> for Group<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Values::InMemory(Vec::deserialize(deserializer)?)))
    }
}

/// A group that is being filled.
#[derive(Clone)]
pub(crate) struct Filling<V> {
    values: Vec<V>,
    /// Shared only because states of a table must be able to be cloned, which they never are.
    file: Option<Rc<RefCell<RowFileWriter<V>>>>,
}

impl<V: Data> Filling<V> {
    pub(crate) fn of(value: V) -> Self {
        Self { values: vec![value], file: None }
    }

    pub(crate) fn with(mut self, value: V) -> Self {
        self.values.push(value);
        self
    }

    pub(crate) fn finish(self) -> Group<V> {
        let file = self.file.and_then(|file| {
            let file = Rc::into_inner(file).expect("states of a table are never cloned");
            file.into_inner().finish()
        });
        Group(match file {
            None => Values::InMemory(self.values),
            Some(file) => {
                Values::OnDisk(Arc::new(OnDisk { file, rest: self.values, loaded: OnceLock::new() }))
            }
        })
    }
}

/// Brings the values of each key together.
#[derive(Clone, Copy)]
pub(crate) struct ByKey<'a, V> {
    pub(crate) task: &'a TaskContext,
    pub(crate) values: std::marker::PhantomData<fn() -> V>,
}

impl<V: Data> Fold for ByKey<'_, V> {
    type Row = V;
    type State = Filling<V>;

    fn start(&self, value: V) -> Filling<V> {
        Filling::of(value)
    }

    fn add(&self, group: Filling<V>, value: V) -> Filling<V> {
        group.with(value)
    }

    fn unload(&self, group: Filling<V>, each: impl FnMut(V)) {
        group.values.into_iter().for_each(each);
    }

    fn weight(&self, group: &Filling<V>) -> usize {
        group.values.len()
    }

    fn relieve(&self, group: &mut Filling<V>) -> bool {
        let file = group.file.get_or_insert_with(|| Rc::new(RefCell::new(RowFileWriter::new(self.task))));
        let mut file = file.borrow_mut();
        for value in std::mem::take(&mut group.values) {
            file.push(&value);
        }
        true
    }

    fn is_relieved(&self, group: &Filling<V>) -> bool {
        group.file.is_some()
    }
}
