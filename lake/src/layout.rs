//! Partitions, sizes, small files.
