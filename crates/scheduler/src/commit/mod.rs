//! Which attempt may commit the output of a partition: one, and only one.
