//! What a table keeps for each key, and what of it goes to disk: [`Fold`].

use crate::data::Data;

/// How rows that were spilled become the state of their key again.
pub(crate) trait Fold {
    /// A row on disk.
    type Row: Data;
    /// What the table keeps for a key.
    type State: Clone;

    /// The state after the first row.
    fn start(&self, row: Self::Row) -> Self::State;

    /// The state with one more row.
    fn add(&self, state: Self::State, row: Self::Row) -> Self::State;

    /// The rows that make the state again, in order.
    fn unload(&self, state: Self::State, each: impl FnMut(Self::Row));

    /// How much of a table this state is, in a unit of the fold's own.
    fn weight(&self, _state: &Self::State) -> usize {
        1
    }

    /// Moves what a state holds out of memory, if the fold knows how, behind what it was relieved of before. Such a state
    /// stays in its table.
    fn relieve(&self, _state: &mut Self::State) -> bool {
        false
    }

    /// Whether a state was relieved.
    fn is_relieved(&self, _state: &Self::State) -> bool {
        false
    }
}
