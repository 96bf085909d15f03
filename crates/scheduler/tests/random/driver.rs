//! Runs cases, runs them again to see that nothing is random, and makes failing ones small.

use std::{
    cell::{Cell, RefCell},
    fmt::Write as _,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

use firesteel_scheduler::Scheduler;

use crate::{
    case::{Case, Feature, Flavour},
    judge::AheadCounts,
    settings::settings,
    show::Shown,
    world::{Call, World},
};

/// The first seed of every run that names no other.
const FIRST_SEED: u64 = 1;

thread_local! {
    /// Whether panics of this thread are caught, and need not be printed.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    /// What the last caught panic said.
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `count` cases of a flavour and panics with the smallest form of the first that fails.
///
/// `FIRESTEEL_RANDOM_SEED` sets the first seed and `FIRESTEEL_RANDOM_CASES` the number of cases.
pub fn run_many(flavour: Flavour, count: u64) {
    let number = |key: &str| std::env::var(key).ok().and_then(|text| text.parse::<u64>().ok());
    let first = number("FIRESTEEL_RANDOM_SEED").unwrap_or(FIRST_SEED);
    let count = number("FIRESTEEL_RANDOM_CASES").unwrap_or(count);
    let mut ahead = AheadCounts::default();
    for seed in first..first + count {
        let case = Case::new(seed, flavour);
        match run(&case) {
            Ok(counts) => {
                ahead.sent += counts.sent;
                ahead.asked_for += counts.asked_for;
                ahead.returned += counts.returned;
            }
            Err(failure) => {
                let (small, failure) = shrink(case, failure);
                panic!(
                    "seed {seed} ({flavour:?}) fails: {}\n\nsmallest form: {small:?}\nhas {:?}\n{}",
                    failure.message,
                    features(&small),
                    transcript(&small, &failure.calls)
                );
            }
        }
    }
    if flavour == Flavour::Queues && count >= 1000 {
        let (sent, returned) = (u64::from(ahead.sent), u64::from(ahead.returned));
        assert!(
            sent >= 5 * count && returned >= count / 10,
            "enough is sent ahead and taken back: {ahead:?}"
        );
    }
}

/// Why a case failed, and the calls up to there.
pub struct Failure {
    pub message: String,
    calls: Vec<Call>,
}

/// Runs one case from start to rest, and then the same calls on a second scheduler.
pub fn run(case: &Case) -> Result<AheadCounts, Failure> {
    let mut world = None;
    let result = catch(|| {
        let world = world.insert(World::new(case));
        world.prologue(&mut case.dice(30));
        for step in &case.steps {
            world.step(case.flavour, *step);
        }
        world.heal();
    });
    let counts = world.as_ref().map(|world| world.judge.ahead_counts).unwrap_or_default();
    let calls = world.map(|world| world.calls).unwrap_or_default();
    let result = result.and_then(|()| catch(|| replay(case, &calls)));
    result.map(|()| counts).map_err(|message| Failure { message, calls })
}

/// The same events give the same effects, byte for byte.
fn replay(case: &Case, calls: &[Call]) {
    let mut scheduler = Scheduler::new(settings(case)).expect("random settings are valid");
    for call in calls {
        let mut effects = Vec::new();
        scheduler.handle_all(call.now, call.events.iter().cloned(), &mut effects);
        let bytes = postcard::to_allocvec(&effects).expect("effects can be serialized");
        assert_eq!(bytes, call.effects, "the same events give the same effects, here {:?}", call.events);
    }
}

/// Runs `what` and turns a panic into its message.
fn catch(what: impl FnOnce()) -> Result<(), String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if IS_QUIET.get() {
                LAST_PANIC.replace(info.to_string());
            } else {
                before(info);
            }
        }));
    });
    IS_QUIET.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(what));
    IS_QUIET.set(false);
    result.map_err(|_| LAST_PANIC.take())
}

/// Leaves out the events that are not needed for the case to fail in the same place.
fn shrink(case: Case, failure: Failure) -> (Case, Failure) {
    let place = place_of(&failure.message).to_owned();
    let mut best = (case, failure);
    let try_case = |candidate: Case, best: &mut (Case, Failure)| match run(&candidate) {
        Err(failure) if place_of(&failure.message) == place => {
            *best = (candidate, failure);
            true
        }
        Ok(_) | Err(_) => false,
    };
    loop {
        let before = best.0.clone();
        let mut chunk = best.0.steps.len().max(1);
        while chunk > 0 {
            let mut at = 0;
            while at < best.0.steps.len() {
                let mut candidate = best.0.clone();
                candidate.steps.drain(at..(at + chunk).min(best.0.steps.len()));
                if !try_case(candidate, &mut best) {
                    at += chunk;
                }
            }
            chunk /= 2;
        }
        for feature in Feature::ALL {
            let candidate = Case { without: best.0.without | feature.bit(), ..best.0.clone() };
            if candidate != best.0 {
                try_case(candidate, &mut best);
            }
        }
        for rdds_max in 1..best.0.rdds_max {
            if try_case(Case { rdds_max, ..best.0.clone() }, &mut best) {
                break;
            }
        }
        if best.0 == before {
            return best;
        }
    }
}

/// The line of code that panicked.
fn place_of(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

fn features(case: &Case) -> Vec<Feature> {
    Feature::ALL.into_iter().filter(|feature| case.has(*feature)).collect()
}

/// The calls of a case and their effects, for people.
fn transcript(case: &Case, calls: &[Call]) -> String {
    let mut scheduler = Scheduler::new(settings(case)).expect("random settings are valid");
    let mut text = String::new();
    for call in calls {
        for event in &call.events {
            let _ = writeln!(text, "{:?} {event:?}", call.now);
        }
        let mut effects = Vec::new();
        let result = catch(|| scheduler.handle_all(call.now, call.events.iter().cloned(), &mut effects));
        for effect in &effects {
            let _ = writeln!(text, "    {}", Shown(effect));
        }
        if result.is_err() {
            break;
        }
    }
    text
}
