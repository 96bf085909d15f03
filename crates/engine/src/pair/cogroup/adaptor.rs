//! The adaptors of `cogroup`, one for each number of RDDs.

use std::hash::Hash;

use firesteel_types::PartitionId;

use super::{Groups, Side, Together};
use crate::{
    data::Data,
    either::Either,
    pair::{Input, Loaded},
    partitioner::KeyPartitioner,
    rdd::{Rdd, RddHandle},
    task::TaskContext,
};

/// Groups between two checks for an order to end.
const BATCH: usize = 1024;

macro_rules! cogroup {
    ($(#[$doc:meta])* $name:ident { $($side:ident: $value:ident as $tag:ident),* } and $($absent:ty),*) => {
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

        crate::rdd::debug_as_handle!(impl[K: Data, $($value: Data),*] $name<K, $($value),*>);

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
                $(let $side = self.$side.load(partition, task);)*
                if [$(matches!($side, Loaded::Streamed(_))),*].contains(&true) {
                    let mut together: Together<'_, K, $($value,)* $($absent),*> =
                        Together::new("grouping several RDDs by key", task);
                    $(together.bring($side, Side::$tag, task);)*
                    return Either::One(together.into_groups().map(|(key, groups)| {
                        let ($($side,)* ..) = groups;
                        (key, ($($side,)*))
                    }));
                }
                $(let $side = $side.lent().expect("none is streamed");)*
                let mut groups = Groups::with_capacity([$($side.len()),*].into_iter().fold(0, usize::max));
                $(let $side = groups.assign($side, task);)*
                $(let $side = $side.sort(groups.len(), task);)*
                Either::Two(groups.into_keys().enumerate().map(move |(group, key)| {
                    if group % BATCH == 0 {
                        task.check();
                    }
                    (key.clone(), ($($side.values(group),)*))
                }))
            }
        }
    };
}

cogroup! {
    /// An [`Rdd`] with all values that two parents have for a key. Made by
    /// [`cogroup`](crate::JoinRdd::cogroup).
    Cogroup { first: V as First, second: W as Second } and (), ()
}

cogroup! {
    /// An [`Rdd`] with all values that three parents have for a key. Made by
    /// [`cogroup3`](crate::JoinRdd::cogroup3).
    Cogroup3 { first: V as First, second: W as Second, third: X as Third } and ()
}

cogroup! {
    /// An [`Rdd`] with all values that four parents have for a key. Made by
    /// [`cogroup4`](crate::JoinRdd::cogroup4).
    Cogroup4 { first: V as First, second: W as Second, third: X as Third, fourth: Y as Fourth } and
}
