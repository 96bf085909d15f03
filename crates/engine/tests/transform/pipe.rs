//! External programs.

use firesteel::{Error, PipeCommand, prelude::*};

use crate::{
    gate::{Gate, assert_both_slots_work},
    support::each_backend,
};

/// Behaviours: RDD-022.
#[test]
fn every_partition_has_a_program_of_its_own_even_an_empty_one() {
    each_backend(|ctx| {
        let counts = ctx.range_into(0..3, 5).pipe(["sh", "-c", "cat; echo end"]);

        let expected = [vec!["end"], vec!["0", "end"], vec!["end"], vec!["1", "end"], vec!["2", "end"]];
        assert_eq!(counts.glom().collect().unwrap(), expected);
    });
}

/// Behaviours: RDD-022.
#[test]
fn the_program_gets_its_words_environment_and_directory_as_they_are() {
    each_backend(|ctx| {
        let dir = std::env::temp_dir().canonicalize().unwrap();
        let script = "printf '%s|' \"$@\"; echo \"$GREETING\"; pwd -P";
        let command = PipeCommand::new(["sh", "-c", script, "sh", "two words", "*", "$HOME"]);
        let command = command.env("GREETING", "hello you").working_dir(&dir);

        let lines = ctx.range_into(0..1, 1).pipe_with(command).collect().unwrap();

        assert_eq!(lines, ["two words|*|$HOME|hello you", dir.to_str().unwrap()]);
    });
}

/// Behaviours: RDD-022.
#[test]
fn printed_lines_end_as_those_of_a_text_file() {
    each_backend(|ctx| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("printed").to_str().unwrap().to_owned();
        std::fs::write(&path, "a\r\nb\rc\n\r\r\n\nlast\r").unwrap();

        let printed = ctx.range_into(0..1, 1).pipe(["cat", &path]).collect().unwrap();

        assert_eq!(printed, ctx.text_file(&path).unwrap().collect().unwrap());
        assert_eq!(printed, ["a", "b", "c", "", "", "", "last"]);
    });
}

/// Behaviours: RDD-022.
#[test]
fn much_more_than_a_pipe_holds_goes_through_in_order() {
    each_backend(|ctx| {
        let lines = ctx.range_into(0..100_000, 2).pipe(["cat"]).map(|line| line.parse::<i32>().unwrap());

        assert!(lines.collect().unwrap().into_iter().eq(0..100_000));
    });
}

/// Behaviours: RDD-022.
#[test]
fn a_program_that_cannot_start_or_fails_fails_the_task_by_name() {
    each_backend(|ctx| {
        let error =
            |command: &[&str]| ctx.range(0..9).pipe(command.to_vec()).count().unwrap_err().to_string();

        let missing = error(&["no-such-program-anywhere", "-x"]);
        assert!(missing.contains("cannot start `no-such-program-anywhere -x`"), "{missing}");
        let failed = error(&["sh", "-c", "cat >/dev/null; echo out of luck >&2; exit 3"]);
        for part in ["exit status: 3", "out of luck", "`sh -c ", "pipe at "] {
            assert!(failed.contains(part), "`{part}` is not in: {failed}");
        }
        let killed = error(&["sh", "-c", "kill -9 $$"]);
        assert!(killed.contains("signal: 9"), "{killed}");
        let elsewhere = PipeCommand::new(["cat"]).working_dir("/no/such/directory");
        let elsewhere = ctx.range(0..9).pipe_with(elsewhere).count().unwrap_err().to_string();
        assert!(elsewhere.contains("cannot start `cat`"), "{elsewhere}");
        let nothing = ctx.range(0..9).pipe(Vec::<String>::new()).count().unwrap_err();
        assert!(matches!(nothing, Error::Invalid { .. }), "{nothing}");
    });
}

/// Behaviours: RDD-022.
#[test]
fn an_error_in_the_input_is_the_error_of_the_task() {
    each_backend(|ctx| {
        let error = ctx.range_into(0..10_000, 1).map(|x| 1 / (x - 9_000)).pipe(["cat"]).count();
        let error = error.unwrap_err().to_string();

        assert!(error.contains("divide by zero") && error.contains("map at "), "{error}");
    });
}

/// Behaviours: RDD-022.
#[test]
fn the_input_is_computed_as_part_of_the_task() {
    each_backend(|ctx| {
        let placed = ctx.range_into(0..2, 2).map(|_| TaskContext::current().unwrap().partition().0);

        assert_eq!(placed.pipe(["cat"]).collect().unwrap(), ["0", "1"]);
    });
}

/// Behaviours: RDD-022.
#[test]
fn the_feeder_ends_with_the_task_when_its_program_wants_no_more() {
    each_backend(|ctx| {
        let fed = Gate::new();
        let endless = ctx.range_into(0..1, 1).flat_map(|_| 0_u64..).with(fed.clone()).map(|fed, x| {
            fed.arrive();
            x
        });

        assert_eq!(endless.pipe(["head", "-n", "2"]).collect().unwrap(), ["0", "1"]);
        let first = endless.pipe(["cat"]).map_partitions(|rows| Rows::new(rows.take(1)));
        assert_eq!(first.collect().unwrap(), ["0"]);

        let before = fed.arrivals();
        ctx.range_into(0..100_000, 2).count().unwrap();
        assert_eq!(fed.arrivals(), before, "no thread feeds after the task");
    });
}

/// Behaviours: RDD-022.
#[test]
fn a_kill_reaches_a_program_that_neither_reads_nor_writes_and_what_it_started() {
    each_backend(|ctx| {
        let runs = Gate::new();
        let started = ctx.range_into(0..1, 1).pipe(["sh", "-c", "echo started; sleep 1000 | cat; echo over"]);
        let job = started.with(runs.clone()).map(|runs, _| runs.arrive()).filter(|()| true);
        let job = job.count_async();
        runs.until_reached();

        job.cancel();

        assert!(job.wait().is_err());
        assert_both_slots_work(ctx, "a kill");
    });
}
