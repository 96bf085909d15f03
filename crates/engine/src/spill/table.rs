//! A hash table that goes on on disk when memory is short: [`SpillTable`].

use std::{hash::Hash, mem};

use hashbrown::{HashTable, hash_table};

use super::{Fold, RowFile, SplitFiles, Watch};
use crate::{data::Data, executor::TaskContext, pair::Combine, partitioner::hash_of};

/// A state for each key.
///
/// When memory is short, all keys go to files by their hash, and the table begins again empty; in the end each file is
/// read back as a table of its own, which may split again. A key whose state alone is most of the table is relieved in
/// place instead, where the fold knows how.
pub(crate) struct SpillTable<'a, K, F: Fold> {
    table: Combine<K, F::State>,
    fold: F,
    watch: Watch,
    files: Option<SplitFiles<(K, F::Row)>>,
    level: u32,
    name: &'static str,
    task: &'a TaskContext,
}

impl<'a, K: Data + Hash + Eq, F: Fold> SpillTable<'a, K, F> {
    /// An empty table with room for some keys; `name` says in messages what it is for.
    pub(crate) fn new(fold: F, keys: usize, name: &'static str, task: &'a TaskContext) -> Self {
        Self::at_level(fold, keys, 0, name, task)
    }

    fn at_level(fold: F, keys: usize, level: u32, name: &'static str, task: &'a TaskContext) -> Self {
        let watch = Watch::new(name, task);
        // A guess must not take what the task may not have.
        let most = task.room() as usize / 4 / size_of::<(K, F::State)>().max(1);
        let table = Combine::with_capacity(keys.min(most));
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
        let fold = &self.fold;
        let table = self.table.table();
        let weights = table.iter().map(|(_, state)| fold.weight(state));
        let (all, most) = weights.fold((0, 0), |(all, most), weight| (all + weight, most.max(weight)));
        if most > all / 2 {
            let heavy = table.iter_mut().find(|(_, state)| fold.weight(state) == most);
            if heavy.is_some_and(|(_, state)| fold.relieve(state)) {
                return self.watch.spilled();
            }
        }
        if !SplitFiles::<(K, F::Row)>::can_split(self.level) {
            return self.watch.pin();
        }
        let files = self.files.get_or_insert_with(|| SplitFiles::new(self.level, self.task));
        let table = mem::take(self.table.table());
        let mut kept = Vec::new();
        for (key, state) in table {
            if fold.is_relieved(&state) {
                kept.push((key, state));
            } else {
                unload(fold, files, key, state);
            }
        }
        for row in kept {
            self.table.table().insert_unique(hash_of(&row.0), row, |row| hash_of(&row.0));
        }
        self.watch.spilled();
    }

    /// Every key with its state, in no order. Keys that were spilled come file by file.
    pub(crate) fn into_rows(mut self) -> TableRows<'a, K, F> {
        let mut pending = Vec::new();
        if self.files.is_some() {
            // What is left in memory belongs to keys that may be in the files too.
            self.spill_rest();
            pending.extend(self.files.take().into_iter().flat_map(|files| files.finish(self.task)));
        }
        let Self { table, fold, watch, level, name, task, .. } = self;
        TableRows { current: table.into_rows(), pending, fold, watch, level, name, task }
    }

    fn spill_rest(&mut self) {
        let Some(files) = &mut self.files else { return };
        let fold = &self.fold;
        for (key, state) in self.table.table().extract_if(|(_, state)| !fold.is_relieved(state)) {
            unload(fold, files, key, state);
        }
    }
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
    watch: Watch,
    level: u32,
    name: &'static str,
    task: &'a TaskContext,
}

impl<K: Data + Hash + Eq, F: Fold + Clone> TableRows<'_, K, F> {
    /// Makes a file a table, and goes on with its keys or, if it had to split again, with its files.
    fn load(&mut self, level: u32, file: RowFile<(K, F::Row)>) {
        self.level = level;
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
        let mut kept = HashTable::new();
        for (key, state) in mem::take(&mut self.current) {
            if self.fold.is_relieved(&state) {
                kept.insert_unique(hash_of(&key), (key, state), |row: &(K, F::State)| hash_of(&row.0));
            } else {
                unload(&self.fold, &mut files, key, state);
            }
        }
        self.current = kept.into_iter();
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
