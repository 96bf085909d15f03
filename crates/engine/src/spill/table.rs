//! A hash table that goes on on disk when memory is short: [`SpillTable`].

use std::{hash::Hash, mem};

use hashbrown::{HashTable, hash_table};

use super::{Fold, RowFile, SplitFiles, Watch};
use crate::{data::Data, partitioner::hash_of, spill::CombineTable, task::TaskContext};

/// The most states of one table that are relieved: each has a file open, and its buffer in memory.
const RELIEVED_MAX: usize = 16;

/// A state for each key.
///
/// When memory is short, all keys go to files by their hash, and the table begins again empty; in the end each file is
/// read back as a table of its own, which may split again. A key whose state alone is most of the table is relieved in
/// place instead, where the fold knows how and the table has no files yet.
///
/// A key is in one place when the table is read: relieved states stay in the table and have no row in its files, all
/// others go to the files if there are any.
pub(crate) struct SpillTable<'a, K, F: Fold> {
    table: CombineTable<K, F::State>,
    fold: F,
    watch: Watch<(K, F::Row)>,
    files: Option<SplitFiles<(K, F::Row)>>,
    level: u32,
    name: &'static str,
    task: &'a TaskContext,
}

impl<'a, K: Data + Hash + Eq, F: Fold> SpillTable<'a, K, F> {
    /// An empty table with room for some keys; `name` tells its purpose in messages.
    pub(crate) fn new(fold: F, keys: usize, name: &'static str, task: &'a TaskContext) -> Self {
        Self::at_level(fold, keys, 0, name, task)
    }

    fn at_level(fold: F, keys: usize, level: u32, name: &'static str, task: &'a TaskContext) -> Self {
        let watch = Watch::new(name, task);
        // A guess must not take what the task may not have.
        let most = task.room() as usize / 4 / size_of::<(K, F::State)>().max(1);
        let table = CombineTable::with_capacity(keys.min(most));
        Self { table, fold, watch, files: None, level, name, task }
    }

    /// Brings `value` in: `create` makes the first state of a key, `add` the next ones.
    #[inline]
    pub(crate) fn bring<V>(
        &mut self,
        key: K,
        value: V,
        create: impl FnOnce(V) -> F::State,
        add: impl FnOnce(F::State, V) -> F::State,
    ) {
        self.table.bring(key, value, create, add);
        self.tick();
    }

    /// The same with a borrowed key, which is cloned only when it is new.
    #[inline]
    pub(crate) fn bring_borrowed<V>(
        &mut self,
        key: &K,
        value: V,
        create: impl FnOnce(V) -> F::State,
        add: impl FnOnce(F::State, V) -> F::State,
    ) {
        self.table.bring_borrowed(key, value, create, add);
        self.tick();
    }

    #[inline]
    fn tick(&mut self) {
        if self.watch.tick() {
            self.look();
        }
    }

    #[cold]
    fn look(&mut self) {
        if self.watch.must_spill(self.table.size()) {
            self.spill();
        }
    }

    fn spill(&mut self) {
        if self.relieve_heaviest() {
            return self.watch.spilled();
        }
        if !SplitFiles::<(K, F::Row)>::can_split(self.level) {
            return self.watch.pin();
        }
        self.split();
        self.watch.spilled();
    }

    /// Moves all states to the files, but for those that have a place of their own.
    fn split(&mut self) {
        let files = self.files.get_or_insert_with(|| SplitFiles::new(self.level, self.task));
        let rows = mem::take(self.table.table()).into_iter();
        *self.table.table() = unload_all(&self.fold, files, rows);
    }

    /// Relieves the heaviest state, if it is most of the table or no split would tell it from others.
    ///
    /// Never one that has rows in the files: its key would be given out once from the table and once from there.
    fn relieve_heaviest(&mut self) -> bool {
        let fold = &self.fold;
        let (mut all, mut relieved, mut heaviest) = (0, 0, None);
        for (_, state) in self.table.table().iter_mut() {
            let weight = fold.weight(state);
            all += weight;
            relieved += usize::from(fold.is_relieved(state));
            if heaviest.as_ref().is_none_or(|(most, _)| weight > *most) {
                heaviest = Some((weight, state));
            }
        }
        let Some((most, state)) = heaviest else { return false };
        let is_whole = fold.is_relieved(state) || (self.files.is_none() && relieved < RELIEVED_MAX);
        let is_heavy = most > all / 2 || (most > 0 && !SplitFiles::<(K, F::Row)>::can_split(self.level));
        is_whole && is_heavy && fold.relieve(state)
    }

    /// Every key with its state, in no order. Keys that were spilled come file by file.
    pub(crate) fn into_rows(mut self) -> TableRows<'a, K, F> {
        let mut pending = Vec::new();
        if self.files.is_some() {
            // What is left in memory belongs to keys that may be in the files too.
            self.split();
            pending.extend(self.files.take().into_iter().flat_map(|files| files.finish(self.task)));
        }
        let Self { table, fold, watch, level, name, task, .. } = self;
        TableRows { current: table.into_rows(), pending, fold, watch, level, name, task }
    }
}

/// Writes rows to files and gives those back that were relieved: they have a place of their own already, which gets what
/// they still hold.
fn unload_all<K: Data + Hash, F: Fold>(
    fold: &F,
    files: &mut SplitFiles<(K, F::Row)>,
    rows: impl Iterator<Item = (K, F::State)>,
) -> HashTable<(K, F::State)> {
    let mut kept = HashTable::new();
    for (key, mut state) in rows {
        if fold.is_relieved(&state) {
            fold.relieve(&mut state);
            kept.insert_unique(hash_of(&key), (key, state), |row: &(K, F::State)| hash_of(&row.0));
        } else {
            unload(fold, files, key, state);
        }
    }
    kept
}

fn unload<K: Data + Hash, F: Fold>(fold: &F, files: &mut SplitFiles<(K, F::Row)>, key: K, state: F::State) {
    let hash = hash_of(&key);
    let mut row = (key, None);
    fold.unload(state, |value| {
        // One row for each value, which all have the key.
        if let Some(before) = row.1.replace(value) {
            let full = (row.0.clone(), before);
            files.push(hash, &full);
        }
    });
    if let (key, Some(last)) = row {
        files.push(hash, &(key, last));
    }
}

/// What a table held, one key after the other.
pub(crate) struct TableRows<'a, K, F: Fold> {
    current: hash_table::IntoIter<(K, F::State)>,
    /// Files that are still to be read, each a table of its own.
    pending: Vec<(u32, RowFile<(K, F::Row)>)>,
    fold: F,
    watch: Watch<(K, F::Row)>,
    level: u32,
    name: &'static str,
    task: &'a TaskContext,
}

impl<K: Data + Hash + Eq, F: Fold + Clone> TableRows<'_, K, F> {
    /// Makes a file a table, and goes on with its keys or, if it had to split again, with its files.
    fn load(&mut self, level: u32, file: RowFile<(K, F::Row)>) {
        self.level = level;
        // Nothing is left of the table before, so nothing can be asked of it.
        self.watch.spilled();
        let mut table = SpillTable::at_level(self.fold.clone(), 0, level, self.name, self.task);
        let fold = &self.fold;
        for (key, row) in file.rows() {
            table.bring(key, row, |row| fold.start(row), |state, row| fold.add(state, row));
        }
        let TableRows { current, pending, watch, .. } = table.into_rows();
        self.current = current;
        self.watch = watch;
        self.pending.extend(pending);
    }

    /// Another structure needs the memory: what is left goes to files.
    #[cold]
    fn spill(&mut self) {
        if !SplitFiles::<(K, F::Row)>::can_split(self.level) || self.current.len() == 0 {
            return self.watch.pin();
        }
        let mut files = SplitFiles::new(self.level, self.task);
        let rows = mem::take(&mut self.current);
        self.current = unload_all(&self.fold, &mut files, rows).into_iter();
        self.pending.extend(files.finish(self.task));
        self.watch.spilled();
    }
}

impl<K: Data + Hash + Eq, F: Fold + Clone> Iterator for TableRows<'_, K, F> {
    type Item = (K, F::State);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.watch.is_asked_to_spill() {
                self.spill();
            }
            if let Some(row) = self.current.next() {
                return Some(row);
            }
            let (level, file) = self.pending.pop()?;
            self.load(level, file);
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let now = self.current.len();
        (now, self.pending.is_empty().then_some(now))
    }
}

#[cfg(test)]
mod tests;
