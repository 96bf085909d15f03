//! A table by executor id.

use std::collections::BTreeMap;

use firesteel_types::ExecutorId;

/// Values by executor id, found without hashing.
///
/// Executors are looked up many times for each task, and cluster managers number them from 0. So small ids index a
/// table of slots directly; the few large ones, such as the driver's own, go through a map.
#[derive(Debug)]
pub(crate) struct ExecutorTable<V> {
    slots: Vec<Option<(ExecutorId, V)>>,
    free: Vec<u32>,
    small: Vec<u32>,
    large: BTreeMap<ExecutorId, u32>,
}

/// Ids from here on are large: a peer that claims one does not make the table grow.
const SMALL: u32 = 1 << 20;
const NONE: u32 = u32::MAX;

impl<V> Default for ExecutorTable<V> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), small: Vec::new(), large: BTreeMap::new() }
    }
}

impl<V> ExecutorTable<V> {
    fn slot(&self, id: ExecutorId) -> Option<usize> {
        let slot = if id.0 < SMALL { *self.small.get(id.0 as usize)? } else { *self.large.get(&id)? };
        (slot != NONE).then_some(slot as usize)
    }

    pub(crate) fn get(&self, id: ExecutorId) -> Option<&V> {
        self.slots[self.slot(id)?].as_ref().map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, id: ExecutorId) -> Option<&mut V> {
        let slot = self.slot(id)?;
        self.slots[slot].as_mut().map(|(_, value)| value)
    }

    /// Adds a value for an id that has none. Whether it had none.
    pub(crate) fn insert(&mut self, id: ExecutorId, value: V) -> bool {
        if self.slot(id).is_some() {
            return false;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize] = Some((id, value));
        if id.0 < SMALL {
            if self.small.len() <= id.0 as usize {
                self.small.resize(id.0 as usize + 1, NONE);
            }
            self.small[id.0 as usize] = slot;
        } else {
            self.large.insert(id, slot);
        }
        true
    }

    /// The value of an id, which is given a default one if it has none.
    pub(crate) fn get_or_default(&mut self, id: ExecutorId) -> &mut V
    where
        V: Default,
    {
        if self.slot(id).is_none() {
            self.insert(id, V::default());
        }
        self.get_mut(id).expect("it was there or is now")
    }

    pub(crate) fn remove(&mut self, id: ExecutorId) -> Option<V> {
        let slot = self.slot(id)?;
        if id.0 < SMALL {
            self.small[id.0 as usize] = NONE;
        } else {
            self.large.remove(&id);
        }
        self.free.push(slot as u32);
        self.slots[slot].take().map(|(_, value)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Every value with its id, in the order of the slots, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (ExecutorId, &mut V)> {
        self.slots.iter_mut().flatten().map(|(id, value)| (*id, value))
    }

    /// Every value with its id, in the order of the slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ExecutorId, &V)> {
        self.slots.iter().flatten().map(|(id, value)| (*id, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_ids_are_found_until_they_are_removed() {
        let mut table = ExecutorTable::default();
        for id in [3, 0, SMALL, u32::MAX] {
            assert!(table.insert(ExecutorId(id), id));
        }

        let twice = table.insert(ExecutorId(3), 9);
        let removed =
            (table.remove(ExecutorId(0)), table.remove(ExecutorId(SMALL)), table.remove(ExecutorId(1)));
        table.insert(ExecutorId(7), 7);

        assert!(!twice);
        assert_eq!(removed, (Some(0), Some(SMALL), None));
        assert_eq!((table.len(), table.get(ExecutorId(0))), (3, None));
        assert_eq!((table.get(ExecutorId(3)), table.get(ExecutorId::DRIVER)), (Some(&3), Some(&u32::MAX)));
        let all: Vec<_> = table.iter().map(|(id, _)| id.0).collect();
        assert_eq!(all, [3, 7, u32::MAX], "freed slots are used again");
    }
}
