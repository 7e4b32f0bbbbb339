//! Checks of objects: their bytes, ranges, metadata and conditions.

use futures::future::join_all;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt};

use super::fixture::{EMPTY, HELLO, HELLO_BYTES, LARGE, LARGE_LEN, ROOT, large, many};
use super::{Checked, ok, same};

async fn read(store: &dyn ObjectStore, key: &str, options: GetOptions) -> Result<Vec<u8>, String> {
    let result = ok(key, store.get_opts(&Path::from(key), options).await)?;
    let range = result.range.clone();
    let bytes = ok(key, result.bytes().await)?;
    same(
        "length of the range",
        range.end - range.start,
        bytes.len() as u64,
    )?;
    Ok(bytes.to_vec())
}

fn range(range: impl Into<GetRange>) -> GetOptions {
    GetOptions {
        range: Some(range.into()),
        ..GetOptions::default()
    }
}

pub(super) async fn whole_objects(store: &dyn ObjectStore) -> Checked {
    let hello = read(store, HELLO, GetOptions::default()).await?;
    same(HELLO, hello.as_slice(), HELLO_BYTES)?;
    let empty = read(store, EMPTY, GetOptions::default()).await?;
    same(EMPTY, empty.len(), 0)?;
    let bytes = read(store, LARGE, GetOptions::default()).await?;
    same("the large object is itself", bytes == large(), true)
}

pub(super) async fn ranges(store: &dyn ObjectStore) -> Checked {
    let cases: [(GetRange, &[u8]); 7] = [
        ((0..5).into(), b"hello"),
        ((7..11).into(), b"tide"),
        ((10..11).into(), b"e"),
        ((7..999).into(), b"tide"),
        (GetRange::Offset(7), b"tide"),
        (GetRange::Suffix(4), b"tide"),
        (GetRange::Suffix(999), HELLO_BYTES),
    ];
    for (wanted, bytes) in cases {
        let name = wanted.to_string();
        same(
            &name,
            read(store, HELLO, range(wanted)).await?.as_slice(),
            bytes,
        )?;
    }
    let result = ok(
        HELLO,
        store.get_opts(&Path::from(HELLO), range(7..999)).await,
    )?;
    same("range that is said", result.range, 7..11)?;
    same("size that is said beside a range", result.meta.size, 11)?;

    let whole = large();
    for wanted in [
        1..2 << 20,
        1000..1001,
        LARGE_LEN as u64 - 9..LARGE_LEN as u64,
    ] {
        let bytes = read(store, LARGE, range(wanted.clone())).await?;
        let slice = &whole[wanted.start as usize..wanted.end as usize];
        same(
            &format!("bytes {wanted:?} are themselves"),
            bytes == slice,
            true,
        )?;
    }
    let several = [0..4, 100_000..100_010, 1 << 20..(1 << 20) + 1, 8..12];
    let parts = ok(
        "ranges",
        store.get_ranges(&Path::from(LARGE), &several).await,
    )?;
    same("ranges asked for together", parts.len(), several.len())?;
    for (part, wanted) in parts.iter().zip(several) {
        let slice = &whole[wanted.start as usize..wanted.end as usize];
        same(&format!("bytes {wanted:?} together"), &part[..], slice)?;
    }
    Ok(())
}

pub(super) async fn ranges_outside(store: &dyn ObjectStore) -> Checked {
    for wanted in [
        GetRange::from(11..12),
        (500..600).into(),
        GetRange::Offset(11),
    ] {
        let result = store
            .get_opts(&Path::from(HELLO), range(wanted.clone()))
            .await;
        match result {
            Ok(_) => return Err(format!("{wanted} of 11 bytes was answered")),
            Err(Error::NotFound { .. }) => return Err(format!("{wanted}: the object is there")),
            Err(_) => {}
        }
    }
    Ok(())
}

pub(super) async fn many_at_once(store: &dyn ObjectStore) -> Checked {
    let whole = large();
    let reads = (0..200u64).map(|n| {
        let wanted = n * 1000..n * 1000 + 1 + n;
        let slice = whole.slice(wanted.start as usize..wanted.end as usize);
        async move {
            let bytes = read(store, LARGE, range(wanted.clone())).await?;
            same(
                &format!("bytes {wanted:?} among many"),
                bytes == slice,
                true,
            )?;
            let key = many(n as usize);
            same(
                &key,
                read(store, &key, GetOptions::default()).await?,
                b".".to_vec(),
            )
        }
    });
    join_all(reads).await.into_iter().collect()
}

pub(super) async fn metadata(store: &dyn ObjectStore) -> Checked {
    let path = Path::from(HELLO);
    let head = ok("HEAD", store.head(&path).await)?;
    same("key", &head.location, &path)?;
    same("size", head.size, HELLO_BYTES.len() as u64)?;
    same(
        "modified in this century",
        head.last_modified.timestamp() > 946_684_800,
        true,
    )?;
    same("HEAD has an entity tag", head.e_tag.is_some(), true)?;
    let get = ok("GET", store.get(&path).await)?.meta;
    // Listings and reads may tell the time with different precision.
    same("entity tag of GET and HEAD", &get.e_tag, &head.e_tag)?;
    same("size of GET and HEAD", get.size, head.size)?;
    let ranged = ok("GET", store.get_opts(&path, range(2..3)).await)?.meta;
    same("entity tag of a range", ranged.e_tag, head.e_tag)?;
    let empty = ok("HEAD", store.head(&Path::from(EMPTY)).await)?;
    same("size of the empty object", empty.size, 0)
}

pub(super) async fn conditions(store: &dyn ObjectStore) -> Checked {
    let path = Path::from(HELLO);
    let tag = ok("HEAD", store.head(&path).await)?.e_tag;
    let other = Some("\"another\"".to_owned());
    for wanted in [None, Some(GetRange::from(0..5))] {
        let options = |if_match: &Option<String>, if_none_match: &Option<String>| GetOptions {
            range: wanted.clone(),
            if_match: if_match.clone(),
            if_none_match: if_none_match.clone(),
            ..GetOptions::default()
        };
        ok(
            "If-Match",
            store.get_opts(&path, options(&tag, &None)).await,
        )?;
        ok(
            "If-None-Match",
            store.get_opts(&path, options(&None, &other)).await,
        )?;
        match store.get_opts(&path, options(&other, &None)).await {
            Err(Error::Precondition { .. }) => {}
            result => return Err(format!("If-Match of another tag: {:?}", result.err())),
        }
        match store.get_opts(&path, options(&None, &tag)).await {
            Err(Error::NotModified { .. }) => {}
            result => return Err(format!("If-None-Match of the tag: {:?}", result.err())),
        }
    }
    Ok(())
}

pub(super) async fn missing(store: &dyn ObjectStore) -> Checked {
    // The last one is a prefix of others.
    for key in ["hello", "list/01.json", "no/such", "list"] {
        let path = Path::from(format!("{ROOT}/{key}"));
        let results = [
            store.get(&path).await.err(),
            store.head(&path).await.err(),
            store.get_opts(&path, range(0..4)).await.err(),
        ];
        for error in results {
            match error {
                Some(Error::NotFound { .. }) => {}
                other => return Err(format!("{path}: {other:?} instead of NotFound")),
            }
        }
    }
    Ok(())
}
