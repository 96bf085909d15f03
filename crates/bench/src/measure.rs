//! Times a job, inside the process that was started for it.

use std::time::Instant;

use anyhow::{Result, ensure};
use rustix::time::{ClockId, clock_gettime};

use crate::{
    report::{Metrics, Report, median},
    workload::Job,
};

/// The name of the figure for the processor time of a run.
pub const CPU_SECONDS: &str = "cpu_seconds";

/// Checks the whole answer once, then runs the job `runs` times; each run has to give what the check gave.
///
/// The check is the warm-up too. The peak of memory is left to the caller, who knows which processes count.
pub fn measure(job: &mut Job, runs: usize) -> Result<Report> {
    let checksum = job.check()?;
    let mut seconds = Vec::new();
    let mut figures: Vec<(String, Vec<f64>)> = Vec::new();
    for _ in 0..runs {
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let outcome = job.run()?;
        let (elapsed, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        ensure!(
            checksum.confirms(outcome.answer),
            "a run gave {:?}, which is not the answer {checksum}",
            outcome.answer
        );
        seconds.push(outcome.seconds.unwrap_or(elapsed));
        for (name, value) in outcome.metrics.into_iter().chain([(CPU_SECONDS.to_owned(), cpu)]) {
            match figures.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.push(value),
                None => figures.push((name, vec![value])),
            }
        }
    }
    let metrics: Metrics = figures.into_iter().map(middle).collect();
    Ok(Report { seconds, checksum, peak_resident_bytes: 0, metrics })
}

fn middle((name, mut values): (String, Vec<f64>)) -> (String, f64) {
    values.sort_by(f64::total_cmp);
    (name, median(&values))
}

/// The processor time that this process has used, on all cores.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checksum::{Answer, Checksum},
        workload::Outcome,
    };

    #[test]
    fn each_run_is_timed_and_its_figures_are_condensed() {
        let mut times = [3.0, 1.0, 2.0].into_iter();
        let mut job = Job::new(
            move || {
                let seconds = times.next().unwrap();
                Ok(Outcome::from(Answer::Rows(5)).lasting(seconds).with("twice", 2.0 * seconds))
            },
            || Ok(Checksum::rows(5)),
        );

        let report = measure(&mut job, 3).unwrap();

        assert_eq!(report.seconds, [3.0, 1.0, 2.0]);
        assert_eq!(format!("{:?}", report.metrics["twice"]), "4.0");
        assert!(report.metrics[CPU_SECONDS] >= 0.0);
    }

    #[test]
    fn a_run_with_another_answer_fails() {
        let mut job = Job::new(|| Ok(Answer::Rows(4).into()), || Ok(Checksum::rows(5)));

        let error = measure(&mut job, 1).unwrap_err();

        assert_eq!(error.to_string(), "a run gave Rows(4), which is not the answer 5");
    }
}
