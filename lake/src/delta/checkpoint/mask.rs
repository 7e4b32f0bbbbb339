//! Which columns of a checkpoint are read: those that are needed, less those that hold nothing.

use ::parquet::arrow::ProjectionMask;
use ::parquet::file::metadata::RowGroupMetaData;

use super::Want;
use crate::parquet::reader::ParquetFile;

const SMALL_ROOTS: [&str; 5] = ["metaData", "protocol", "txn", "domainMetadata", "sidecar"];

fn wanted(path: &str, want: Want) -> bool {
    let root = path.split('.').next().unwrap_or(path);
    if SMALL_ROOTS.contains(&root) {
        return true;
    }
    want == Want::Files
        && (matches!(
            path,
            "add.path"
                | "add.size"
                | "add.modificationTime"
                | "add.stats"
                | "add.stats_parsed.numRecords"
        ) || path.starts_with("add.partitionValues.")
            || path.starts_with("add.deletionVector."))
}

/// Leaves to read of one row group. A column that its statistics say is all null is left out, with
/// its whole root where the root's key column is.
pub(super) fn mask(file: &ParquetFile, group: &RowGroupMetaData, want: Want) -> ProjectionMask {
    let schema = file.metadata().file_metadata().schema_descr();
    let all_null = |leaf: usize| {
        let column = group.column(leaf);
        let nulls = column.statistics().and_then(|s| s.null_count_opt());
        nulls.is_some_and(|n| i64::try_from(n).is_ok_and(|n| n == column.num_values()))
    };
    let paths: Vec<String> = schema.columns().iter().map(|c| c.path().string()).collect();
    let absent = |root: &str| {
        let key = match root {
            "metaData" => "metaData.id",
            "protocol" => "protocol.minReaderVersion",
            "txn" => "txn.appId",
            "domainMetadata" => "domainMetadata.domain",
            "sidecar" => "sidecar.path",
            "add" => "add.path",
            _ => return false,
        };
        paths.iter().position(|p| p == key).is_some_and(all_null)
    };
    let has_stats = paths
        .iter()
        .position(|p| p == "add.stats")
        .is_some_and(|at| !all_null(at));
    let parsed = paths
        .iter()
        .position(|p| p == "add.stats_parsed.numRecords");
    // The typed count is a fraction of the text's size; it is used alone where it is never null.
    let parsed_is_whole = parsed.is_some_and(|at| {
        let key = paths.iter().position(|p| p == "add.path");
        let nulls = |leaf: usize| {
            group
                .column(leaf)
                .statistics()
                .and_then(|s| s.null_count_opt())
        };
        key.is_some_and(|key| nulls(at).is_some() && nulls(at) == nulls(key))
    });
    let leaves = (0..paths.len()).filter(|leaf| {
        let path = &paths[*leaf];
        let root = path.split('.').next().unwrap_or(path);
        if !wanted(path, want) || absent(root) {
            return false;
        }
        match path.as_str() {
            "add.stats" => has_stats && !parsed_is_whole,
            _ if path.starts_with("add.deletionVector.") => !all_null(*leaf),
            _ => true,
        }
    });
    ProjectionMask::leaves(schema, leaves.collect::<Vec<_>>())
}
