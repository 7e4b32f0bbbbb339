//! The server and the command line: signs reads, is the only writer, carries the page.

pub mod access;
pub mod acts;
pub mod app;
pub mod audit;
pub mod commands;
pub mod config;
pub mod control;
pub mod datasets;
pub mod demo;
pub mod failure;
pub mod jobs;
pub mod lint;
pub mod metastore;
pub mod metrics;
pub mod reads;
pub mod routes;
pub mod segment;
pub mod setup;
pub mod site;
pub mod status;
pub mod stores;
pub mod tables;
pub mod zones;

#[cfg(test)]
mod testing;
