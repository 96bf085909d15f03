//! What is removed, and when.

use super::*;

const WEEK: Duration = Duration::from_hours(7 * 24);

fn finish_app(harness: &mut Harness) -> Vec<WorkerEffect> {
    harness.hear("m1", MasterToWorker::ApplicationFinished { app: "app-1".into() })
}

fn removed(dirs: &[&str]) -> Vec<WorkerEffect> {
    dirs.iter().map(|&dir| WorkerEffect::RemoveDir { dir: dir.to_owned() }).collect()
}

fn forgotten() -> WorkerEffect {
    let local_dirs = vec!["/l1/app-1".to_owned(), "/l2/app-1".to_owned()];
    WorkerEffect::ForgetApp { app: "app-1".into(), local_dirs }
}

fn listed(harness: &mut Harness, names: &[&str], age: Duration) -> Vec<WorkerEffect> {
    let newest = Timestamp(harness.now.0 - u64::try_from(age.as_micros()).unwrap());
    let dirs = names.iter().map(|&name| DirListing { name: name.to_owned(), newest }).collect();
    harness.send(WorkerEvent::DirsListed { dirs })
}

/// Behaviours: WORK-007.
#[test]
fn local_directories_go_when_the_application_is_over_and_its_last_executor_gone() {
    let mut harness = Harness::connected();
    let (first, second) = (harness.run_executor(1), harness.run_executor(2));

    let finished = finish_app(&mut harness);
    let one_left = harness.exit(first, 0);
    let none_left = harness.exit(second, 0);

    assert_eq!(finished, []);
    assert_eq!(one_left, [changed(1, ExecutorState::Exited, "exited with code 0", Some(0))]);
    let exited = changed(2, ExecutorState::Exited, "exited with code 0", Some(0));
    assert_eq!(none_left, [exited, forgotten()]);
}

/// Behaviours: WORK-007.
#[test]
fn local_directories_stay_while_the_application_runs_and_go_at_its_end() {
    let mut harness = Harness::connected();
    let process = harness.run_executor(1);

    let exited = harness.exit(process, 0);
    let finished = finish_app(&mut harness);
    let again = finish_app(&mut harness);

    assert_eq!(exited, [changed(1, ExecutorState::Exited, "exited with code 0", Some(0))]);
    assert_eq!(finished, [forgotten()]);
    assert_eq!(again, [ignored(WorkerIgnored::NothingToClean { app: "app-1".into() })]);
}

/// Behaviours: WORK-008.
#[test]
fn work_directories_are_listed_every_half_hour() {
    let mut harness = Harness::connected();

    let done = harness.pass_quietly(Duration::from_hours(1));

    let list = WorkerEffect::ListDirs { work_dir: "/w".to_owned() };
    let expected = [30, 60].map(|minutes| (Duration::from_mins(minutes), list.clone()));
    assert_eq!(done, expected);
}

/// Behaviours: WORK-008.
#[test]
fn cleaning_can_be_turned_off() {
    let mut harness = Harness::connected_with(WorkerConfig { cleaning_enabled: false, ..config() });

    assert_eq!(harness.pass_quietly(Duration::from_hours(2)), []);
}

/// Behaviours: WORK-008.
#[test]
fn a_directory_goes_when_nothing_in_it_is_newer_than_a_week() {
    let mut harness = Harness::connected();

    let old = listed(&mut harness, &["app-8", "app-9"], WEEK);
    let newer = listed(&mut harness, &["app-8"], WEEK.checked_sub(Duration::from_micros(1)).unwrap());

    assert_eq!(old, removed(&["/w/app-8", "/w/app-9"]));
    assert_eq!(newer, []);
}

/// Behaviours: WORK-008.
#[test]
fn directories_of_live_executors_and_drivers_stay_however_old() {
    let mut harness = Harness::connected();
    let process = harness.run_executor(1);
    harness.run_driver(driver(false));

    let live = listed(&mut harness, &["app-1", "driver-1", "app-2"], WEEK * 2);
    harness.exit(process, 0);
    let ended = listed(&mut harness, &["app-1", "driver-1"], WEEK * 2);

    assert_eq!(live, removed(&["/w/app-2"]));
    assert_eq!(ended, removed(&["/w/app-1"]));
}
