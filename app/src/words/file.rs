//! A data file in a sentence: what is in it, and whether log and footer say the same.

use lake::wire::file::FileReport;

use crate::format;

use super::Sentence;
use super::figure::{count_of, joined};

/// Rows, row groups, columns, codecs; then whether the log agrees with the footer.
pub fn contents(report: &FileReport) -> Sentence {
    let mut codecs: Vec<String> = Vec::new();
    for chunk in report.row_groups.iter().flat_map(|group| &group.chunks) {
        if !codecs.contains(&chunk.codec) {
            codecs.push(chunk.codec.clone());
        }
    }
    let packed = match codecs.as_slice() {
        [] => String::new(),
        [one] if one == "UNCOMPRESSED" => ", not compressed".to_owned(),
        _ => format!(", {}", joined(&codecs)),
    };
    let out = Sentence::new()
        .strong(crate::format::capital(&count_of(report.rows, "row")))
        .text(format!(
            " in {} and {}{packed}.",
            count_of(report.row_groups.len() as u64, "row group"),
            count_of(report.columns.len() as u64, "column"),
        ));
    let out = match report.file.deleted_rows {
        0 => out,
        n => out.text(format!(
            " A deletion vector masks {} of them.",
            format::count(n)
        )),
    };
    if report.warnings.is_empty() {
        out.text(" Log and footer agree.")
    } else {
        out.text(" ").strong("Log and footer differ.")
    }
}

#[cfg(test)]
mod tests {
    use lake::table::{DataFile, Partition};
    use lake::wire::file::{ChunkReport, RowGroupReport};

    use super::*;

    fn chunk(codec: &str) -> ChunkReport {
        ChunkReport {
            codec: codec.into(),
            encodings: Vec::new(),
            values: 0,
            nulls: None,
            min: None,
            max: None,
            exact: None,
            distinct: None,
            offset: 0,
            compressed_bytes: 0,
            uncompressed_bytes: 0,
            dictionary: false,
            bloom_filter_bytes: None,
            page_index: false,
        }
    }

    fn report(codecs: &[&str], deleted_rows: u64, warnings: &[&str]) -> FileReport {
        FileReport {
            file: DataFile {
                path: "a.parquet".into(),
                bytes: None,
                rows: None,
                deleted_rows,
                partition: Partition::default(),
                modified: None,
                deletes: Vec::new(),
            },
            log_stats: None,
            object_bytes: 0,
            format_version: 1,
            created_by: None,
            footer_bytes: 0,
            rows: 7109,
            key_values: Default::default(),
            columns: Vec::new(),
            row_groups: vec![RowGroupReport {
                rows: 7109,
                compressed_bytes: 0,
                uncompressed_bytes: 0,
                chunks: codecs.iter().map(|c| chunk(c)).collect(),
                sorted_by: Vec::new(),
            }],
            warnings: warnings.iter().map(|w| (*w).to_owned()).collect(),
        }
    }

    #[test]
    fn codecs_are_named_once() {
        assert_eq!(
            contents(&report(&["SNAPPY", "SNAPPY", "ZSTD"], 0, &[])).to_string(),
            "7,109 rows in 1 row group and no columns, SNAPPY and ZSTD. Log and footer agree."
        );
        assert_eq!(
            contents(&report(&["UNCOMPRESSED"], 3, &["rows differ"])).to_string(),
            "7,109 rows in 1 row group and no columns, not compressed. A deletion vector masks 3 \
             of them. Log and footer differ."
        );
    }
}
