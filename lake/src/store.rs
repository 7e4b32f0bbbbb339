//! Wrappers around a store.
