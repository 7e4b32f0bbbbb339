//! Arbitrary bytes as a commit: line by line, and as the newest commit of a table.

#![no_main]

use std::sync::Arc;

use fuzz::{block_on, store};
use lake::answer::{Root, history, snapshot};
use lake::host::{Quiet, SharedHost};
use lake::table::At;
use lake::wire::HistoryQuery;
use libfuzzer_sys::fuzz_target;
use object_store::path::Path;

const FIRST: &[u8] = br#"{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}
{"metaData":{"id":"a","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}
"#;

fuzz_target!(|bytes: &[u8]| {
    let _ = lake::delta::commit::check(bytes);
    let store = store(&[
        ("_delta_log/00000000000000000000.json", FIRST),
        ("_delta_log/00000000000000000001.json", bytes),
    ]);
    let host: SharedHost = Arc::new(Quiet);
    let root = Root {
        store,
        path: Path::default(),
        location: String::new(),
    };
    block_on(async {
        let _ = snapshot(&root, At::Latest, true, &host).await;
        let _ = history(&root, &HistoryQuery::default(), &host).await;
    });
});
