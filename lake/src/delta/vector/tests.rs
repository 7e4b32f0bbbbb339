//! The protocol's examples, and what damage does.

use bytes::Bytes;
use object_store::memory::InMemory;
use object_store::{ObjectStoreExt, PutPayload};

use super::*;

fn descriptor(storage_type: &str, path: &str) -> Descriptor {
    Descriptor {
        storage_type: storage_type.to_owned(),
        path_or_inline_dv: path.to_owned(),
        offset: None,
        size_in_bytes: 40,
        cardinality: 6,
    }
}

const INLINE: &str = "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L";
const UUID: &str = "^-aqEH.-t@S}K{vb[*k^";
const FILE: &str = "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin";

#[test]
fn the_inline_example_of_the_protocol() {
    let rows = decode_inline(&descriptor("i", INLINE)).unwrap();
    assert_eq!(rows.iter().collect::<Vec<_>>(), [3, 4, 7, 11, 18, 29]);
    let root = Path::from("t");
    assert_eq!(location(&root, &descriptor("i", INLINE)).unwrap(), None);
}

#[test]
fn relative_paths_with_and_without_a_prefix() {
    for (root, prefix, key) in [
        ("lake/t", "ab", format!("lake/t/ab/{FILE}")),
        ("lake/t", "", format!("lake/t/{FILE}")),
        ("", "ab", format!("ab/{FILE}")),
        ("", "", FILE.to_owned()),
    ] {
        let descriptor = descriptor("u", &format!("{prefix}{UUID}"));
        let found = location(&Path::from(root), &descriptor).unwrap().unwrap();
        assert_eq!(found.as_ref(), key);
    }
}

#[test]
fn relative_paths_never_leave_the_table() {
    for text in [
        format!("../other/x{UUID}"),
        format!("..{UUID}"),
        format!("a/../..{UUID}"),
        "short".to_owned(),
        format!("é{}", &UUID[1..]),
        "é".repeat(15),
    ] {
        let error = location(&Path::from("lake/t"), &descriptor("u", &text)).unwrap_err();
        assert_eq!(error.kind(), Kind::Damaged, "{text}: {error}");
    }
}

#[test]
fn absolute_paths_are_followed_inside_the_store_only() {
    let root = Path::from("lake/t");
    let urls = [
        (
            format!("s3://bucket/lake/t/{FILE}"),
            format!("lake/t/{FILE}"),
        ),
        (
            format!("s3a://bucket/lake/source/{FILE}"),
            format!("lake/source/{FILE}"),
        ),
        (
            format!("s3://bucket/lake/a%20b%2525/{FILE}"),
            format!("lake/a b%25/{FILE}"),
        ),
    ];
    for (url, key) in urls {
        let descriptor = descriptor("p", &url);
        let found = location_at(&root, Some("s3://bucket/lake/t"), &descriptor);
        assert_eq!(found.unwrap().unwrap().as_ref(), key, "{url}");
        assert_eq!(
            location(&root, &descriptor).unwrap_err().kind(),
            Kind::Unsupported
        );
    }
    for url in [
        "s3://other/lake/t/x.bin",
        "https://evil.example/lake/t/x.bin",
        "s3://bucket/lake/../../secret.bin",
        "s3://bucket/lake/%2e%2e/%2e%2e/secret.bin",
        "s3://bucket",
        "/etc/passwd",
        "x.bin",
        "",
    ] {
        let found = location_at(&root, Some("s3://bucket/lake/t"), &descriptor("p", url));
        let error = found.unwrap_err();
        assert_eq!(error.kind(), Kind::Unsupported, "{url}");
        assert!(
            error.message().contains("external, not followed"),
            "{error}"
        );
    }
}

#[test]
fn a_store_that_starts_below_the_bucket_ends_there_too() {
    let root = Path::from("t");
    let inside = descriptor("p", "file:///data/lake/source/x.bin");
    let found = location_at(&root, Some("file:/data/lake/t/"), &inside).unwrap();
    assert_eq!(found.unwrap().as_ref(), "source/x.bin");
    let outside = descriptor("p", "file:///data/other/x.bin");
    assert!(location_at(&root, Some("file:///data/lake/t"), &outside).is_err());
    // A URL that does not end in the table's key says nothing about the store.
    assert!(location_at(&root, Some("file:///data/lake/u"), &inside).is_err());
}

#[test]
fn an_unknown_storage_type_is_named() {
    let error = location(&Path::from("t"), &descriptor("x", "")).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.message().contains("`x`"), "{error}");
}

#[test]
fn the_id_names_the_offset_where_there_is_one() {
    let mut vector = descriptor("u", "ab");
    assert_eq!(vector.unique_id(), "uab");
    vector.offset = Some(4);
    assert_eq!(vector.unique_id(), "uab@4");
}

#[test]
fn fields_of_later_writers_do_not_hurt() {
    let json = r#"{"storageType":"i","pathOrInlineDv":"","sizeInBytes":0,"cardinality":0,
        "maxRowIndex":3}"#;
    let vector: Descriptor = serde_json::from_str(json).unwrap();
    assert!(decode_inline(&vector).unwrap().is_empty());
}

/// A file with `before` bytes of other vectors and then the protocol's example.
fn stored(before: usize) -> Vec<u8> {
    let data = z85::decode(INLINE).unwrap();
    let mut file = vec![1];
    file.resize(1 + before, 0xaa);
    file.extend_from_slice(&40u32.to_be_bytes());
    file.extend_from_slice(&data);
    file.extend_from_slice(&crc32fast::hash(&data).to_be_bytes());
    file
}

async fn loaded(file: Vec<u8>, descriptor: &Descriptor) -> Result<Vec<u64>> {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let key = Path::from(format!("t/{FILE}"));
    let payload = PutPayload::from_bytes(Bytes::from(file));
    store.put(&key, payload).await.unwrap();
    let rows = load(&store, &Path::from("t"), descriptor).await?;
    Ok(rows.iter().collect())
}

#[tokio::test]
async fn a_stored_vector_is_found_at_its_offset() {
    for before in [0, 3, 10_000] {
        let mut vector = descriptor("u", UUID);
        vector.offset = (before > 0).then_some(1 + before as i64);
        let rows = loaded(stored(before), &vector).await.unwrap();
        assert_eq!(rows, [3, 4, 7, 11, 18, 29], "{before}");
    }
}

#[tokio::test]
async fn damage_is_said_and_not_read() {
    let good = descriptor("u", UUID);
    let mut flipped = stored(0);
    flipped[20] ^= 1;
    let mut version = stored(0);
    version[0] = 2;
    let mut short = stored(0);
    short.pop();
    let cases = [
        (flipped, good.clone(), "checksum"),
        (version, good.clone(), "version 2"),
        (short, good.clone(), "ends inside"),
        (Vec::new(), good.clone(), ""),
        (
            stored(0),
            Descriptor {
                size_in_bytes: 39,
                ..good.clone()
            },
            "the log says 39",
        ),
        (
            stored(0),
            Descriptor {
                cardinality: 5,
                ..good.clone()
            },
            "masks 6 rows, the log says 5",
        ),
        (
            stored(0),
            Descriptor {
                offset: Some(0),
                ..good.clone()
            },
            "at byte 0",
        ),
        (
            stored(0),
            Descriptor {
                offset: Some(i64::MIN),
                ..good.clone()
            },
            "at byte",
        ),
        (
            stored(0),
            Descriptor {
                offset: Some(i64::MAX),
                ..good.clone()
            },
            "at byte",
        ),
        (
            stored(0),
            Descriptor {
                size_in_bytes: -1,
                ..good.clone()
            },
            "a size of -1",
        ),
    ];
    for (file, vector, words) in cases {
        let error = loaded(file, &vector).await.unwrap_err();
        assert!(error.to_string().contains(words), "{words}: {error}");
        assert!(error.location().unwrap().contains(UUID), "{error}");
    }
    let huge = Descriptor {
        size_in_bytes: i64::MAX,
        ..good
    };
    let error = loaded(stored(0), &huge).await.unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge, "{error}");
    let inline = Descriptor {
        storage_type: "i".to_owned(),
        ..huge
    };
    assert_eq!(decode_inline(&inline).unwrap_err().kind(), Kind::TooLarge);
}
