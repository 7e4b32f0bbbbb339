//! Delta Lake: the log, its replay, its history.

pub mod vector;
