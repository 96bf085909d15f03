//! How RDDs look in debug output: the operator, where it was called, and the ids of its parents.
//!
//! Parents are named and not followed: a lineage may be longer than a stack is deep. All of it is shown by
//! [`to_debug_string`](crate::Transform::to_debug_string).

use std::fmt;

use super::{HandleBuilder, Parent, RddHandle};

/// Implements `Debug` for an operator by its field `handle`, so that neither its parents nor its functions need it.
macro_rules! debug_as_handle {
    (impl[$($generics:tt)*] $name:ident $(<$($parameter:ident),*>)?) => {
        impl<$($generics)*> std::fmt::Debug for $name $(<$($parameter),*>)? {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.handle.debug_as(stringify!($name), out)
            }
        }
    };
}

pub(crate) use debug_as_handle;

impl RddHandle {
    /// Writes the RDD as a value of the type `name`. Inside a task, only id and partitions are known.
    pub(crate) fn debug_as(&self, name: &str, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = out.debug_struct(name);
        fields.field("id", &format_args!("{}", self.0.id)).field("partitions", &self.0.partitions);
        if let Some(side) = &self.0.driver {
            let parents: Vec<_> =
                side.state.lock().parents.iter().map(|parent| parent.handle().id()).collect();
            fields.field("operator", &side.operator).field("site", &format_args!("{}", side.site));
            fields.field("parents", &parents);
        }
        fields.finish()
    }
}

impl fmt::Debug for RddHandle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.debug_as("RddHandle", out)
    }
}

impl fmt::Debug for HandleBuilder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = out.debug_struct("HandleBuilder");
        fields.field("id", &self.id).field("partitions", &self.partitions);
        fields.field("operator", &self.side.operator).finish_non_exhaustive()
    }
}

impl fmt::Debug for Parent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Narrow(handle, map) => out.debug_tuple("Narrow").field(&handle.id()).field(map).finish(),
            Self::Shuffle(shuffle) => out.debug_tuple("Shuffle").field(shuffle).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    #[test]
    fn an_operator_shows_its_type_its_line_and_its_parents() {
        let ctx = Context::local(1).unwrap();
        let rows = ctx.range_into(0..4, 2);

        let (doubled, line) = (rows.map(|x| x * 2), line!());

        let id = doubled.handle().id();
        let site = format!("{}:{line}", file!());
        let shown = format!("{doubled:?}");
        assert!(
            shown.starts_with(&format!("Map {{ id: {id}, partitions: 2, operator: \"map\", site: {site}:"))
        );
        assert!(shown.ends_with(&format!("parents: [{:?}] }}", rows.handle().id())), "{shown}");
    }

    #[test]
    fn rows_and_environments_without_debug_do_not_keep_operators_from_being_shown() {
        #[derive(Clone, serde::Serialize, serde::Deserialize)]
        struct Silent;
        let ctx = Context::local(1).unwrap();

        let rows = ctx.range(0..4).with(Silent).map(|_, x| (x, Silent));
        let shown = [
            format!("{rows:?}"),
            format!("{:?}", rows.group_by_key()),
            format!("{:?}", rows.cogroup(&rows)),
            format!("{:?}", rows.boxed().with(Silent)),
        ];

        let names = ["Map {", "Grouped {", "Cogroup {", "With { rdd: BoxRdd {"];
        assert!(shown.iter().zip(names).all(|(shown, name)| shown.starts_with(name)), "{shown:#?}");
    }
}
