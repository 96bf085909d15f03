//! Results of all sizes on their way to the driver.

use firesteel::prelude::*;
use firesteel_types::ListenerEvent;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use crate::{cluster, cluster_with, events, gate::assert_both_slots_work, heard};

const MIB: usize = 1 << 20;

/// A row of so many bytes for each partition.
fn large(ctx: &Context, partitions: u32, bytes: usize) -> impl Rdd<Item = Vec<u8>> + use<> {
    ctx.range_into(0..u64::from(partitions), partitions).with(bytes).map(|bytes, x| vec![x as u8; *bytes])
}

/// How many results were fetched from their executors.
fn fetched(heard: &[ListenerEvent]) -> usize {
    heard.iter().filter(|event| matches!(event, ListenerEvent::TaskGettingResult { .. })).count()
}

/// Behaviours: RES-001, RES-003.
#[test]
fn a_large_result_waits_on_its_executor_to_be_fetched_and_a_small_one_does_not() {
    let ctx = cluster();
    let events = events(&ctx);

    assert_eq!(large(&ctx, 2, MIB / 2).collect().unwrap(), [vec![0; MIB / 2], vec![1; MIB / 2]]);
    assert_eq!(fetched(&heard(&ctx, &events)), 0);

    assert_eq!(large(&ctx, 3, 5 * MIB).collect().unwrap(), [0, 1, 2].map(|x| vec![x; 5 * MIB]));
    assert_eq!(fetched(&heard(&ctx, &events)), 3);
}

/// Behaviours: RES-002.
#[test]
fn a_result_larger_than_the_driver_takes_is_dropped_where_it_was_made() {
    let ctx = cluster_with(|builder| builder.set("firesteel.driver.maxResultSize", "3m").unwrap());
    let events = events(&ctx);

    let error = large(&ctx, 1, 5 * MIB).collect().unwrap_err().to_string();

    assert!(error.contains("bigger than firesteel.driver.maxResultSize (3145728 bytes)"), "{error}");
    assert_eq!(fetched(&heard(&ctx, &events)), 0, "nothing was there to be fetched");
    assert_eq!(large(&ctx, 1, 2 * MIB).count().unwrap(), 1, "a job whose results are small");
    assert_both_slots_work(&ctx, "a result that was dropped");
}

/// Behaviours: RES-005.
#[test]
fn results_that_are_too_large_together_fail_the_job_once() {
    for each in [MIB / 2, 2 * MIB] {
        let ctx = cluster_with(|builder| builder.set("firesteel.driver.maxResultSize", "3m").unwrap());
        let events = events(&ctx);

        let error = large(&ctx, 8, each).collect().unwrap_err().to_string();

        assert!(error.contains("total size of serialized results of "), "{error}");
        let ends = |event: &ListenerEvent| matches!(event, ListenerEvent::JobEnd { .. });
        assert_eq!(heard(&ctx, &events).iter().filter(|event| ends(event)).count(), 1);
        assert_both_slots_work(&ctx, "results that were too large");
    }
}

/// Behaviours: BACK-006.
#[test]
fn a_task_too_large_for_a_message_fails_its_job_with_the_remedy() {
    let ctx = cluster_with(|builder| builder.set("firesteel.rpc.message.maxSize", "1m").unwrap());
    let bytes: Vec<u8> = (0..2 * MIB).map(|x| (x * x / 7) as u8).collect();

    let of_partition = ctx.parallelize_into(vec![bytes.clone()], 1).count().unwrap_err().to_string();
    let of_stage = ctx.range_into(0..2_u64, 2).with(bytes.clone()).map(|bytes, x| bytes[x as usize]).count();
    let of_stage = of_stage.unwrap_err().to_string();

    for error in [of_partition, of_stage] {
        assert!(error.contains("firesteel.rpc.message.maxSize (1048576 bytes)"), "{error}");
        assert!(error.contains("broadcast variables"), "{error}");
    }
    let remedy = ctx.broadcast(bytes).unwrap();
    let sum = ctx.range_into(0..2_u64, 2).with(remedy).map(|bytes, x| bytes.value()[x as usize]);
    assert_eq!(sum.collect().unwrap(), [0, 0]);
    assert_both_slots_work(&ctx, "a task that was too large");
}

#[test]
fn rows_of_the_driver_that_are_large_together_go_in_several_messages() {
    let ctx = cluster_with(|builder| builder.set("firesteel.rpc.message.maxSize", "4m").unwrap());
    let rows: Vec<Vec<u8>> = (0..32_u8).map(|x| vec![x; MIB]).collect();

    let sums = ctx.parallelize_into(rows, 32).map(|row| row.iter().map(|&x| u64::from(x)).sum::<u64>());

    assert_eq!(sums.collect().unwrap(), (0..32).map(|x| x * MIB as u64).collect::<Vec<_>>());
}

/// A context with one executor of four cores, whose messages are small.
fn small_messages() -> Context {
    let small = Context::builder().set("firesteel.rpc.message.maxSize", "1m").unwrap();
    small.master("local-cluster[1,4,1024]").start().unwrap()
}

#[test]
fn tasks_and_reports_that_are_too_large_together_go_in_messages_of_their_own() {
    let ctx = small_messages();
    let rows: Vec<Vec<u8>> = (0..32_u8).map(|x| vec![x; MIB * 2 / 5]).collect();

    let echoed = ctx.parallelize_into(rows.clone(), 32).map(|row| row);

    assert_eq!(echoed.collect().unwrap(), rows);
}

#[test]
fn a_report_too_large_for_a_message_fails_its_task_with_the_remedy() {
    let ctx = small_messages();
    let (much, rows) = (ctx.collection_accumulator::<Vec<u8>>("much"), ctx.long_accumulator("rows"));

    let added = ctx.range_into(0..4_u64, 4).with((much.clone(), rows.clone())).for_each(|(much, rows), x| {
        rows.add(1);
        if x == 3 {
            much.add(vec![0; 3 * MIB]);
        }
    });

    let error = added.unwrap_err().to_string();
    assert!(error.contains("accumulators") && error.contains("firesteel.rpc.message.maxSize"), "{error}");
    assert_eq!(ctx.range_into(0..100, 8).count().unwrap(), 100, "the executor goes on");
}

#[test]
fn a_table_of_map_outputs_too_large_for_a_message_fails_the_job_with_the_remedy() {
    let ctx = small_messages();
    let pairs = ctx.range_into(0..1100_u64, 1100).map(|x| (x, x));

    let error = pairs.group_by_key_into(2000).count().unwrap_err().to_string();

    assert!(error.contains("firesteel.rpc.message.maxSize"), "{error}");
    assert_eq!(pairs.group_by_key_into(20).count().unwrap(), 1100, "a smaller one goes through");
}

/// A row that can be sent and not read.
#[derive(Clone, Serialize)]
struct Unreadable;

impl<'de> Deserialize<'de> for Unreadable {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("this cannot be read"))
    }
}

/// Behaviours: RES-007.
#[test]
fn a_result_that_cannot_be_read_fails_its_job_and_is_not_tried_again() {
    let ctx = cluster();
    let events = events(&ctx);

    let error =
        ctx.range_into(0..1_u64, 1).map(|_| Unreadable).collect().map(|_| ()).unwrap_err().to_string();

    assert!(error.contains("cannot deserialize values of type") && error.contains("Unreadable"), "{error}");
    let starts = |event: &ListenerEvent| matches!(event, ListenerEvent::TaskStart { .. });
    assert_eq!(heard(&ctx, &events).iter().filter(|event| starts(event)).count(), 1, "not tried again");
    assert_both_slots_work(&ctx, "a result that cannot be read");
}
