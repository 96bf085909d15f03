//! Broadcast variables in running jobs.

use firesteel::prelude::*;

use crate::support::each_backend;

#[test]
fn every_task_reads_the_value() {
    each_backend(|ctx| {
        let table = ctx.broadcast((0..100_u64).map(|x| x * x).collect::<Vec<_>>()).unwrap();

        let squares = ctx.range_into(0..100_usize, 7).with(table).map(|table, x| table.value()[x]);

        assert_eq!(squares.collect().unwrap(), (0..100).map(|x| x * x).collect::<Vec<_>>());
    });
}

/// Behaviours: BC-003.
#[test]
fn an_unpersisted_value_can_still_be_read_and_a_destroyed_one_cannot() {
    each_backend(|ctx| {
        let word = ctx.broadcast("word".to_owned()).unwrap();
        let read = ctx.range(0..2).with(word.clone()).map(|word, _| word.value().len());

        word.unpersist();
        assert_eq!(read.collect().unwrap(), [4, 4]);
        word.destroy();

        let error = read.collect().unwrap_err().to_string();
        assert!(error.contains("broadcast-") && error.contains("destroyed"), "{error}");
        let on_driver = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| word.value().len()));
        assert!(on_driver.is_err());
    });
}

/// Behaviours: BC-005.
#[test]
fn nothing_can_be_broadcast_on_a_stopped_context() {
    each_backend(|ctx| {
        ctx.stop().unwrap();

        assert!(matches!(ctx.broadcast(1), Err(Error::Stopped)));
    });
}
