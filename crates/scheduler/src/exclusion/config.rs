//! The limits beyond which executors and nodes get no tasks, and their validation.
//!
//! [`ExclusionConfig`] is plain data; it does not read the application's settings.

use std::time::Duration;

use serde::{Deserialize, Serialize};

const TASK_ATTEMPTS_PER_EXECUTOR: &str = "firesteel.excludeOnFailure.task.maxTaskAttemptsPerExecutor";
const TASK_ATTEMPTS_PER_NODE: &str = "firesteel.excludeOnFailure.task.maxTaskAttemptsPerNode";
const STAGE_FAILED_TASKS_PER_EXECUTOR: &str = "firesteel.excludeOnFailure.stage.maxFailedTasksPerExecutor";
const STAGE_FAILED_EXECUTORS_PER_NODE: &str = "firesteel.excludeOnFailure.stage.maxFailedExecutorsPerNode";
const APP_FAILED_TASKS_PER_EXECUTOR: &str =
    "firesteel.excludeOnFailure.application.maxFailedTasksPerExecutor";
const APP_FAILED_EXECUTORS_PER_NODE: &str =
    "firesteel.excludeOnFailure.application.maxFailedExecutorsPerNode";
const TIMEOUT: &str = "firesteel.excludeOnFailure.timeout";

/// When executors and nodes stop getting tasks, and what else happens to them then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct ExclusionConfig {
    /// Whether tasks and task sets avoid places where they failed.
    pub task_and_stage: bool,
    /// Whether the whole application avoids places where its tasks failed.
    pub application: bool,
    /// Failed attempts of one task on one executor before the task avoids the executor.
    pub task_attempts_per_executor: u32,
    /// Failed attempts of one task on one node before the task avoids the node.
    pub task_attempts_per_node: u32,
    /// Different failed tasks of one task set on one executor before the set avoids the executor.
    pub stage_failed_tasks_per_executor: u32,
    /// Executors of one node that a task set avoids before it avoids the node.
    pub stage_failed_executors_per_node: u32,
    /// Failed tasks of successful task sets on one executor before the application avoids the executor.
    pub app_failed_tasks_per_executor: u32,
    /// Executors of one node that the application avoids at the same time before it avoids the node.
    pub app_failed_executors_per_node: u32,
    /// How long a failure counts, and how long the application avoids an executor or a node.
    pub timeout: Duration,
    /// Whether executors that the application avoids are killed.
    pub kill: bool,
    /// Whether they are decommissioned where they would be killed.
    pub decommission: bool,
    /// Whether a single fetch failure is enough for the application to avoid who should have served it.
    pub fetch_failure: bool,
}

impl Default for ExclusionConfig {
    /// Spark's defaults: everything is off.
    fn default() -> Self {
        Self {
            task_and_stage: false,
            application: false,
            task_attempts_per_executor: 1,
            task_attempts_per_node: 2,
            stage_failed_tasks_per_executor: 2,
            stage_failed_executors_per_node: 2,
            app_failed_tasks_per_executor: 2,
            app_failed_executors_per_node: 2,
            timeout: Duration::from_hours(1),
            kill: false,
            decommission: false,
            fetch_failure: false,
        }
    }
}

impl ExclusionConfig {
    /// Spark's default limits with both levels on (`firesteel.excludeOnFailure.enabled`).
    pub fn enabled() -> Self {
        Self { task_and_stage: true, application: true, ..Self::default() }
    }

    /// Checks the limits against each other and against `max_task_failures` (`firesteel.task.maxFailures`).
    ///
    /// Limits that nothing uses are not looked at: with both levels off every configuration is valid.
    pub fn validate(&self, max_task_failures: u32) -> Result<(), ExclusionConfigError> {
        if !self.task_and_stage && !self.application {
            return Ok(());
        }
        let counts = [
            (TASK_ATTEMPTS_PER_EXECUTOR, self.task_attempts_per_executor),
            (TASK_ATTEMPTS_PER_NODE, self.task_attempts_per_node),
            (STAGE_FAILED_TASKS_PER_EXECUTOR, self.stage_failed_tasks_per_executor),
            (STAGE_FAILED_EXECUTORS_PER_NODE, self.stage_failed_executors_per_node),
            (APP_FAILED_TASKS_PER_EXECUTOR, self.app_failed_tasks_per_executor),
            (APP_FAILED_EXECUTORS_PER_NODE, self.app_failed_executors_per_node),
        ];
        if let Some(&(key, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(ExclusionConfigError::NotPositive { key });
        }
        if self.timeout.is_zero() {
            return Err(ExclusionConfigError::NotPositive { key: TIMEOUT });
        }
        if self.task_attempts_per_node >= max_task_failures {
            return Err(ExclusionConfigError::OneBadNodeFailsTheJob {
                attempts_per_node: self.task_attempts_per_node,
                max_task_failures,
            });
        }
        Ok(())
    }
}

/// Why the limits cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the field names say it")]
#[non_exhaustive]
pub enum ExclusionConfigError {
    /// A limit of zero would exclude before anything failed.
    #[error("{key} must be greater than 0")]
    NotPositive { key: &'static str },
    /// A task would use up all its attempts on one node before it is kept away from there.
    #[error(
        "{key} is {attempts_per_node} but must be smaller than firesteel.task.maxFailures, which is \
         {max_task_failures}: lower the one or raise the other",
        key = TASK_ATTEMPTS_PER_NODE
    )]
    OneBadNodeFailsTheJob { attempts_per_node: u32, max_task_failures: u32 },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Behaviours: EXCL-001.
    #[test]
    fn everything_is_off_and_the_limits_are_sparks() {
        let config = ExclusionConfig::default();

        assert_eq!(
            config,
            ExclusionConfig {
                task_and_stage: false,
                application: false,
                task_attempts_per_executor: 1,
                task_attempts_per_node: 2,
                stage_failed_tasks_per_executor: 2,
                stage_failed_executors_per_node: 2,
                app_failed_tasks_per_executor: 2,
                app_failed_executors_per_node: 2,
                timeout: Duration::from_hours(1),
                kill: false,
                decommission: false,
                fetch_failure: false,
            }
        );
    }

    /// Behaviours: EXCL-013.
    #[test]
    fn every_limit_and_the_timeout_must_be_positive() {
        type Breaker = (&'static str, fn(&mut ExclusionConfig));
        let breakers: [Breaker; 7] = [
            (TASK_ATTEMPTS_PER_EXECUTOR, |config| config.task_attempts_per_executor = 0),
            (TASK_ATTEMPTS_PER_NODE, |config| config.task_attempts_per_node = 0),
            (STAGE_FAILED_TASKS_PER_EXECUTOR, |config| config.stage_failed_tasks_per_executor = 0),
            (STAGE_FAILED_EXECUTORS_PER_NODE, |config| config.stage_failed_executors_per_node = 0),
            (APP_FAILED_TASKS_PER_EXECUTOR, |config| config.app_failed_tasks_per_executor = 0),
            (APP_FAILED_EXECUTORS_PER_NODE, |config| config.app_failed_executors_per_node = 0),
            (TIMEOUT, |config| config.timeout = Duration::ZERO),
        ];
        for (key, break_it) in breakers {
            let mut config = ExclusionConfig::enabled();
            break_it(&mut config);

            let error = config.validate(4).unwrap_err();

            assert_eq!(error, ExclusionConfigError::NotPositive { key });
            assert_eq!(error.to_string(), format!("{key} must be greater than 0"));
        }
    }

    /// Behaviours: EXCL-013.
    #[test]
    fn a_task_must_get_away_from_a_bad_node_before_its_last_attempt() {
        let config = ExclusionConfig::enabled();

        assert_eq!(config.validate(3), Ok(()));
        let error = config.validate(2).unwrap_err();

        assert_eq!(
            error,
            ExclusionConfigError::OneBadNodeFailsTheJob { attempts_per_node: 2, max_task_failures: 2 }
        );
        assert!(error.to_string().starts_with("firesteel.excludeOnFailure.task.maxTaskAttemptsPerNode is 2"));
    }

    /// Behaviours: EXCL-013.
    #[test]
    fn limits_are_not_checked_while_exclusion_is_off() {
        let off = ExclusionConfig { timeout: Duration::ZERO, ..ExclusionConfig::default() };
        let one_level = ExclusionConfig { application: true, ..off.clone() };

        assert_eq!(off.validate(1), Ok(()));
        assert_eq!(one_level.validate(4), Err(ExclusionConfigError::NotPositive { key: TIMEOUT }));
    }
}
