//! A journal in memory, for tests and simulation. It outlives the handle, as a file outlives a process.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use argosy_shared::{
    id::{AttemptKey, ExecutionKey},
    task::Blob,
};
use async_trait::async_trait;
use bytes::Bytes;

use super::{Batch, Error, Evidence, Journal, Kind, Position, StoredStep, blob_of};
use crate::scheduler::{
    Event,
    event::{VERSION, decode, encode},
};

/// A handle. Clones are the same handle; [`Memory::reopen`] gives the next owner's.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    store: Arc<Mutex<Store>>,
    /// Which opening of the store this handle belongs to.
    epoch: u64,
}

#[derive(Debug, Default)]
struct Store {
    epoch: u64,
    closed: bool,
    fault: Option<Error>,
    /// Encoded, so that what a file could not hold is not held here either.
    batches: Vec<(u32, String)>,
    blobs: HashMap<String, Bytes>,
    executions: BTreeMap<ExecutionKey, Left>,
}

#[derive(Debug, Default)]
struct Left {
    evidence: Vec<Evidence>,
    steps: BTreeMap<u32, Bytes>,
}

impl Memory {
    /// An empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the next process would open: the same content. Handles of earlier openings are closed, as if their
    /// process had died.
    #[must_use]
    pub fn reopen(&self) -> Self {
        let mut store = self.lock();
        store.epoch += 1;
        store.closed = false;
        Self { store: Arc::clone(&self.store), epoch: store.epoch }
    }

    /// Makes every later write fail, until `None` repairs it.
    pub fn set_fault(&self, fault: Option<Error>) {
        self.lock().fault = fault;
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        // A panic in another test thread leaves the store as usable as it was.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading(&self) -> Result<MutexGuard<'_, Store>, Error> {
        let store = self.lock();
        if store.closed || store.epoch != self.epoch { Err(Error::Closed) } else { Ok(store) }
    }

    fn writing(&self) -> Result<MutexGuard<'_, Store>, Error> {
        let store = self.reading()?;
        match &store.fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(store),
        }
    }
}

#[async_trait]
impl Journal for Memory {
    async fn append(&self, events: Vec<Event>) -> Result<Position, Error> {
        let mut store = self.writing()?;
        if !events.is_empty() {
            store.batches.push((VERSION, encode(&events)));
        }
        Ok(Position(store.batches.len() as u64))
    }

    async fn replay(&self, after: Position, limit: usize) -> Result<Vec<Batch>, Error> {
        let store = self.reading()?;
        let from = usize::try_from(after.0).unwrap_or(usize::MAX).min(store.batches.len());
        let chunk = (after.0 + 1..).zip(&store.batches[from..]).take(limit);
        chunk
            .map(|(position, (version, text))| {
                let events = decode(*version, text).map_err(|error| Error::events(position, &error))?;
                Ok(Batch { position: Position(position), events })
            })
            .collect()
    }

    async fn put(&self, execution: &ExecutionKey, kind: Kind, bytes: Bytes) -> Result<Blob, Error> {
        let blob = blob_of(bytes.clone()).await;
        let mut store = self.writing()?;
        store.blobs.insert(blob.sha256.clone(), bytes);
        let evidence = Evidence { kind, blob: blob.clone() };
        let left = store.executions.entry(execution.clone()).or_default();
        if !left.evidence.contains(&evidence) {
            left.evidence.push(evidence);
        }
        Ok(blob)
    }

    async fn get(&self, blob: &Blob) -> Result<Bytes, Error> {
        self.reading()?.blobs.get(&blob.sha256).cloned().ok_or_else(|| Error::NoBlob(blob.sha256.clone()))
    }

    async fn supersede(&self, execution: &ExecutionKey, blob: &Blob) -> Result<(), Error> {
        let mut store = self.writing()?;
        let left = store.executions.get_mut(execution);
        let found = left.and_then(|left| {
            left.evidence.iter_mut().find(|found| found.kind == Kind::Result && found.blob.sha256 == blob.sha256)
        });
        found.ok_or_else(|| Error::NoBlob(blob.sha256.clone()))?.kind = Kind::Superseded;
        Ok(())
    }

    async fn evidence(&self, execution: &ExecutionKey) -> Result<Vec<Evidence>, Error> {
        Ok(self.reading()?.executions.get(execution).map(|left| left.evidence.clone()).unwrap_or_default())
    }

    async fn append_steps(&self, execution: &ExecutionKey, steps: Vec<StoredStep>) -> Result<(), Error> {
        let mut store = self.writing()?;
        let left = store.executions.entry(execution.clone()).or_default();
        for step in steps {
            left.steps.entry(step.step_id).or_insert(step.json);
        }
        Ok(())
    }

    async fn steps_of(&self, execution: &ExecutionKey) -> Result<Vec<StoredStep>, Error> {
        let store = self.reading()?;
        let steps = store.executions.get(execution).into_iter().flat_map(|left| &left.steps);
        Ok(steps.map(|(step_id, json)| StoredStep { step_id: *step_id, json: json.clone() }).collect())
    }

    async fn forget(&self, attempt: &AttemptKey) -> Result<(), Error> {
        let mut store = self.writing()?;
        let Store { executions, blobs, .. } = &mut *store;
        executions.retain(|key, _| key.attempt != *attempt);
        let named: Vec<&Evidence> = executions.values().flat_map(|left| &left.evidence).collect();
        blobs.retain(|sha256, _| named.iter().any(|evidence| evidence.blob.sha256 == *sha256));
        Ok(())
    }

    async fn close(&self) -> Result<(), Error> {
        let mut store = self.lock();
        if store.epoch == self.epoch {
            store.closed = true;
        }
        Ok(())
    }
}
