//! A shuffle as the driver knows it.

use std::{
    fmt,
    sync::{Arc, Weak},
};

use firesteel_types::{ShuffleDependency, ShuffleId};

use super::RddHandle;
use crate::{bury::bury, task::StageProgram};

/// A shuffle: the RDD whose rows it deals out, and what its map tasks run. Its output lives as long as the handle.
#[must_use = "the output of a shuffle is removed when its last handle is dropped"]
#[derive(Clone)]
pub struct ShuffleHandle(Arc<Inner>);

struct Inner {
    id: ShuffleId,
    parent: RddHandle,
    reducers: u32,
    ordered: bool,
    /// Always there but for the last moment.
    program: Option<Arc<dyn StageProgram>>,
}

impl ShuffleHandle {
    pub(crate) fn new(
        id: ShuffleId,
        parent: &RddHandle,
        reducers: u32,
        ordered: bool,
        program: Arc<dyn StageProgram>,
    ) -> Self {
        let handle =
            Self(Arc::new(Inner { id, parent: parent.clone(), reducers, ordered, program: Some(program) }));
        parent.driver().shuffle_made(&handle);
        handle
    }

    /// A handle that does not keep the shuffle alive.
    pub(crate) fn downgrade(&self) -> WeakShuffle {
        WeakShuffle(Arc::downgrade(&self.0))
    }

    /// The id.
    pub fn id(&self) -> ShuffleId {
        self.0.id
    }

    /// The RDD whose rows are dealt out.
    pub fn parent(&self) -> &RddHandle {
        &self.0.parent
    }

    /// To how many partitions the rows are dealt.
    pub(crate) fn reducers(&self) -> u32 {
        self.0.reducers
    }

    /// What the map tasks run.
    pub(crate) fn program(&self) -> &Arc<dyn StageProgram> {
        self.0.program.as_ref().expect("it is taken by drop only")
    }

    pub(crate) fn dependency(&self) -> ShuffleDependency {
        let Inner { id, parent, reducers, ordered, .. } = &*self.0;
        ShuffleDependency {
            ordered: *ordered,
            roll_back_on_mismatch: parent.driver().rolls_back_on_mismatch(),
            ..ShuffleDependency::new(*id, parent.id(), *reducers)
        }
    }
}

/// Without the RDD behind it: a lineage may be longer than a stack is deep.
impl fmt::Debug for ShuffleHandle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { id, parent, reducers, .. } = &*self.0;
        let mut fields = out.debug_struct("ShuffleHandle");
        fields
            .field("id", id)
            .field("parent", &parent.id())
            .field("reducers", reducers)
            .finish_non_exhaustive()
    }
}

/// Nothing can read the shuffle any more: its output is removed everywhere.
impl Drop for Inner {
    fn drop(&mut self) {
        self.parent.driver().shuffle_dropped(self.id);
        bury(self.program.take());
    }
}

/// A shuffle that may be gone.
pub(crate) struct WeakShuffle(Weak<Inner>);

impl WeakShuffle {
    pub(crate) fn upgrade(&self) -> Option<ShuffleHandle> {
        self.0.upgrade().map(ShuffleHandle)
    }
}
