//! A journal in an SQLite file (being written).
