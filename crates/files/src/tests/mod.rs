//! Tests of the file layer as a whole: what is written is read back, and files come from a web server.

mod http;
mod round_trip;
mod server;
mod windows;
