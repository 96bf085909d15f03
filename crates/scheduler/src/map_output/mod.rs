//! Where the outputs of map tasks are, and how large.
