//! What a process has once and the program owns: its subscriber, its panic hook, its arguments.
//!
//! Each test that changes one of them runs in a process of its own.

use std::{
    env,
    process::{Command, Output},
    sync::{Arc, Mutex},
};

use firesteel::prelude::*;
use tracing::{Event, Metadata, Subscriber, field, span};

use crate::child;

/// Runs the test of this name again in a child process, where it runs `case`; returns what the child wrote to
/// standard error.
fn in_child(test: &str, case: impl FnOnce()) -> Option<String> {
    child::in_child(test, |_| {}, case).map(|output| text(&output.stderr))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Keeps the messages of all events.
#[derive(Clone, Default)]
struct Messages(Arc<Mutex<Vec<String>>>);

impl Subscriber for Messages {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut |field: &field::Field, value: &dyn std::fmt::Debug| {
            if field.name() == "message" {
                self.0.lock().unwrap().push(format!("{value:?}"));
            }
        });
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[test]
fn a_program_may_install_its_subscriber_after_a_context_has_started() {
    let said = in_child("globals::a_program_may_install_its_subscriber_after_a_context_has_started", || {
        let ctx = Context::builder().master("local-cluster[1,1,512]").start().unwrap();
        assert_eq!(ctx.range_into(0..10_u64, 2).count().unwrap(), 10);
        let messages = Messages::default();

        tracing::subscriber::set_global_default(messages.clone()).unwrap();

        // From now on the program's own subscriber gets everything, warnings for the user too.
        let killed = ctx.range_into(0..1_u64, 1).map(|_| -> u64 { std::process::exit(3) });
        assert!(killed.count().is_err());
        let messages = messages.0.lock().unwrap();
        assert!(messages.iter().any(|message| message.contains("an executor is gone")), "{messages:?}");
    });

    if let Some(said) = said {
        assert!(!said.contains("an executor is gone"), "{said}");
    }
}

#[test]
fn a_driver_without_a_subscriber_tells_its_user_what_happens_to_executors() {
    let said =
        in_child("globals::a_driver_without_a_subscriber_tells_its_user_what_happens_to_executors", || {
            let ctx = Context::builder().master("local-cluster[1,1,512]").start().unwrap();
            let killed = ctx.range_into(0..1_u64, 1).map(|_| -> u64 { std::process::exit(3) });
            assert!(killed.count().is_err());
        });

    if let Some(said) = said {
        assert!(said.contains("WARN") && said.contains("an executor is gone"), "{said}");
    }
}

#[test]
fn that_memory_is_estimated_is_said_once() {
    in_child("globals::that_memory_is_estimated_is_said_once", || {
        let messages = Messages::default();
        tracing::subscriber::set_global_default(messages.clone()).unwrap();

        for _ in 0..3 {
            assert_eq!(Context::local(1).unwrap().range(0..10_u64).count().unwrap(), 10);
        }

        let messages = messages.0.lock().unwrap();
        let said: Vec<_> = messages.iter().filter(|message| message.contains("estimated")).collect();
        assert!(said.len() == 1 && said[0].contains("firesteel::allocator!()"), "{said:?}");
    });
}

#[test]
fn the_programs_panic_hook_gets_every_panic_outside_of_tasks() {
    in_child("globals::the_programs_panic_hook_gets_every_panic_outside_of_tasks", || {
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let hook = |name: &'static str| {
            let heard = heard.clone();
            move |info: &std::panic::PanicHookInfo<'_>| {
                heard.lock().unwrap().push(format!("{name}: {}", info.payload_as_str().unwrap_or_default()));
            }
        };
        let panics = |text: &'static str| std::thread::spawn(move || panic!("{text}")).join().unwrap_err();
        let panicking_task = |ctx: &Context| {
            let rows = ctx.range_into(0..1_u64, 1).map(|_| -> u64 { panic!("in a task") });
            rows.count().unwrap_err().to_string()
        };

        std::panic::set_hook(Box::new(hook("before")));
        let ctx = Context::local(1).unwrap();
        panics("one");
        assert!(panicking_task(&ctx).contains("globals.rs"), "the line of a panic in a task is known");

        std::panic::set_hook(Box::new(hook("after")));
        let second = Context::local(1).unwrap();
        panics("two");
        let error = panicking_task(&second);

        let _ = std::panic::take_hook();
        assert!(error.contains("in a task"), "{error}");
        assert_eq!(*heard.lock().unwrap(), ["before: one", "after: two", "after: in a task"]);
    });
}

fn as_executor(variables: &[(&str, &str)]) -> Output {
    let itself = env::current_exe().unwrap();
    Command::new(itself).arg("--firesteel-executor").envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn the_argument_of_executors_alone_leaves_a_program_as_it_is() {
    // The test harness reads the argument as its own, and does not know it.
    for variables in [&[][..], &[("FIRESTEEL_EXECUTOR_ID", "1")], &[("FIRESTEEL_APP_SECRET", "00")]] {
        let said = text(&as_executor(variables).stderr);
        assert!(said.contains("Unrecognized option: 'firesteel-executor'"), "{said}");
    }

    let variables = [("FIRESTEEL_EXECUTOR_ID", "1"), ("FIRESTEEL_APP_SECRET", "no secret")];
    let executor = as_executor(&variables);
    let said = text(&executor.stderr) + &text(&executor.stdout);
    assert_eq!(executor.status.code(), Some(1), "{said}");
    assert!(said.contains("FIRESTEEL_") && !said.contains("Unrecognized"), "{said}");
}
