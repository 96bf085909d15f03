//! What a job does with each partition.

use firesteel_storage::codec;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    rdd::Rdd,
    ship::{Ship, ShipError},
    task::{Abort, Form, ResultValue, StageProgram, TaskContext, TaskOutput, abort_task, freeze_program},
};

/// What a result task does with the rows of its partition.
pub(crate) trait JobFunction<T>: Ship + Send + Sync + 'static {
    /// What it gives to the driver.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    fn run(&self, rows: impl Iterator<Item = T>, task: &TaskContext) -> Self::Output;

    /// How large an output is in memory, as far as that is known without walking it.
    fn size_of(output: &Self::Output) -> u64 {
        size_of_val(output) as u64
    }
}

/// The tasks of a result stage.
pub(crate) struct ResultTask<R, J> {
    pub(crate) rdd: R,
    pub(crate) function: J,
}

crate::ship!(impl[R: Ship, J: Ship] ResultTask<R, J> { rdd, function });

impl<R: Rdd, J: JobFunction<R::Item>> StageProgram for ResultTask<R, J> {
    fn run(&self, task: &TaskContext, form: Form) -> TaskOutput {
        let rows = self.rdd.compute(task.partition(), task);
        let output = self.function.run(rows, task);
        match form {
            Form::Typed => {
                let size_bytes = J::size_of(&output);
                TaskOutput::Result { value: ResultValue::Typed(Box::new(output)), size_bytes }
            }
            Form::Shipped => {
                let mut bytes = Vec::new();
                if let Err(error) = codec::append_value(&output, &mut bytes) {
                    abort_task(Abort::ResultNotSerializable { message: error.to_string() });
                }
                let size_bytes = bytes.len() as u64;
                TaskOutput::Result { value: ResultValue::Bytes(bytes.into()), size_bytes }
            }
        }
    }

    fn to_bytes(&self) -> Result<Vec<u8>, ShipError> {
        freeze_program(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{job::Call, prelude::*};

    struct Huge;
    crate::ship!(impl[] Huge {});

    impl<T> JobFunction<T> for Huge {
        type Output = u64;

        fn run(&self, _rows: impl Iterator<Item = T>, task: &TaskContext) -> u64 {
            u64::from(task.partition().0)
        }

        fn size_of(output: &u64) -> u64 {
            if *output == 1 { 1 << 40 } else { 8 }
        }
    }

    /// Behaviours: RES-005.
    #[test]
    fn results_that_are_too_large_together_fail_the_job_once() {
        let ctx = Context::local(2).unwrap();

        let error = Call::new("huge").run(&ctx.range_into(0..4, 4), Huge, Ok).wait().unwrap_err().to_string();

        assert!(error.starts_with("huge at ") && error.contains("maxResultSize"), "{error}");
        assert_eq!(ctx.range(0..10).count().unwrap(), 10);
    }
}
