//! Between messages of the fleet protocol and the domain's own types.

use argosy_proto::v1;
use tonic::Status;

use crate::id::{AttemptKey, ExecutionKey, RunId, TaskId};

/// The largest piece of a result or a file in one message. Far below gRPC's usual 4 MiB limit, so that nothing
/// depends on it.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// The message of a key.
#[must_use]
pub fn execution_ref(key: &ExecutionKey) -> v1::ExecutionRef {
    v1::ExecutionRef {
        run_id: key.attempt.run.0.clone(),
        task_id: key.attempt.task.0.clone(),
        attempt: key.attempt.attempt,
        execution: key.execution,
    }
}

/// The key of a message.
///
/// # Errors
/// The message is missing or a part of it is empty.
pub fn execution_key(message: Option<&v1::ExecutionRef>) -> Result<ExecutionKey, Status> {
    let message = message.ok_or_else(|| Status::invalid_argument("execution is missing"))?;
    if message.run_id.is_empty() || message.task_id.is_empty() || message.attempt == 0 || message.execution == 0 {
        return Err(Status::invalid_argument("execution is incomplete"));
    }
    Ok(ExecutionKey {
        attempt: AttemptKey {
            run: RunId(message.run_id.clone()),
            task: TaskId(message.task_id.clone()),
            attempt: message.attempt,
        },
        execution: message.execution,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_the_wire_and_a_broken_one_is_refused() {
        let key = ExecutionKey {
            attempt: AttemptKey { run: RunId("r".into()), task: TaskId("t".into()), attempt: 2 },
            execution: 7,
        };
        let message = execution_ref(&key);
        assert_eq!(execution_key(Some(&message)).unwrap(), key);
        assert!(execution_key(None).is_err());
        assert!(execution_key(Some(&v1::ExecutionRef { execution: 0, ..message })).is_err());
    }
}
