//! What came out of the tests: one line per job, and the sum of all.

use std::{cmp::Reverse, fmt, ops::Add, time::Duration};

/// How many tests of a job passed, failed and were ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
}

impl Counts {
    /// Adds up the lines that test harnesses close with; programs without a harness have none.
    pub(crate) fn read(said: &str) -> Self {
        let lines = said.lines().filter_map(|line| line.strip_prefix("test result: "));
        lines.map(Self::read_line).fold(Self::default(), Add::add)
    }

    fn read_line(line: &str) -> Self {
        let count = |what: &str| {
            let (before, _) = line.split_once(what)?;
            before.trim_end().rsplit(' ').next()?.parse().ok()
        };
        let count = |what| count(what).unwrap_or(0);
        Self { passed: count(" passed"), failed: count(" failed"), ignored: count(" ignored") }
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored + other.ignored,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, ignored } = self;
        write!(out, "{passed} tests passed, {failed} failed, {ignored} ignored")
    }
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) name: String,
    pub(crate) time: Duration,
    pub(crate) passed: bool,
    pub(crate) counts: Counts,
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passed { "ok" } else { "FAILED" };
        write!(out, "{verdict:<6} {:>6.1} s  {}: {}", self.time.as_secs_f64(), self.name, self.counts)
    }
}

/// The closing lines: each job, the slowest first, and the sum.
pub(crate) fn summary(outcomes: &[Outcome]) -> String {
    let mut sorted: Vec<&Outcome> = outcomes.iter().collect();
    sorted.sort_by_key(|outcome| Reverse(outcome.time));
    let lines: Vec<String> = sorted.iter().map(|outcome| format!("  {outcome}\n")).collect();
    let total = outcomes.iter().map(|outcome| outcome.counts).fold(Counts::default(), Add::add);
    format!("\n{}test: {total}, in {} programs\n", lines.concat(), outcomes.len())
}

/// The names of the jobs that failed.
pub(crate) fn failed(outcomes: &[Outcome]) -> Vec<&str> {
    outcomes.iter().filter(|outcome| !outcome.passed).map(|outcome| outcome.name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_of_all_harnesses_are_added_up() {
        let said = "test a ... ok\n\ntest result: ok. 44 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                    test results::b ... ok\n\
                    test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n";

        assert_eq!(Counts::read(said), Counts { passed: 47, failed: 2, ignored: 1 });
    }

    #[test]
    fn the_summary_has_the_slowest_first_and_the_sum_last() {
        let outcome = |name: &str, seconds, passed| Outcome {
            name: name.to_owned(),
            time: Duration::from_secs(seconds),
            passed,
            counts: Counts { passed: 2, failed: u64::from(!passed), ignored: 0 },
        };
        let outcomes = [outcome("-p a --lib", 1, true), outcome("-p b --test c", 12, false)];

        assert_eq!(
            summary(&outcomes),
            "\n  FAILED   12.0 s  -p b --test c: 2 tests passed, 1 failed, 0 ignored\n  \
             ok        1.0 s  -p a --lib: 2 tests passed, 0 failed, 0 ignored\n\
             test: 4 tests passed, 1 failed, 0 ignored, in 2 programs\n"
        );
        assert_eq!(failed(&outcomes), ["-p b --test c"]);
    }
}
