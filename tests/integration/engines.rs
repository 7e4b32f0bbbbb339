//! Set against what needs a JVM, Go or Node: `make engines` installs it and runs these tests, which
//! are left out otherwise.

mod acts;
mod azurite;
mod hive;
mod minio;
mod reads;
mod spark;
mod trino;
