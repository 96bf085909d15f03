//! Tests of the file layer as a whole: what is written is read back, and files come from a web server.

#[cfg(feature = "cloud")]
mod http;
mod round_trip;
#[cfg(feature = "cloud")]
mod server;
mod windows;
