//! Asks the judge model and drives [`argosy_shared::hms`].

pub mod metadata;
