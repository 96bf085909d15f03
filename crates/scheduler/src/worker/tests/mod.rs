//! The worker put through its events.

mod harness;

mod cleaning;
mod drivers;
mod executors;
mod killing;
mod orders;
mod properties;
mod registration;
mod state_sync;

use std::time::Duration;

use firesteel_types::{AppId, DriverId, ExecutorKey, Timestamp};

use super::*;
use crate::deploy::*;
use harness::*;
