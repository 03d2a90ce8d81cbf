//! A journal in memory (being written).
