//! Connections over real sockets, with faults.
