//! The fleet protocol at the edge of the [`engine`](crate::engine): messages in, messages out, no decision.

mod fleet;
mod in_process;

pub use self::{fleet::Fleet, in_process::serve_in_process};

use tonic::Status;

use crate::engine::Refusal;

/// The one table from the engine's refusals to gRPC statuses. The worker's client reads it backwards:
/// UNAUTHENTICATED = register again, FAILED_PRECONDITION = never try again, UNAVAILABLE = try again later.
fn status(refusal: Refusal) -> Status {
    match refusal {
        Refusal::UnknownSession => Status::unauthenticated("no such session: register again"),
        Refusal::Refused(reason) => Status::failed_precondition(reason),
        Refusal::Unavailable(reason) => Status::unavailable(reason),
    }
}
