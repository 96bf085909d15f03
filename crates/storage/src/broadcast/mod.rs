//! Values cut into pieces that executors fetch from each other.
