//! What executors have, what is free of it, and which profile may run where.
