//! Arbitrary bytes as a Parquet file: as a checkpoint that a version is rebuilt from, and as a
//! data file that is looked into.

#![no_main]

use std::sync::Arc;

use fuzz::{block_on, decoders_may_panic, store};
use lake::answer::{Root, snapshot};
use lake::host::{Quiet, SharedHost};
use lake::parquet::file::{self, TableFile};
use lake::parquet::reader::ParquetFile;
use lake::schema::{Field, Schema};
use lake::table::{At, DataFile};
use libfuzzer_sys::fuzz_target;
use object_store::ObjectStore;
use object_store::path::Path;
use parquet::arrow::ProjectionMask;

const CHECKPOINT: &str = "_delta_log/00000000000000000001.checkpoint.parquet";
const COMMIT: &str = "_delta_log/00000000000000000002.json";

fuzz_target!(|bytes: &[u8]| {
    decoders_may_panic();
    let commit = br#"{"commitInfo":{"timestamp":1}}"#;
    let store = store(&[(CHECKPOINT, bytes), (COMMIT, commit)]);
    block_on(async {
        let _ = decode(&store).await;
        look(&store).await;
        let host: SharedHost = Arc::new(Quiet);
        let root = Root {
            store,
            path: Path::default(),
            location: String::new(),
        };
        let _ = snapshot(&root, At::Latest, true, &host).await;
    });
});

async fn decode(store: &Arc<dyn ObjectStore>) -> lake::Result<()> {
    let file = ParquetFile::open(store, &Path::from(CHECKPOINT)).await?;
    for group in 0..file.metadata().num_row_groups().min(4) {
        let reader = file.row_group(group, &ProjectionMask::all(), 512).await?;
        // Rows may be claimed by the million where nothing takes a byte.
        for batch in reader.take(64) {
            batch?;
        }
    }
    Ok(())
}

async fn look(store: &Arc<dyn ObjectStore>) {
    let field = |name: &str, data_type: &str, fields: Vec<Field>| Field {
        name: name.to_owned(),
        data_type: data_type.to_owned(),
        nullable: true,
        fields,
        id: None,
        physical: None,
        notes: Vec::new(),
    };
    let add = vec![
        field("path", "string", Vec::new()),
        field("size", "double", Vec::new()),
    ];
    let fields = vec![
        field("id", "long", Vec::new()),
        field("name", "string", Vec::new()),
        field("add", "struct", add),
        field("remove", "variant", Vec::new()),
        field("metaData", "struct", Vec::new()),
    ];
    let file = TableFile {
        store: Arc::clone(store),
        path: Path::from(CHECKPOINT),
        file: DataFile {
            path: CHECKPOINT.to_owned(),
            bytes: None,
            rows: None,
            deleted_rows: 0,
            partition: Default::default(),
            modified: None,
            deletes: Vec::new(),
        },
        log_stats: None,
        schema: Schema { fields },
        partition_columns: Vec::new(),
        by_id: false,
        masked: None,
    };
    let _ = file::report(&file).await;
    for column in 0..4 {
        let _ = file::pages(&file, 0, column).await;
    }
    let _ = file::rows(&file, 0, 100).await;
    let _ = file::rows(&file, 3, 2).await;
}
