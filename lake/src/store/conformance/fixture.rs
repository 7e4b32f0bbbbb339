//! The objects that the checks read.

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, Result};

/// Every object of the fixture lies below this prefix.
pub const ROOT: &str = "conformance";

pub(super) const HELLO: &str = "conformance/hello.txt";
pub(super) const HELLO_BYTES: &[u8] = b"hello, tide";
pub(super) const EMPTY: &str = "conformance/empty";
/// Large enough that no store answers it in one piece of its stream.
pub(super) const LARGE: &str = "conformance/large.bin";
pub(super) const LARGE_LEN: usize = 3 << 20;

/// Last segments of keys that something on the way may decode, encode or split.
pub(super) const STRANGE: &[&str] = &[
    "a b",
    "a+b",
    "a%20b",
    "a%2Fb",
    "100%",
    "a~b",
    "naïve-日本",
    "region=US East",
    "a&b=c",
    "a?b",
    "a#b",
    "a:b",
    "a;b,c@d",
    "a'b(c)!",
    ".hidden",
    "dot.",
];

/// Objects directly below `conformance/list`.
pub(super) const LISTED: &[&str] = &["00.json", "02.json", "04.json", "_last", "sub-z"];
/// Objects below `conformance/list/sub`, as keys relative to `conformance/list`.
pub(super) const BELOW: &[&str] = &["sub/x", "sub/y/deep"];

/// More objects than one page of a listing has.
pub(super) const MANY: usize = 1100;

/// Puts the fixture.
pub async fn seed(store: &dyn ObjectStore) -> Result<()> {
    let mut objects = vec![
        (HELLO.to_owned(), Bytes::from_static(HELLO_BYTES)),
        (EMPTY.to_owned(), Bytes::new()),
        (LARGE.to_owned(), large()),
    ];
    for name in STRANGE {
        let text = Bytes::from_static(name.as_bytes());
        objects.push((format!("{ROOT}/keys/{name}"), text.clone()));
        objects.push((format!("{ROOT}/dirs/{name}/x"), text));
    }
    for name in LISTED.iter().chain(BELOW) {
        objects.push((format!("{ROOT}/list/{name}"), Bytes::from_static(b"{}")));
    }
    for n in 0..MANY {
        objects.push((many(n), Bytes::from_static(b".")));
    }
    let puts = futures::stream::iter(objects)
        .map(|(key, bytes)| async move { store.put(&Path::parse(key)?, bytes.into()).await });
    puts.buffer_unordered(16)
        .try_for_each(|_| async { Ok(()) })
        .await
}

/// Bytes of which every stretch of a few is found once only.
pub(super) fn large() -> Bytes {
    let words = (0..LARGE_LEN as u32 / 4).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes());
    words.collect::<Vec<u8>>().into()
}

pub(super) fn many(n: usize) -> String {
    format!("{ROOT}/many/{n:05}.json")
}
