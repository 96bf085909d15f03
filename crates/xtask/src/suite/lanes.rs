//! Runs jobs several at a time, the longest first, and prints what each said as one block when it ends.

use std::{
    env, fs,
    fs::File,
    io,
    process::{Command, ExitStatus, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::outcome::{Counts, Outcome};

/// A command that tests something.
#[derive(Debug)]
pub(crate) struct Job {
    /// How it is repeated alone, behind `cargo test`.
    pub(crate) name: String,
    pub(crate) command: Command,
}

/// Runs all jobs, at most `lanes` at a time, those of `longest` first and in its order.
pub(crate) fn run(mut jobs: Vec<Job>, longest: &[&str], lanes: usize) -> Vec<Outcome> {
    jobs.sort_by_key(|job| longest.iter().position(|name| *name == job.name).unwrap_or(longest.len()));
    let jobs: Vec<Mutex<Job>> = jobs.into_iter().map(Mutex::new).collect();
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut job = job.lock().expect("each job is taken by one lane");
                    let (outcome, said) = run_one(&mut job);
                    // Printed under the lock, so that blocks do not mix.
                    let mut outcomes = outcomes.lock().expect("a lane that panics ends all");
                    print!("\n$ cargo test {}\n{said}", job.name);
                    println!("{outcome}");
                    outcomes.push(outcome);
                }
            });
        }
    });
    outcomes.into_inner().expect("all lanes have ended")
}

fn run_one(job: &mut Job) -> (Outcome, String) {
    let start = Instant::now();
    let ended = run_to_file(&mut job.command);
    let time = start.elapsed();
    let (passed, said) = match ended {
        Ok((status, said)) if status.success() => (true, said),
        Ok((status, said)) => (false, format!("{said}{status}\n")),
        Err(error) => (false, format!("cannot be run: {error}\n")),
    };
    (outcome(job, time, passed, &said), said)
}

fn outcome(job: &Job, time: Duration, passed: bool, said: &str) -> Outcome {
    Outcome { name: job.name.clone(), time, passed, counts: Counts::read(said) }
}

/// Runs a command to its end, and gives what it printed.
///
/// It prints to a file and not to a pipe: whatever it may leave running holds a file open without stopping us.
fn run_to_file(command: &mut Command) -> io::Result<(ExitStatus, String)> {
    static NAMES: AtomicUsize = AtomicUsize::new(0);
    let name = format!("firesteel-test-{}-{}", std::process::id(), NAMES.fetch_add(1, Ordering::Relaxed));
    let path = env::temp_dir().join(name);
    let file = File::create_new(&path)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let ended = command.status();
    let said = fs::read(&path);
    fs::remove_file(&path)?;
    Ok((ended?, String::from_utf8_lossy(&said?).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job { name: name.to_owned(), command }
    }

    fn names(outcomes: &[Outcome], passed: bool) -> Vec<&str> {
        outcomes.iter().filter(|one| one.passed == passed).map(|one| one.name.as_str()).collect()
    }

    #[test]
    fn the_longest_start_first_and_the_rest_in_their_order() {
        let jobs = ["a", "b", "c", "d"].map(|name| job(name, "true"));

        let outcomes = run(jobs.into(), &["d", "b"], 1);

        assert_eq!(names(&outcomes, true), ["d", "b", "a", "c"]);
    }

    #[test]
    fn a_failure_does_not_end_the_others() {
        let mut missing = job("missing", "true");
        missing.command = Command::new("/no/such/program");
        let jobs =
            vec![job("bad", "exit 3"), missing, job("good", "echo 'test result: ok. 2 passed; 0 failed'")];

        let outcomes = run(jobs, &[], 2);

        let mut failed = names(&outcomes, false);
        failed.sort_unstable();
        assert_eq!(failed, ["bad", "missing"]);
        assert_eq!(outcomes.iter().map(|one| one.counts.passed).sum::<u64>(), 2);
    }

    #[test]
    fn what_a_job_says_on_either_stream_is_kept_in_order() {
        let (outcome, said) = run_one(&mut job("both", "echo one; echo two >&2; echo three; exit 1"));

        assert!(!outcome.passed);
        assert_eq!(said, "one\ntwo\nthree\nexit status: 1\n");
    }
}
