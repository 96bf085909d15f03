//! Global synchronization of the tasks of a barrier stage attempt.
