//! Data files from the coordinator, for the cache.

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt as _, stream::BoxStream};

use super::Client;
use crate::cache::Fetch;

#[async_trait]
impl Fetch for Client {
    async fn fetch(&self, sha256: &str) -> Result<BoxStream<'static, Result<Bytes, String>>, String> {
        let chunks = self.blob(sha256).await.map_err(|error| error.to_string())?;
        Ok(chunks.map(|chunk| chunk.map(|chunk| chunk.data).map_err(|status| status.message().to_owned())).boxed())
    }
}
