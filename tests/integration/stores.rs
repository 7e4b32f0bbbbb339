//! The stores that Tidemark reads from and writes to, and its reads over them.

mod conform;
mod history;
mod restored;
mod served;
