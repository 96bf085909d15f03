//! The local folders: used in turn, avoided when they fail, removed at the end.
