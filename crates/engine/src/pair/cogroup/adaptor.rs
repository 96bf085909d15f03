//! The adaptors of `cogroup`, one for each number of RDDs.

use std::hash::Hash;

use firesteel_types::PartitionId;

use super::Groups;
use crate::{
    data::Data,
    executor::TaskContext,
    pair::Input,
    partitioner::KeyPartitioner,
    rdd::{Rdd, RddHandle},
};

/// Groups between two checks for an order to end.
const BATCH: usize = 1024;

macro_rules! cogroup {
    ($(#[$doc:meta])* $name:ident { $($side:ident: $value:ident),* }) => {
        $(#[$doc])*
        ///
        /// A parent that has the result's partitioner is read in place, any other one is shuffled. Rows are
        /// sorted by key where they are; the vectors of a key are made, with their exact size, when its row
        /// is asked for.
        #[must_use = "an RDD is lazy and does nothing until an action runs it"]
        pub struct $name<K: Data, $($value: Data),*> {
            handle: RddHandle,
            $($side: Input<(K, $value), (K, $value)>,)*
        }

        crate::ship!(impl[K: Data, $($value: Data),*] $name<K, $($value),*> { handle, $($side),* });

        impl<K: Data, $($value: Data),*> Clone for $name<K, $($value),*> {
            fn clone(&self) -> Self {
                Self { handle: self.handle.clone(), $($side: self.$side.clone(),)* }
            }
        }

        impl<K: Data, $($value: Data),*> $name<K, $($value),*> {
            /// Groups its parents by key.
            #[track_caller]
            pub(crate) fn new(
                $($side: &impl Rdd<Item = (K, $value)>,)*
                operator: &'static str,
                partitioner: &KeyPartitioner<K>,
            ) -> Self {
                let handles = [$($side.handle()),*];
                let builder = handles[0].derive_into(operator, partitioner.num_partitions());
                $(let $side = Input::pairs($side, partitioner);)*
                let parents = vec![$($side.parent()),*];
                let handle = builder.partitioner(Some(partitioner.erased())).parents(parents).build();
                Self { handle, $($side),* }
            }
        }

        impl<K: Data + Hash + Eq, $($value: Data),*> Rdd for $name<K, $($value),*> {
            type Item = (K, ($(Vec<$value>,)*));

            fn handle(&self) -> &RddHandle {
                &self.handle
            }

            fn compute<'a>(
                &'a self,
                partition: PartitionId,
                task: &'a TaskContext,
            ) -> impl Iterator<Item = Self::Item> + 'a {
                $(let $side = self.$side.lend(partition, task);)*
                let mut groups = Groups::with_capacity([$($side.len()),*].into_iter().fold(0, usize::max));
                $(let $side = groups.assign($side, task);)*
                $(let $side = $side.sort(groups.len(), task);)*
                groups.into_keys().enumerate().map(move |(group, key)| {
                    if group % BATCH == 0 {
                        task.check();
                    }
                    (key.clone(), ($($side.values(group),)*))
                })
            }
        }
    };
}

cogroup! {
    /// An [`Rdd`] with all values that two parents have for a key. Made by
    /// [`cogroup`](crate::JoinRdd::cogroup).
    Cogroup { first: V, second: W }
}

cogroup! {
    /// An [`Rdd`] with all values that three parents have for a key. Made by
    /// [`cogroup3`](crate::JoinRdd::cogroup3).
    Cogroup3 { first: V, second: W, third: X }
}

cogroup! {
    /// An [`Rdd`] with all values that four parents have for a key. Made by
    /// [`cogroup4`](crate::JoinRdd::cogroup4).
    Cogroup4 { first: V, second: W, third: X, fourth: Y }
}
