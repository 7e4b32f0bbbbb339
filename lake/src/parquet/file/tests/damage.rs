//! Files that lie: in their footers, in their pages, about their codecs.

use ::parquet::basic::Compression;
use ::parquet::file::metadata::ColumnChunkMetaDataBuilder;

use arrow_array::ListArray;
use arrow_array::types::Int64Type;

use super::*;
use crate::Kind;

fn both() -> Vec<Field> {
    vec![field("id", "long"), field("name", "string")]
}

#[tokio::test]
async fn one_bad_column_leaves_the_others() {
    type Change = fn(ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder;
    let cases: [(Change, &str); 6] = [
        (
            |c| {
                c.set_data_page_offset(1 << 50)
                    .set_dictionary_page_offset(None)
            },
            "outside the file",
        ),
        (|c| c.set_dictionary_page_offset(Some(-5)), "negative"),
        (|c| c.set_total_compressed_size(i64::MIN), "negative"),
        (|c| c.set_total_compressed_size(1 << 60), "outside the file"),
        (|c| c.set_num_values(-1), "negative"),
        (|c| c.set_compression(Compression::LZO), "LZO"),
    ];
    for (change, words) in cases {
        let file = table(with_chunk(&people(), 1, change), both()).await;
        let found = rows(&file, 0, 2).await.unwrap();
        assert_eq!(texts(&found), [["0"], ["1"]], "{words}");
        assert_eq!(found.columns.len(), 1);
        assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
        assert!(found.warnings[0].contains("`name`"), "{:?}", found.warnings);
        assert!(found.warnings[0].contains(words), "{:?}", found.warnings);
        report(&file).await.unwrap();
        let _ = pages(&file, 0, 1).await;
    }
}

#[tokio::test]
async fn where_no_column_can_be_read_that_is_the_answer() {
    let bytes = with_chunk(&people(), 1, |c| c.set_compression(Compression::LZO));
    let file = table(bytes, vec![field("name", "string")]).await;
    let error = rows(&file, 0, 2).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.message().contains("LZO"), "{error}");
}

#[tokio::test]
async fn noise_in_a_column_is_a_warning() {
    let bytes = people();
    let chunk = metadata(&bytes).row_group(0).column(1).byte_range();
    for noise in [0x00, 0x55, 0xff] {
        let mut bytes = bytes.clone();
        let range = chunk.0 as usize..(chunk.0 + chunk.1) as usize;
        bytes[range].fill(noise);
        let file = table(bytes, both()).await;
        let found = rows(&file, 0, 2).await.unwrap();
        assert_eq!(texts(&found), [["0"], ["1"]]);
        assert!(found.warnings[0].contains("`name`"), "{:?}", found.warnings);
    }
}

#[tokio::test]
async fn footers_that_are_none() {
    let good = people();
    let mut longer = good.clone();
    let end = longer.len();
    longer[end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut noise = good.clone();
    let footer = u32::from_le_bytes(good[end - 8..end - 4].try_into().unwrap()) as usize;
    noise[end - 8 - footer..end - 8].fill(0x5a);
    let mut cut = good.clone();
    cut.truncate(end - 3);
    let mut encrypted = good.clone();
    encrypted[end - 4..].copy_from_slice(b"PARE");
    let cases = [
        (Vec::new(), None),
        (b"PAR1".to_vec(), Some(Kind::Damaged)),
        (b"PAR1PAR1".to_vec(), Some(Kind::Damaged)),
        (longer, Some(Kind::Damaged)),
        (noise, Some(Kind::Damaged)),
        (cut, Some(Kind::Damaged)),
        (encrypted, Some(Kind::Unsupported)),
    ];
    for (bytes, kind) in cases {
        let file = table(bytes, both()).await;
        for error in [
            report(&file).await.unwrap_err(),
            rows(&file, 0, 1).await.unwrap_err(),
            pages(&file, 0, 0).await.unwrap_err(),
        ] {
            assert!(kind.is_none_or(|kind| kind == error.kind()), "{error:?}");
            assert!(error.to_string().contains("t/f.parquet"), "{error}");
        }
    }
}

#[tokio::test]
async fn every_flipped_bit_of_a_small_file_is_survived() {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a"]));
    let many = vec![
        Some(vec![Some(1), None]),
        Some(vec![]),
        Some(vec![Some(2); 5]),
    ];
    let many: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(many));
    let properties = WriterProperties::builder().build();
    let columns = vec![("id", ids), ("name", names), ("many", many)];
    let good = written(&batch(columns), properties);
    let mut list = field("many", "array");
    list.fields.push(field("element", "long"));
    let all = [both(), vec![list]].concat();
    let right = rows(&table(good.clone(), all.clone()).await, 2, 1)
        .await
        .unwrap();
    assert_eq!(texts(&right), [["3", "a", "[2, 2, 2, 2, 2]"]]);
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            let file = table(bytes, all.clone()).await;
            let _ = report(&file).await;
            let _ = rows(&file, 0, 10).await;
            // Rows are passed over before the first one shown, which must come to an end.
            let _ = rows(&file, 2, 1).await;
            let _ = pages(&file, 0, 0).await;
        }
    }
}
