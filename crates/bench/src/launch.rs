//! Starts the process of a workload, reads its report, and ends it when it takes too long.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Seek},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{processes, report::Report};

/// How much of what a failed process wrote to its standard error is shown.
const TAIL: usize = 4000;

/// What a process reported, and how long that took from its start.
#[derive(Clone, Debug)]
pub struct Launched {
    /// Its report.
    pub report: Report,
    /// From the start of the process to the arrival of the report.
    pub after: Duration,
}

/// Runs `command` to its end, which comes by force when `timeout` is over.
pub fn launch(mut command: Command, timeout: Duration) -> Result<Launched> {
    let mut errors = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors.try_clone()?);
    let program = command.get_program().to_string_lossy().into_owned();
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
    let stdout = child.stdout.take().context("the output of a child is piped")?;
    let (sender, lines) = mpsc::channel();
    let reader = thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send((line, Instant::now())).is_err() {
                break;
            }
        }
    });
    let mut found = None;
    loop {
        match lines.recv_timeout(timeout.saturating_sub(start.elapsed())) {
            Ok((line, at)) => {
                if let Some(report) = Report::read(&line) {
                    found = Some(Launched { report: report?, after: at - start });
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                end(&mut child);
                bail!("{program} was ended after {} s\n{}", timeout.as_secs(), tail(&mut errors));
            }
        }
    }
    let status = wait(&mut child, Duration::from_secs(60))?;
    // The output is closed, so this does not wait.
    reader.join().expect("reading lines does not panic");
    match found {
        Some(launched) if status.success() => Ok(launched),
        _ => bail!("{program} failed ({status})\n{}", tail(&mut errors)),
    }
}

/// Waits for the end of a process that has closed its output.
fn wait(child: &mut Child, timeout: Duration) -> Result<std::process::ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > timeout {
            end(child);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Ends a process and everything below it.
pub fn end(child: &mut Child) {
    let family = processes::descendants(child.id());
    // An error means that the process is gone already, which is what was wanted.
    child.kill().ok();
    for process in family {
        processes::kill(process.pid).ok();
    }
    child.wait().ok();
}

fn tail(errors: &mut File) -> String {
    let mut text = Vec::new();
    let read = errors.rewind().and_then(|()| errors.read_to_end(&mut text));
    let start = text.len().saturating_sub(TAIL);
    read.map_or_else(
        |error| error.to_string(),
        |_| String::from_utf8_lossy(&text[start..]).trim_end().to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_report_is_found_among_other_lines() {
        let script = r#"echo hello; echo 'RESULT {"seconds":[1.5],"checksum":"7","peak_resident_bytes":9}'"#;

        let launched = launch(shell(script), MINUTE).unwrap();

        assert_eq!((launched.report.seconds, launched.report.peak_resident_bytes), (vec![1.5], 9));
    }

    #[test]
    fn a_process_that_fails_is_an_error_with_what_it_said() {
        let error = launch(shell("echo 'no luck' >&2; exit 3"), MINUTE).unwrap_err().to_string();

        assert_eq!(error, "sh failed (exit status: 3)\nno luck");
        let silent = launch(shell("true"), MINUTE).unwrap_err().to_string();
        assert!(silent.starts_with("sh failed (exit status: 0)"), "{silent}");
    }

    #[test]
    fn a_process_that_takes_too_long_is_ended_with_its_children() {
        let error = launch(shell("sleep 600 & sleep 600"), Duration::from_millis(200)).unwrap_err();

        assert!(error.to_string().starts_with("sh was ended after 0 s"), "{error}");
    }
}
