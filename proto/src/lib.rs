//! Messages and services of the fleet protocol, generated from `argosy/v1/*.proto`. No logic lives here:
//! `argosy_shared::wire` turns messages into domain types.

/// Version 1 of the protocol.
pub mod v1 {
    #![allow(missing_docs, unreachable_pub, clippy::all, reason = "generated code")]
    include!(concat!(env!("OUT_DIR"), "/argosy.v1.rs"));
}
