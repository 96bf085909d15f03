//! Rows that are read several times: [`Kept`].

use std::rc::Rc;

use super::{RowFile, RowFileWriter, Watch};
use crate::{data::Data, task::TaskContext};

/// Rows in memory, or in a file if they do not fit there.
pub(crate) struct Kept<T>(Rc<Place<T>>);

enum Place<T> {
    /// With the watch, which counts them as long as they are there.
    Memory(Vec<T>, #[expect(dead_code, reason = "it is only kept to be dropped")] Watch<T>),
    /// None if there are no rows.
    File(Option<RowFile<T>>),
}

impl<T: Data> Kept<T> {
    /// Takes all rows in; `name` tells their purpose in messages.
    pub(crate) fn new(mut rows: impl Iterator<Item = T>, name: &'static str, task: &TaskContext) -> Self {
        let mut memory = Vec::new();
        let mut watch = Watch::<T>::new(name, task);
        if watch.fill(&mut memory, &mut rows, 0).is_continue() {
            watch.pin();
            return Self(Rc::new(Place::Memory(memory, watch)));
        }
        let mut file = RowFileWriter::new(task);
        for row in memory {
            file.push(&row);
        }
        watch.spilled();
        rows.for_each(|row| file.push(&row));
        let file = file.finish();
        task.count_spill(file.as_ref().map_or(0, RowFile::bytes));
        Self(Rc::new(Place::File(file)))
    }

    /// The rows, in order, as often as they are asked for.
    pub(crate) fn rows(&self) -> KeptRows<T> {
        let file = match &*self.0 {
            Place::Memory(..) | Place::File(None) => None,
            Place::File(Some(file)) => Some(Box::new(file.rows()) as Box<dyn Iterator<Item = T>>),
        };
        KeptRows { kept: self.0.clone(), next: 0, file }
    }
}

/// Kept rows one after the other.
pub(crate) struct KeptRows<T> {
    kept: Rc<Place<T>>,
    /// The place of the next one, of those in memory.
    next: usize,
    file: Option<Box<dyn Iterator<Item = T>>>,
}

impl<T: Data> Iterator for KeptRows<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match &*self.kept {
            Place::Memory(rows, _) => {
                let row = rows.get(self.next)?.clone();
                self.next += 1;
                Some(row)
            }
            Place::File(_) => self.file.as_mut()?.next(),
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, f: F) -> B {
        match &*self.kept {
            Place::Memory(rows, _) => rows[self.next..].iter().cloned().fold(init, f),
            Place::File(_) => self.file.into_iter().flatten().fold(init, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{prelude::*, task::with_random_spills};

    /// Whether all rows come twice and in order, and whether they were in memory.
    fn kept_in_order(seed: u64) -> (bool, bool) {
        let task = TaskContext::current().expect("it runs in a task");
        let rows = seed * 13 % 500;
        let expected = || (0..rows).map(|x| x.to_string());
        let kept = with_random_spills(seed, 1 << (seed % 12), || Kept::new(expected(), "test", &task));
        let is_in_memory = matches!(&*kept.0, Place::Memory(..));
        let mut by_fold = Vec::new();
        let mut begun = kept.rows();
        by_fold.extend(begun.next());
        begun.for_each(|row| by_fold.push(row));
        (kept.rows().eq(expected()) && by_fold.into_iter().eq(expected()), is_in_memory)
    }

    #[test]
    fn rows_come_as_often_as_they_are_asked_for_from_memory_and_from_a_file() {
        let ctx = Context::local(2).unwrap();

        let found = ctx.range_into(0..200_u64, 4).map(kept_in_order).collect().unwrap();

        assert!(found.iter().all(|(is_whole, _)| *is_whole));
        let in_memory = found.iter().filter(|(_, is_in_memory)| *is_in_memory).count();
        assert!(20 < in_memory && in_memory < 180, "{in_memory} of 200 were in memory");
    }
}
