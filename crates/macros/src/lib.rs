//! The attribute macros of Firesteel.
