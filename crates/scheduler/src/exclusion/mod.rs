//! Executors and nodes that fail too often get no tasks for a while.
