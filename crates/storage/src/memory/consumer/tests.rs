//! Which consumer is asked to spill, and when. Nothing counts allocations here, so a task holds what its consumers
//! report.

use std::{
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use firesteel_types::AttemptId;

use crate::memory::{Consumer, MemoryConf, MemoryManager, Reserve, TaskMemory};

const MIB: u64 = 1 << 20;

/// One task that may have 64 MiB; its overdraft is 8 MiB.
fn task() -> (Arc<MemoryManager>, TaskMemory) {
    let manager = MemoryManager::new(MemoryConf { budget: 64 * MIB, storage_fraction: 0.5 });
    let task = manager.task(AttemptId(1));
    (manager, task)
}

/// What a consumer is told that holds so many MiB now.
fn fill(consumer: &Consumer, mebibytes: u64) -> Reserve {
    consumer.set_held(mebibytes * MIB);
    if consumer.is_short() { consumer.reserve().unwrap() } else { Reserve::Granted }
}

#[test]
fn a_task_that_holds_nothing_is_not_short() {
    let (manager, task) = task();
    let buffer = task.consumer("buffer");

    assert!(!buffer.is_short() && !buffer.is_asked_to_spill());
    assert!(task.check().is_ok());
    assert_eq!(manager.usage().tasks, 0, "nor has it asked for anything");
}

#[test]
fn grants_double_as_the_task_grows() {
    let (_manager, task) = task();
    let buffer = task.consumer("buffer");

    buffer.set_held(MIB / 4);
    assert!(!buffer.is_short(), "a little is free");
    buffer.set_held(MIB / 4 + 1);
    assert!(buffer.is_short());
    assert_eq!(buffer.reserve(), Ok(Reserve::Granted));
    assert_eq!(task.granted(), MIB, "at least 1 MiB");
    for granted in [2, 4, 8, 16, 32] {
        assert_eq!(fill(&buffer, granted / 2), Reserve::Granted);
        assert!(!buffer.is_short(), "all that was granted may be held");
        buffer.set_held(granted * MIB / 2 + 1);
        assert_eq!(buffer.reserve(), Ok(Reserve::Granted));
        assert_eq!(task.granted(), granted * MIB);
    }
}

#[test]
fn asking_without_need_takes_nothing() {
    let (_manager, task) = task();
    let buffer = task.consumer("buffer");
    assert_eq!(fill(&buffer, 10), Reserve::Granted);

    assert_eq!(buffer.reserve(), Ok(Reserve::Granted));
    assert_eq!(task.granted(), 10 * MIB);
}

#[test]
fn no_more_than_64_mib_are_asked_for_ahead_of_use() {
    let manager = MemoryManager::new(MemoryConf { budget: 1024 * MIB, storage_fraction: 0.5 });
    let task = manager.task(AttemptId(1));
    let buffer = task.consumer("buffer");

    assert_eq!(fill(&buffer, 256), Reserve::Granted);
    assert_eq!(fill(&buffer, 257), Reserve::Granted);
    assert_eq!(task.granted(), (256 + 64) * MIB);
}

#[test]
fn the_overdraft_of_a_small_share_is_1_mib() {
    let manager = MemoryManager::new(MemoryConf { budget: 2 * MIB, storage_fraction: 0.5 });
    let task = manager.task(AttemptId(1));
    let table = task.consumer("table");
    table.pin();

    assert_eq!(fill(&table, 3), Reserve::Granted);
    table.set_held(3 * MIB + 1);
    assert!(table.reserve().is_err());
}

/// Behaviours: MEM-005.
#[test]
fn a_lone_consumer_spills_when_the_share_is_used_up_and_its_memory_goes_back() {
    let (manager, task) = task();
    let buffer = task.consumer("buffer");

    assert_eq!(fill(&buffer, 64), Reserve::Granted);
    assert_eq!(fill(&buffer, 65), Reserve::Spill);
    buffer.spilled(2 * MIB + 1);

    assert_eq!(task.granted(), 3 * MIB, "rounded up to whole MiB");
    assert_eq!(manager.usage().execution, 3 * MIB);
    assert_eq!(fill(&buffer, 50), Reserve::Granted);
    assert_eq!(task.peak(), 65 * MIB);
}

/// Behaviours: MEM-005.
#[test]
fn another_consumer_is_asked_first_and_the_asker_goes_on_in_its_overdraft() {
    let (_manager, task) = task();
    let (table, buffer) = (task.consumer("table"), task.consumer("buffer"));
    assert_eq!(fill(&table, 30), Reserve::Granted);
    assert_eq!(fill(&buffer, 34), Reserve::Granted);

    assert_eq!(fill(&buffer, 35), Reserve::Granted, "the table spills instead");
    assert!(table.is_asked_to_spill() && !buffer.is_asked_to_spill());

    table.spilled(0);
    assert!(!table.is_asked_to_spill());
    assert_eq!(fill(&buffer, 60), Reserve::Granted, "the table's memory is the buffer's now");
    assert_eq!(fill(&buffer, 65), Reserve::Spill, "no other consumer holds anything");
}

/// Behaviours: MEM-005.
#[test]
fn the_asker_spills_itself_when_the_overdraft_is_used_up() {
    let (_manager, task) = task();
    let (table, buffer) = (task.consumer("table"), task.consumer("buffer"));
    assert_eq!(fill(&table, 30), Reserve::Granted);

    for mebibytes in 30..=42 {
        assert_eq!(fill(&buffer, mebibytes), Reserve::Granted, "{mebibytes} MiB");
    }
    assert_eq!(fill(&buffer, 43), Reserve::Spill, "30 + 43 is more than 64 + 8");
    buffer.spilled(0);
    assert!(table.is_asked_to_spill(), "still");
}

/// Behaviours: MEM-005.
#[test]
fn the_largest_that_can_spill_is_asked_and_one_at_a_time() {
    let (_manager, task) = task();
    let [small, large, pinned, asker] = ["small", "large", "pinned", "asker"].map(|name| task.consumer(name));
    pinned.pin();
    for (consumer, mebibytes) in [(&small, 10), (&large, 12), (&pinned, 20)] {
        assert_eq!(fill(consumer, mebibytes), Reserve::Granted);
    }

    assert_eq!(fill(&asker, 23), Reserve::Granted);
    assert!(large.is_asked_to_spill() && !small.is_asked_to_spill() && !pinned.is_asked_to_spill());
    small.set_held(13 * MIB);
    assert_eq!(fill(&asker, 24), Reserve::Granted);
    assert!(!small.is_asked_to_spill(), "one is asked already");

    large.spilled(0);
    assert_eq!(fill(&asker, 35), Reserve::Granted);
    assert!(small.is_asked_to_spill());
}

#[test]
fn a_consumer_that_was_asked_is_told_so_by_reserve_too() {
    let (_manager, task) = task();
    let (table, buffer) = (task.consumer("table"), task.consumer("buffer"));
    assert_eq!(fill(&table, 30), Reserve::Granted);
    assert_eq!(fill(&buffer, 35), Reserve::Granted);

    assert_eq!(fill(&table, 36), Reserve::Spill);
    assert!(!buffer.is_asked_to_spill(), "the asked one does not pass it on");
}

#[test]
fn a_consumer_is_asked_only_while_it_can_spill() {
    let (_manager, task) = task();
    let (table, buffer) = (task.consumer("table"), task.consumer("buffer"));
    assert_eq!(fill(&table, 30), Reserve::Granted);
    assert_eq!(fill(&buffer, 35), Reserve::Granted);
    assert!(table.is_asked_to_spill());

    table.pin();
    assert!(!table.is_asked_to_spill(), "the consumer that asked has to do without");
    assert_eq!(fill(&buffer, 36), Reserve::Spill);
}

#[test]
fn a_small_consumer_waits_for_the_large_one_however_late_that_spills() {
    let (_manager, task) = task();
    let (table, buffer) = (task.consumer("table"), task.consumer("buffer"));
    table.set_held(90 * MIB);
    buffer.set_held(1000);

    assert_eq!(buffer.reserve(), Ok(Reserve::Granted));
    assert!(table.is_asked_to_spill());
}

#[test]
fn a_consumer_with_next_to_nothing_does_not_spill_row_by_row() {
    let (_manager, task) = task();
    let (table, buffer) = (task.consumer("table"), task.consumer("buffer"));
    table.pin();
    assert_eq!(fill(&table, 65), Reserve::Granted, "within the overdraft");

    buffer.set_held(MIB - 1);
    assert_eq!(buffer.reserve(), Ok(Reserve::Granted));
    assert!(!buffer.is_short(), "and it need not look at every row");
    assert_eq!(fill(&buffer, 1), Reserve::Granted);
    buffer.set_held(2 * MIB);
    assert_eq!(buffer.reserve(), Ok(Reserve::Spill), "now it is worth a file");
}

#[test]
fn nothing_to_spill_far_beyond_the_share_is_an_error() {
    let (_manager, task) = task();
    let (table, buffer) = (task.consumer("table"), task.consumer("buffer"));
    table.pin();
    table.set_held(72 * MIB);
    assert!(task.check().is_ok(), "just within the overdraft");
    buffer.set_held(1000);

    for error in [task.check().unwrap_err(), buffer.reserve().unwrap_err()] {
        assert_eq!((error.held, error.share, error.tasks), (72 * MIB + 1000, 64 * MIB, 1));
        assert_eq!((error.budget, error.rest()), (64 * MIB, 0));
        let text = error.to_string();
        assert!(text.contains("table 72.0 MiB, buffer 1000 bytes, rows and closures 0 bytes"), "{text}");
    }
}

#[test]
fn a_check_asks_the_largest_consumer_before_it_fails() {
    let (_manager, task) = task();
    let (table, buffer) = (task.consumer("table"), task.consumer("buffer"));
    table.set_held(70 * MIB);
    buffer.set_held(30 * MIB);

    assert!(task.check().is_ok());
    assert!(table.is_asked_to_spill() && !buffer.is_asked_to_spill());
}

#[test]
fn others_that_hold_more_than_their_share_are_no_reason_to_fail() {
    let (manager, first) = task();
    assert_eq!(first.acquire(48 * MIB, &|| false), 48 * MIB);

    let failed = thread::spawn(move || {
        let second = manager.task(AttemptId(2));
        let table = second.consumer("table");
        table.pin();
        table.set_held(30 * MIB);
        (second.check().is_err(), second.granted())
    });

    assert_eq!(failed.join().unwrap(), (false, 16 * MIB), "its share is 32 MiB, though 16 are not there");
}

/// Behaviours: MEM-005.
#[test]
fn what_a_spill_frees_may_go_to_another_task_and_the_first_spills_on() {
    let (manager, task) = task();
    let buffer = task.consumer("buffer");
    assert_eq!(fill(&buffer, 64), Reserve::Granted);
    let (tell, told) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let theirs = Arc::clone(&manager);
    let other = thread::spawn(move || {
        let task = theirs.task(AttemptId(2));
        tell.send(task.acquire(40 * MIB, &|| false)).unwrap();
        ended.recv().unwrap_err();
    });
    while manager.usage().waiting == 0 {
        thread::yield_now();
    }

    assert_eq!(fill(&buffer, 65), Reserve::Spill);
    buffer.spilled(0);
    assert_eq!(told.recv_timeout(Duration::from_secs(60)), Ok(32 * MIB), "half, as there are two");

    assert_eq!(fill(&buffer, 32), Reserve::Granted);
    assert_eq!(fill(&buffer, 33), Reserve::Spill, "less than before, but no failure");
    buffer.spilled(0);
    drop(end);
    other.join().unwrap();
    assert_eq!(fill(&buffer, 64), Reserve::Granted, "alone again");
}

#[test]
fn a_consumer_that_is_dropped_gives_its_memory_back() {
    let (manager, task) = task();
    let (table, buffer) = (task.consumer("table"), task.consumer("buffer"));
    assert_eq!(fill(&table, 30), Reserve::Granted);
    assert_eq!(fill(&buffer, 10), Reserve::Granted);

    drop(table);
    assert_eq!((task.live(), task.granted()), (10 * MIB, 10 * MIB));
    assert_eq!(manager.usage().execution, 10 * MIB);
}

/// Behaviours: MEM-006.
#[test]
fn a_task_that_ends_returns_what_its_consumers_hold() {
    let (manager, task) = task();
    let buffer = task.consumer("buffer");
    assert_eq!(fill(&buffer, 30), Reserve::Granted);

    drop(task);
    assert_eq!((manager.usage().execution, manager.usage().tasks), (0, 0));
    assert_eq!(fill(&buffer, 500), Reserve::Granted, "whatever outlives the task is not its business");
    buffer.spilled(0);
    assert!(!buffer.is_short());
    drop(buffer);
    assert_eq!(crate::memory::meter::live(), 0, "and leaves no count behind");
}

#[test]
fn a_cancelled_task_is_not_made_to_spill() {
    let (manager, first) = task();
    assert_eq!(first.acquire(64 * MIB, &|| false), 64 * MIB);

    let told = thread::spawn(move || {
        let task = manager.task(AttemptId(2)).cancelled_by(|| true);
        let buffer = task.consumer("buffer");
        buffer.set_held(30 * MIB);
        (buffer.reserve().unwrap(), buffer.is_short())
    });

    assert_eq!(told.join().unwrap(), (Reserve::Granted, false), "it ends at its own next check");
}
