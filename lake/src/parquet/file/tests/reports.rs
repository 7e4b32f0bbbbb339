//! The reports about footers and pages.

use ::parquet::basic::Compression;
use ::parquet::file::properties::{EnabledStatistics, WriterVersion};
use arrow_array::{Decimal128Array, TimestampMicrosecondArray};

use super::*;

fn rich() -> Vec<u8> {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let names = (0..1000).map(|i| (i % 10 != 0).then(|| format!("name {}", i % 7)));
    let names: ArrayRef = Arc::new(StringArray::from_iter(names));
    let amounts = Decimal128Array::from_iter_values((0..1000).map(|i| i128::from(i - 500)));
    let amounts: ArrayRef = Arc::new(amounts.with_precision_and_scale(10, 2).unwrap());
    let times = (0..1000).map(|i| i * 1_000_000);
    let times: ArrayRef =
        Arc::new(TimestampMicrosecondArray::from_iter_values(times).with_timezone("UTC"));
    let sorted = ::parquet::file::metadata::SortingColumn {
        column_idx: 0,
        descending: true,
        nulls_first: false,
    };
    let properties = WriterProperties::builder()
        .set_created_by("a writer".to_owned())
        .set_key_value_metadata(Some(vec![::parquet::file::metadata::KeyValue::new(
            "note".to_owned(),
            "x".repeat(5000),
        )]))
        .set_compression(Compression::ZSTD(Default::default()))
        .set_max_row_group_row_count(Some(600))
        .set_bloom_filter_enabled(true)
        .set_sorting_columns(Some(vec![sorted]))
        .build();
    let columns = vec![
        ("id", ids),
        ("name", names),
        ("amount", amounts),
        ("at", times),
    ];
    written(&batch(columns), properties)
}

#[tokio::test]
async fn a_footer_beside_the_log() {
    let fields = vec![field("id", "long"), field("name", "string")];
    let mut file = table(rich(), fields).await;
    file.log_stats = Some(r#"{"numRecords":999}"#.to_owned());
    let found = report(&file).await.unwrap();
    assert_eq!(found.rows, 1000);
    assert_eq!(Some(found.object_bytes), file.file.bytes);
    assert_eq!(found.created_by.as_deref(), Some("a writer"));
    assert!(found.key_values["note"].len() < 2100);
    assert_eq!(
        found.warnings,
        ["the log says 999 records, the file has 1000"]
    );
    let columns: Vec<_> = found
        .columns
        .iter()
        .map(|c| {
            (
                c.path.as_str(),
                c.logical.as_deref(),
                c.logical_type.as_str(),
                c.required,
            )
        })
        .collect();
    assert_eq!(
        columns,
        [
            ("id", Some("id"), "", true),
            ("name", Some("name"), "STRING", false),
            ("amount", None, "DECIMAL(10,2)", true),
            ("at", None, "TIMESTAMP(MICROS, UTC)", true),
        ]
    );
    let rows: Vec<u64> = found.row_groups.iter().map(|g| g.rows).collect();
    assert_eq!(rows, [600, 400]);
    let first = &found.row_groups[0];
    assert_eq!(first.sorted_by, ["id desc nulls last"]);
    let [id, name, amount, at] = first.chunks.as_slice() else {
        panic!("{first:?}");
    };
    assert_eq!(
        (id.min.as_deref(), id.max.as_deref()),
        (Some("0"), Some("599"))
    );
    assert_eq!(
        (id.nulls, id.exact, id.codec.as_str()),
        (Some(0), Some(true), "ZSTD")
    );
    assert_eq!((name.nulls, name.values), (Some(60), 600));
    assert_eq!(name.min.as_deref(), Some("name 0"));
    assert!(name.dictionary && name.page_index && name.bloom_filter_bytes.unwrap() > 0);
    assert!(
        name.encodings.iter().any(|e| e == "RLE_DICTIONARY"),
        "{:?}",
        name.encodings
    );
    assert_eq!(
        (amount.min.as_deref(), amount.max.as_deref()),
        (Some("-5.00"), Some("0.99"))
    );
    assert_eq!(at.max.as_deref(), Some("1970-01-01T00:09:59Z"));
    assert_eq!(id.offset, 4);
    let bytes: u64 = first.chunks.iter().map(|c| c.compressed_bytes).sum();
    assert_eq!(first.compressed_bytes, bytes);
}

#[tokio::test]
async fn a_very_wide_file_is_reported_in_part() {
    let column: ArrayRef = Arc::new(StringArray::from_iter_values((0..8).map(|i| i.to_string())));
    let columns = (0..9000).map(|i| {
        (
            format!("a column with a rather long name {i}"),
            Arc::clone(&column),
        )
    });
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(4));
    let file = table(written(&batch, properties.build()), Vec::new()).await;
    let found = report(&file).await.unwrap();
    let json = serde_json::to_string(&found).unwrap();
    assert!(json.len() < 2_000_000, "{}", json.len());
    assert_eq!(found.row_groups.len(), 2);
    assert!(!found.row_groups[0].chunks.is_empty());
    assert!(
        found.warnings.iter().any(|w| w.contains("9000 columns")),
        "{:?}",
        found.warnings
    );
}

fn paged(version: WriterVersion, index: bool) -> Vec<u8> {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter(
        (0..1000).map(|i| (i % 4 != 0).then_some(i % 50)),
    ));
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_write_page_header_statistics(true)
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(100)
        .build();
    let bytes = written(&batch(vec![("id", ids)]), properties);
    match index {
        true => bytes,
        false => with_chunk(&bytes, 0, |chunk| {
            chunk
                .set_offset_index_offset(None)
                .set_offset_index_length(None)
                .set_column_index_offset(None)
                .set_column_index_length(None)
        }),
    }
}

#[tokio::test]
async fn pages_by_the_offset_index() {
    let file = table(paged(WriterVersion::PARQUET_1_0, true), Vec::new()).await;
    let found = pages(&file, 0, 0).await.unwrap();
    assert_eq!(found.source, "offset index");
    assert_eq!((found.total, found.pages.len()), (11, 11));
    assert!(found.warnings.is_empty());
    assert_eq!(found.pages[0].kind, "DICTIONARY");
    let third = &found.pages[3];
    assert_eq!(
        (third.kind.as_str(), third.first_row, third.values),
        ("DATA", Some(200), Some(100))
    );
    assert_eq!(third.nulls, Some(25));
    assert_eq!(
        (third.min.as_deref(), third.max.as_deref()),
        (Some("0"), Some("49"))
    );
    let mut end = 4;
    for page in &found.pages {
        assert_eq!(page.offset, end);
        end += page.compressed_bytes;
    }
}

#[tokio::test]
async fn pages_by_their_headers() {
    for (version, kind) in [
        (WriterVersion::PARQUET_1_0, "DATA"),
        (WriterVersion::PARQUET_2_0, "DATA_V2"),
    ] {
        let file = table(paged(version, false), Vec::new()).await;
        let found = pages(&file, 0, 0).await.unwrap();
        assert_eq!(found.source, "page headers");
        assert_eq!(found.total, 11);
        let dictionary = &found.pages[0];
        assert_eq!(
            (dictionary.kind.as_str(), dictionary.values),
            ("DICTIONARY", Some(50))
        );
        let third = &found.pages[3];
        assert_eq!((third.kind.as_str(), third.first_row), (kind, Some(200)));
        assert_eq!((third.values, third.nulls), (Some(100), Some(25)));
        assert_eq!(third.encoding.as_deref(), Some("RLE_DICTIONARY"));
        assert!(third.uncompressed_bytes.unwrap() > 0);
        assert_eq!(
            (third.min.as_deref(), third.max.as_deref()),
            (Some("0"), Some("49"))
        );
    }
}

#[tokio::test]
async fn pages_of_a_large_chunk_cost_a_few_reads() {
    let file = table(large(false), Vec::new()).await;
    let found = pages(&file, 0, 0).await.unwrap();
    assert_eq!(found.source, "page headers");
    assert!(found.total > 5, "{}", found.total);
    assert!(found.bytes_read < 2_000_000, "{}", found.bytes_read);
    let values: u64 = found.pages.iter().filter_map(|p| p.values).sum();
    assert_eq!(values, 1_000_000);
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let file = table(people(), Vec::new()).await;
    for (group, column) in [(9, 0), (0, 9), (u32::MAX, u32::MAX)] {
        let error = pages(&file, group, column).await.unwrap_err();
        assert_eq!(error.kind(), crate::Kind::NotFound, "{error}");
        assert!(error.location().unwrap().contains("t/f.parquet"));
    }
}
