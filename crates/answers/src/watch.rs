//! Running cases in processes of their own, so that a crash or a hang of one is a finding and not the end.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{
    case::{Backend, Case},
    run::{Verdict, run},
};

/// How long one case may take.
const CASE_TIMEOUT: Duration = Duration::from_secs(120);

/// From when on it is said how long a case took.
const SLOW_CASE: Duration = Duration::from_secs(20);

/// How long a process without cases may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// How often it is looked whether it has.
const END_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// What the process that runs cases says of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Right,
    Refused(String),
    Failed(String),
}

impl Outcome {
    fn to_line(&self) -> String {
        match self {
            Self::Right => "right".to_owned(),
            Self::Refused(reason) => format!("refused {reason}"),
            Self::Failed(what) => format!("failed {}", what.replace('\n', " | ")),
        }
    }

    fn from_line(line: &str) -> Option<Self> {
        match line.split_once(' ') {
            None if line == "right" => Some(Self::Right),
            Some(("refused", reason)) => Some(Self::Refused(reason.to_owned())),
            Some(("failed", what)) => Some(Self::Failed(what.to_owned())),
            Some(_) | None => None,
        }
    }
}

/// The child's side: reads cases from standard input, one a line, and writes what came of each.
pub(crate) fn serve() -> Result<()> {
    let (input, mut output) = (std::io::stdin().lines(), std::io::stdout());
    for line in input {
        let case: Case = serde_json::from_str(&line?).context("a case cannot be read")?;
        let outcome = match run(&case) {
            Verdict::Right => Outcome::Right,
            Verdict::Refused(reason) => Outcome::Refused(reason.to_owned()),
            Verdict::Wrong(what) => Outcome::Failed(what),
        };
        writeln!(output, "answer {}", outcome.to_line())?;
        output.flush()?;
    }
    Ok(())
}

/// A process that runs cases, started anew when it has died.
pub(crate) struct Runner {
    /// Whether what cases print on standard error is shown.
    is_loud: bool,
    process: Option<Process>,
}

struct Process {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // Closes its input, by which it ends; one that hangs is killed.
        drop(self.child.stdin.take());
        let until = Instant::now() + END_TIMEOUT;
        while !matches!(self.child.try_wait(), Ok(Some(_))) {
            if Instant::now() >= until {
                let _ = self.child.kill();
                break;
            }
            thread::sleep(END_POLL_INTERVAL);
        }
        let _ = self.child.wait();
    }
}

impl Runner {
    pub(crate) fn new(is_loud: bool) -> Self {
        Self { is_loud, process: None }
    }

    /// Runs a case.
    pub(crate) fn run(&mut self, case: &Case) -> Result<Outcome> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => Process::start(self.is_loud)?,
        };
        let text = serde_json::to_string(case)?;
        let input = process.child.stdin.as_mut().context("the process has no input")?;
        writeln!(input, "{text}").and_then(|()| input.flush()).context("the process takes no cases")?;
        let until = Instant::now() + CASE_TIMEOUT;
        loop {
            match process.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let Some(line) = line.strip_prefix("answer ") else { continue };
                    let Some(outcome) = Outcome::from_line(line) else { bail!("the process said `{line}`") };
                    // After a failure, whatever it left behind must not count against the next case.
                    if !matches!(outcome, Outcome::Failed(_)) {
                        self.process = Some(process);
                    }
                    return Ok(outcome);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let _ = process.child.kill();
                    return Ok(Outcome::Failed(format!("HANG: no end after {} s", CASE_TIMEOUT.as_secs())));
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    let status = process.child.wait()?;
                    return Ok(Outcome::Failed(format!("CRASH: the process ended with {status}")));
                }
            }
        }
    }
}

impl Process {
    fn start(is_loud: bool) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut child = Command::new(program)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(if is_loud { Stdio::inherit() } else { Stdio::null() })
            .spawn()
            .context("cannot start a process for cases")?;
        let output = child.stdout.take().context("the process has no output")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let sent = |line| sender.send(line).is_ok();
            BufReader::new(output).lines().map_while(std::io::Result::ok).all(sent)
        });
        Ok(Self { child, lines })
    }
}

/// What many cases came to.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) right: u64,
    pub(crate) refused: std::collections::BTreeMap<String, u64>,
    pub(crate) failed: Vec<(Case, String)>,
}

impl Tally {
    pub(crate) fn cases(&self) -> u64 {
        self.right + self.refused.values().sum::<u64>() + self.failed.len() as u64
    }
}

/// Which cases to run.
#[derive(Clone, Copy)]
pub(crate) struct Order {
    pub(crate) first_seed: u64,
    pub(crate) cases: Option<u64>,
    pub(crate) until: Option<Instant>,
    pub(crate) backend: Option<Backend>,
    /// After how many failures to stop.
    pub(crate) failures_max: usize,
    pub(crate) is_loud: bool,
}

/// Runs cases in two processes side by side.
pub(crate) fn run_many(order: Order) -> Result<Tally> {
    let next = std::sync::atomic::AtomicU64::new(order.first_seed);
    let tally = std::sync::Mutex::new(Tally::default());
    let lane = || -> Result<()> {
        let mut runner = Runner::new(order.is_loud);
        loop {
            let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let is_over = order.cases.is_some_and(|cases| seed >= order.first_seed.saturating_add(cases))
                || order.until.is_some_and(|until| Instant::now() >= until)
                || tally.lock().is_ok_and(|tally| tally.failed.len() >= order.failures_max);
            if is_over {
                return Ok(());
            }
            let case = Case::draw(seed, order.backend);
            let begun = Instant::now();
            let outcome = runner.run(&case)?;
            if begun.elapsed() > SLOW_CASE {
                eprintln!("seed {seed}: took {:.0} s", begun.elapsed().as_secs_f64());
            }
            let Ok(mut tally) = tally.lock() else { bail!("another lane panicked") };
            match outcome {
                Outcome::Right => tally.right += 1,
                Outcome::Refused(reason) => *tally.refused.entry(reason).or_default() += 1,
                Outcome::Failed(what) => {
                    eprintln!("seed {seed}: {what}");
                    tally.failed.push((case, what));
                }
            }
        }
    };
    thread::scope(|scope| {
        let lanes = [scope.spawn(lane), scope.spawn(lane)];
        lanes.into_iter().try_for_each(|lane| lane.join().unwrap_or_else(|_| bail!("a lane panicked")))
    })?;
    tally.into_inner().map_err(|_| anyhow::anyhow!("a lane panicked"))
}
