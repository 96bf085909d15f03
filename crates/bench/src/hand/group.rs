//! The values of each key side by side.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Keys, and their values in one vector, group after group.
#[derive(Debug)]
pub struct Groups {
    keys: Vec<u64>,
    /// Where the values of each key end; they begin where those of the key before end.
    ends: Vec<u32>,
    values: Vec<u64>,
}

impl Groups {
    /// Groups rows that come in pieces.
    pub fn of(pieces: &[Vec<(u64, u64)>]) -> Self {
        let mut numbers: HashMap<u64, u32, FixedState> = HashMap::default();
        let (mut keys, mut sizes) = (Vec::new(), Vec::<u32>::new());
        let mut number_of = Vec::with_capacity(pieces.iter().map(Vec::len).sum());
        for (key, _) in pieces.iter().flatten() {
            let number = *numbers.entry(*key).or_insert_with(|| {
                keys.push(*key);
                sizes.push(0);
                sizes.len() as u32 - 1
            });
            sizes[number as usize] += 1;
            number_of.push(number);
        }
        // From sizes to the place of each group's next value; when all are put, those are the ends.
        let mut place = 0;
        for size in &mut sizes {
            place += std::mem::replace(size, place);
        }
        let mut ends = sizes;
        let mut values = vec![0; number_of.len()];
        for (number, (_, value)) in number_of.into_iter().zip(pieces.iter().flatten()) {
            let next = &mut ends[number as usize];
            values[*next as usize] = *value;
            *next += 1;
        }
        Self { keys, ends, values }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Each key with its values.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u64])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, end)| &self.values[start as usize..*end as usize]);
        self.keys.iter().copied().zip(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_all_its_values_in_order() {
        let groups = Groups::of(&[vec![(7, 1), (9, 2), (7, 3)], vec![], vec![(9, 4), (5, 5)]]);

        let all: Vec<(u64, &[u64])> = groups.iter().collect();
        assert_eq!(all, [(7, &[1, 3][..]), (9, &[2, 4]), (5, &[5])]);
        assert_eq!((groups.len(), groups.is_empty()), (3, false));
        assert!(Groups::of(&[]).is_empty());
    }
}
