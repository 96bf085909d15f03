//! The counting allocator as a process's real allocator: exact counts, their owners, and the hard limit.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails, also in its helpers")]

use std::{
    alloc::System,
    env,
    hint::black_box,
    process::{Command, Output},
    sync::mpsc,
    thread,
};

use firesteel_storage::memory::{
    CountingAllocator, MemoryConf, MemoryManager, Reserve, TaskMeter, flush_thread, is_counting, meter,
    process_total, set_process_limit,
};
use firesteel_types::AttemptId;

#[global_allocator]
static ALLOCATOR: CountingAllocator<System> = CountingAllocator::new(System);

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// A buffer that the compiler does not optimise away.
fn buffer(bytes: usize) -> Vec<u8> {
    black_box(Vec::with_capacity(bytes))
}

fn live_after<T>(f: impl FnOnce() -> T) -> i64 {
    let _value = f();
    meter::live()
}

#[test]
fn the_allocator_says_that_it_counts() {
    assert!(is_counting());
}

#[test]
fn what_is_allocated_grown_shrunk_and_freed_is_counted_to_the_byte() {
    let _task = TaskMeter::start();

    let mut rows = buffer(1000);
    assert_eq!(meter::live(), 1000);
    rows.reserve_exact(5000);
    assert_eq!(meter::live(), 5000);
    rows.shrink_to(300);
    assert_eq!(meter::live(), 300);
    let zeroed = black_box(vec![0_u64; 100]);
    assert_eq!(meter::live(), 1100);
    drop((rows, zeroed));
    assert_eq!(meter::live(), 0);
    assert_eq!(meter::peak(), 5000);
}

#[test]
fn a_task_counts_from_zero_and_inherits_what_a_task_inside_it_left() {
    let _before = buffer(100);
    let _outer = TaskMeter::start();
    let _rows = buffer(1000);
    let left = {
        let _inner = TaskMeter::start();
        assert_eq!((meter::live(), meter::peak()), (0, 0));
        drop(buffer(7000));
        meter::adopt(30);
        let left = buffer(200);
        assert_eq!((meter::live(), meter::peak()), (230, 7000));
        left
    };

    assert_eq!(meter::live(), 1230);
    assert_eq!(meter::peak(), 8000, "the inner peak on top of what the outer task held");
    drop(left);
    assert_eq!(meter::live(), 1030);
}

#[test]
fn memory_that_changes_hands_is_counted_where_it_belongs() {
    let _task = TaskMeter::start();

    meter::adopt(4000);
    assert_eq!((meter::live(), meter::peak()), (4000, 4000));
    meter::hand_over(3000);
    assert_eq!((meter::live(), meter::peak()), (1000, 4000), "the peak stays");
    let rows = buffer(2500);
    assert_eq!((meter::live(), meter::peak()), (3500, 4000));
    meter::adopt(1000);
    assert_eq!((meter::live(), meter::peak()), (4500, 4500));
    drop(rows);
    assert_eq!(meter::live(), 2000);
}

#[test]
fn each_thread_counts_its_own() {
    let _task = TaskMeter::start();
    let (send, receive) = mpsc::channel();
    let worker = thread::spawn(move || {
        let _task = TaskMeter::start();
        let rows = buffer(9 * KIB);
        let bytes = rows.capacity() as u64;
        assert!(meter::live() >= bytes.cast_signed());
        meter::hand_over(bytes);
        send.send(rows).unwrap();
    });
    let rows = receive.recv().unwrap();
    worker.join().unwrap();
    let mine = meter::live();

    meter::adopt(9 * KIB as u64);
    drop(rows);

    assert_eq!(meter::live(), mine, "freed here, and adopted before");
    assert!(mine.unsigned_abs() < 9 * KIB as u64, "what the worker allocated is not in here: {mine}");
}

#[test]
fn counting_works_while_a_thread_is_being_torn_down() {
    struct Late(Vec<u8>, mpsc::Sender<i64>);
    impl Drop for Late {
        fn drop(&mut self) {
            let before = meter::live();
            drop(std::mem::take(&mut self.0));
            let freed = before - meter::live();
            self.1.send(freed).unwrap();
        }
    }
    thread_local! {
        static LATE: std::cell::RefCell<Option<Late>> = const { std::cell::RefCell::new(None) };
    }
    let (send, receive) = mpsc::channel();

    thread::spawn(move || LATE.set(Some(Late(buffer(500), send)))).join().unwrap();

    assert_eq!(receive.recv(), Ok(500));
}

#[test]
fn measure_says_what_a_function_left_behind() {
    let (rows, bytes) = meter::measure(|| {
        drop(buffer(3000));
        buffer(700)
    });
    assert_eq!(bytes, 700);
    let ((), bytes) = meter::measure(|| drop(rows));
    assert_eq!(bytes, -700);
    assert_eq!(meter::measure(|| live_after(|| ())).1, 0);
}

#[test]
fn a_consumer_spills_on_what_was_measured() {
    let manager = MemoryManager::new(MemoryConf { budget: 8 * MIB as u64, storage_fraction: 0.5 });
    let task = manager.task(AttemptId(1));
    let consumer = task.consumer("rows");
    let (mut rows, mut spills, mut spilled) = (Vec::new(), 0, 0);

    for _ in 0..40_000 {
        rows.push(buffer(1000));
        assert!(task.live() < 10 * MIB as u64, "8 MiB, and what one row more makes of the outer vector");
        if consumer.is_short() {
            // What the rows hold is known from the allocator; the consumer only reports that it is all its own.
            consumer.set_held(task.live());
            if consumer.reserve().unwrap() == Reserve::Spill {
                spilled += std::mem::take(&mut rows).len();
                consumer.spilled(0);
                spills += 1;
                assert!(task.granted() <= MIB as u64);
            }
        }
    }

    assert_eq!(spilled + rows.len(), 40_000);
    assert!((4..=6).contains(&spills), "{spills} spills of some 8 MiB each, and the rest, make 40 MB");
    assert!(task.peak() > 7 * MIB as u64);
}

#[test]
fn rows_and_closures_beyond_the_share_are_an_error_that_says_so() {
    let manager = MemoryManager::new(MemoryConf { budget: 8 * MIB as u64, storage_fraction: 0.5 });
    let task = manager.task(AttemptId(3));
    let rows = buffer(8 * MIB + MIB / 2);
    assert!(task.check().is_ok(), "within the overdraft of 1 MiB");
    let more = buffer(11 * MIB + MIB / 2);

    let text = task.check().unwrap_err().to_string();

    assert!(text.starts_with("attempt-3 holds 20.0 MiB of memory, its share is 8.0 MiB"), "{text}");
    assert!(text.contains("rows and closures 20.0 MiB"), "{text}");
    drop((rows, more));
    assert!(task.check().is_ok());
}

#[test]
fn a_consumer_that_outlives_its_task_is_never_short() {
    let _outer = TaskMeter::start();
    let manager = MemoryManager::new(MemoryConf { budget: 8 * MIB as u64, storage_fraction: 0.5 });
    let task = manager.task(AttemptId(1));
    let consumer = task.consumer("rows");
    drop(task);
    let _rows = buffer(MIB);

    assert!(!consumer.is_short());
    assert_eq!(consumer.reserve(), Ok(Reserve::Granted));
    consumer.spilled(0);
    assert!(!consumer.is_short());
}

/// What a child process does: this test's own binary, told by a variable which part to play.
const PART: &str = "FIRESTEEL_ALLOCATOR_TEST_PART";

fn child(part: &str) -> Output {
    let test = "the_part_of_a_child_process";
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(PART, part);
    command.output().unwrap()
}

/// Does nothing unless it runs in a child process.
#[test]
fn the_part_of_a_child_process() {
    let Ok(part) = env::var(PART) else { return };
    set_process_limit(64 * MIB as u64);
    if part == "no task" {
        return drop(black_box(buffer(100 * MIB)));
    }
    let _task = TaskMeter::start();
    match part.as_str() {
        "one large" => drop(black_box(buffer(100 * MIB))),
        "many small" => {
            let mut rows = Vec::with_capacity(MIB);
            rows.resize_with(MIB, || buffer(100));
        }
        "try" => {
            let mut rows: Vec<u8> = Vec::new();
            assert!(rows.try_reserve_exact(100 * MIB).is_err());
            let total = process_total();
            assert!(total < MIB as u64, "a refusal counts for nothing: {total}");
            rows.try_reserve_exact(32 * MIB).unwrap();
            assert!(rows.try_reserve_exact(96 * MIB).is_err(), "growing is refused as well");
            assert_eq!(rows.capacity(), 32 * MIB);
            drop(rows);
            drop(buffer(60 * MIB));
        }
        "no limit" => {
            set_process_limit(0);
            drop(buffer(100 * MIB));
        }
        "total" => {
            set_process_limit(0);
            total_of_a_quiet_process();
        }
        other => panic!("unknown part {other}"),
    }
}

/// No other code allocates here, so a few hundred KiB that are missing would show.
fn total_of_a_quiet_process() {
    let near = |expected: usize| process_total().abs_diff(expected as u64) < (MIB / 2) as u64;
    let (give, take) = mpsc::channel::<Vec<u8>>();
    let (tell, told) = mpsc::channel();
    let other = thread::spawn(move || {
        for rows in take {
            drop(rows);
            tell.send(()).unwrap();
        }
    });
    let rows = buffer(8 * MIB);
    assert!(near(8 * MIB), "{}", process_total());
    give.send(rows).unwrap();
    told.recv().unwrap();
    assert!(near(0), "what another thread freed is known while it lives: {}", process_total());
    drop(give);
    other.join().unwrap();

    let task_of_60_kib = || {
        let _task = TaskMeter::start();
        buffer(60 * KIB)
    };
    let rows: Vec<_> = (0..100).map(|_| thread::spawn(task_of_60_kib).join().unwrap()).collect();
    assert!(near(6000 * KIB), "a task tells what it allocated when it ends: {}", process_total());
    drop(rows);

    let rows: Vec<Vec<u8>> = (0..200_000).map(|_| buffer(500)).collect();
    assert!(near(200_000 * (500 + size_of::<Vec<u8>>())), "small ones add up: {}", process_total());
    drop(rows);
    flush_thread();
    assert!(near(0), "all is freed: {}", process_total());
}

#[test]
fn the_total_is_right_to_some_kib_in_a_quiet_process() {
    let output = child("total");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(unix)]
#[test]
fn an_allocation_over_the_limit_ends_the_process_with_a_line_that_says_why() {
    use std::os::unix::process::ExitStatusExt;

    for (part, asked) in [("one large", "refused to allocate 104857600 bytes"), ("many small", " 100 bytes")]
    {
        let output = child(part);

        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(6), "{part} aborts: {text}");
        let line = text.lines().find(|line| line.starts_with("firesteel: ")).unwrap_or_default();
        assert!(line.contains(asked), "{part}: {text}");
        assert!(line.contains("and may hold 67108864;"), "{text}");
        assert!(line.ends_with(
            "raise firesteel.executor.memory (firesteel.memory.limit in local mode) or use more partitions"
        ));
    }
}

#[test]
fn code_that_can_do_without_goes_on_after_a_refusal() {
    let output = child("try");

    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(text.matches("firesteel: refused").count(), 2, "{text}");
}

#[test]
fn a_thread_without_a_task_is_never_refused() {
    let output = child("no task");

    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("firesteel: refused").count(), 0, "{text}");
}

#[test]
fn a_limit_of_0_is_none() {
    assert!(child("no limit").status.success());
}
