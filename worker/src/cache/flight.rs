//! One fetch at a time for each file.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::Error;

/// Fetches under way, by digest.
#[derive(Default)]
pub(super) struct Flights(Mutex<HashMap<String, Flight>>);

/// The turn to fetch, and how the last one who had it failed.
type Flight = Arc<tokio::sync::Mutex<Option<Error>>>;

impl Flights {
    /// Runs `work` while nobody else runs work for the same digest. Who waited while another's work failed gets that
    /// error and does not try again; who waited while another was cancelled goes on in its place.
    pub(super) async fn one_at_a_time<T>(
        &self,
        sha256: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let flight = self.lock().entry(sha256.to_owned()).or_default().clone();
        let mut failed = flight.lock().await;
        if let Some(error) = &*failed {
            return Err(error.clone());
        }
        let done = work.await;
        if let Err(error) = &done {
            *failed = Some(error.clone());
        }
        // Whoever comes from now on finds the file, or begins a flight of its own.
        let mut flights = self.lock();
        if flights.get(sha256).is_some_and(|current| Arc::ptr_eq(current, &flight)) {
            flights.remove(sha256);
        }
        done
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Flight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
