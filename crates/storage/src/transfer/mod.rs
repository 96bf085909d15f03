//! The server and the client that move blocks between processes.
