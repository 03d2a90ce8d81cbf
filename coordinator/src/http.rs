//! HTTP servers of the coordinator. The only place that knows axum.

pub mod mock_model;
