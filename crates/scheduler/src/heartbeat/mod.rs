//! Which executors are alive, judged by what was last heard of them.
