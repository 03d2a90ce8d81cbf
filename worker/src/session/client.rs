//! The fleet protocol as plain calls.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use argosy_proto::v1::{self, fleet_service_client::FleetServiceClient};
use argosy_shared::{
    VERSION,
    id::ExecutionKey,
    model::secret::Secret,
    trajectory::StepRecord,
    wire::{self, CHUNK_BYTES},
};
use bytes::Bytes;
use futures::stream;
use tonic::{Code, Status, transport::Channel};

use super::{Config, Granted, Registration};

/// A handle on the coordinator; clones share the connection and the session.
#[derive(Clone, Debug)]
pub struct Client {
    service: FleetServiceClient<Channel>,
    session: Arc<Mutex<String>>,
}

/// Why a call brought nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// The coordinator does not want this worker; asking again is of no use.
    #[error("{0}")]
    Refused(String),
    /// The coordinator has restarted or given this session up: register again.
    #[error("the coordinator does not know this session")]
    UnknownSession,
    /// Anything that may pass: the coordinator is away, restarts, is overloaded.
    #[error("{0}")]
    Away(String),
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        match status.code() {
            Code::FailedPrecondition | Code::PermissionDenied => Self::Refused(status.message().to_owned()),
            Code::Unauthenticated => Self::UnknownSession,
            code => Self::Away(format!("{code:?}: {}", status.message())),
        }
    }
}

/// The answer to a lease request.
pub(super) struct Grants {
    pub(super) leases: Vec<Granted>,
    pub(super) draining: bool,
}

impl Client {
    pub(super) fn new(channel: Channel) -> Self {
        let service = FleetServiceClient::new(channel);
        Self { service, session: Arc::default() }
    }

    pub(super) fn set_session(&self, session: &str) {
        session.clone_into(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn session(&self) -> String {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) async fn register(&self, config: &Config) -> Result<Registration, Error> {
        let request = v1::RegisterRequest {
            worker_name: config.name.clone(),
            argosy_version: VERSION.to_owned(),
            environments: config.environments.iter().map(|id| id.as_str().to_owned()).collect(),
            slots: config.slots,
        };
        let response = self.service.clone().register(request).await?.into_inner();
        Ok(Registration {
            session: response.session,
            lease: Duration::from_millis(response.lease_ms),
            renew: Duration::from_millis(response.renew_ms.max(1)),
        })
    }

    pub(super) async fn lease(&self, free: u32, wait: Duration) -> Result<Grants, Error> {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let request = v1::LeaseRequest { session: self.session(), free, wait_ms };
        let response = self.service.clone().lease(request).await?.into_inner();
        let leases = response.leases.into_iter().map(granted).collect::<Result<Vec<_>, Error>>()?;
        Ok(Grants { leases, draining: response.draining })
    }

    pub(super) async fn renew(&self, held: Vec<ExecutionKey>) -> Result<Vec<ExecutionKey>, Error> {
        let request =
            v1::RenewRequest { session: self.session(), held: held.iter().map(wire::execution_ref).collect() };
        let response = self.service.clone().renew(request).await?.into_inner();
        Ok(response.lost.iter().filter_map(|lost| wire::execution_key(Some(lost)).ok()).collect())
    }

    /// Sends finished steps; they are durable when this returns.
    pub(super) async fn steps(&self, key: &ExecutionKey, steps: &[StepRecord]) -> Result<(), Error> {
        let session = self.session();
        let deltas: Vec<v1::StepDelta> = steps
            .iter()
            .map(|step| v1::StepDelta {
                session: session.clone(),
                execution: Some(wire::execution_ref(key)),
                step_id: step.step_id,
                step: Bytes::from(serde_json::to_vec(step).unwrap_or_default()),
            })
            .collect();
        self.service.clone().steps(stream::iter(deltas)).await?;
        Ok(())
    }

    /// Sends a result of any size; it is durable when this returns. False: the execution was no longer the live one.
    pub(super) async fn upload(&self, key: &ExecutionKey, result: Bytes) -> Result<bool, Error> {
        let head = v1::ResultChunk {
            session: self.session(),
            execution: Some(wire::execution_ref(key)),
            total_bytes: result.len() as u64,
            data: Bytes::new(),
        };
        let chunks = (0..result.len()).step_by(CHUNK_BYTES).map(move |from| v1::ResultChunk {
            data: result.slice(from..result.len().min(from + CHUNK_BYTES)),
            ..Default::default()
        });
        let messages = stream::iter(std::iter::once(head).chain(chunks));
        Ok(self.service.clone().upload_result(messages).await?.into_inner().accepted)
    }

    /// Gives a lease back unfinished.
    pub(super) async fn release(&self, key: &ExecutionKey, reason: &str) -> Result<(), Error> {
        let request = v1::ReportRequest {
            session: self.session(),
            execution: Some(wire::execution_ref(key)),
            outcome: Some(v1::report_request::Outcome::Released(v1::Released { reason: reason.to_owned() })),
        };
        self.service.clone().report(request).await?;
        Ok(())
    }

    /// Leaves; whether the coordinator hears it matters little, since the leases run out by themselves.
    pub(super) async fn deregister(&self) {
        let request = v1::DeregisterRequest { session: self.session() };
        let call = self.service.clone();
        let mut call = call;
        if let Err(status) = call.deregister(request).await {
            tracing::debug!(%status, "cannot deregister");
        }
    }

    /// Opens the stream of a data file's content.
    pub(super) async fn blob(&self, sha256: &str) -> Result<tonic::Streaming<v1::Chunk>, Error> {
        let request = v1::FetchBlobRequest { session: self.session(), sha256: sha256.to_owned() };
        Ok(self.service.clone().fetch_blob(request).await?.into_inner())
    }
}

fn granted(lease: v1::Lease) -> Result<Granted, Error> {
    let key = wire::execution_key(lease.execution.as_ref())?;
    let assignment = serde_json::from_slice(&lease.assignment)
        .map_err(|error| Error::Away(format!("the coordinator sent an assignment that cannot be read: {error}")))?;
    Ok(Granted { key, assignment, api_key: Secret::new(lease.api_key) })
}
