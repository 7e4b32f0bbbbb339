use std::fs;
use std::time::{Duration, Instant, SystemTime};

use object_store::memory::InMemory;
use object_store::{ObjectStoreExt as _, PutMode};
use tempfile::TempDir;

use super::*;

/// Names chosen so that the order of keys differs from the order of paths.
const KEYS: &[&str] = &[
    "a-b/x",
    "a.b",
    "a/1",
    "a/b.c",
    "a/b/2",
    "a/b-c",
    "a0",
    "A",
    ".hidden",
    ".h/x",
    "_delta_log/00000000000000000000.json",
    "_delta_log/_last_checkpoint",
    "x=A%2FA/f.parquet",
    "é/東京",
    "x y",
];

fn disk(keys: &[&str]) -> (TempDir, LocalStore) {
    let root = TempDir::new().unwrap();
    for key in keys {
        let path = root.path().join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, key).unwrap();
    }
    let store = LocalStore::new(root.path()).unwrap();
    (root, store)
}

async fn memory(keys: &[&str]) -> InMemory {
    let store = InMemory::new();
    for key in keys {
        let path = Path::parse(key).unwrap();
        store.put(&path, key.to_string().into()).await.unwrap();
    }
    store
}

async fn keys(stream: BoxStream<'static, Result<ObjectMeta>>) -> Vec<String> {
    let metas: Vec<ObjectMeta> = stream.try_collect().await.unwrap();
    metas.iter().map(|m| m.location.to_string()).collect()
}

/// What a listing must be, computed the slow way.
fn expected(prefix: &str, after: &str) -> Vec<String> {
    let below = |key: &str| prefix.is_empty() || key.starts_with(&format!("{prefix}/"));
    let mut keys: Vec<String> = KEYS
        .iter()
        .filter(|key| below(key) && **key > after)
        .map(ToString::to_string)
        .collect();
    keys.sort();
    keys
}

#[tokio::test]
async fn lists_in_the_order_of_keys_from_any_offset() {
    let (_root, store) = disk(KEYS);
    for prefix in ["", "a", "a/b", "_delta_log", "nowhere", "a.b"] {
        let path = Path::parse(prefix).unwrap();
        assert_eq!(
            keys(store.list(Some(&path))).await,
            expected(prefix, ""),
            "{prefix}"
        );
        let offsets = KEYS.iter().copied();
        for offset in offsets.chain(["0", "a", "a/", "a/b", "a/b/", "a/zz", "a00", "zzz", "_"]) {
            let Ok(after) = Path::parse(offset) else {
                continue;
            };
            assert_eq!(
                keys(store.list_with_offset(Some(&path), &after)).await,
                expected(prefix, after.as_ref()),
                "{prefix} after {offset}"
            );
        }
    }
}

#[tokio::test]
async fn pages_are_those_of_a_store_in_memory() {
    let (_root, store) = disk(KEYS);
    let other = super::super::pages::StreamPages(Arc::new(memory(KEYS).await));
    for prefix in ["", "a", "_delta_log", "nowhere"] {
        for delimiter in [false, true] {
            for limit in [1, 2, 3, 1000] {
                let mut after = None;
                let mut seen = Vec::new();
                loop {
                    let query = PageQuery {
                        prefix: Path::parse(prefix).unwrap(),
                        after: after.clone(),
                        delimiter,
                        limit,
                    };
                    let ours = store.page(query.clone()).await.unwrap();
                    let theirs = other.page(query).await.unwrap();
                    let names = |page: &Page| -> (Vec<String>, Vec<String>) {
                        let objects = page.objects.iter().map(|o| o.location.to_string());
                        let prefixes = page.prefixes.iter().map(ToString::to_string);
                        (objects.collect(), prefixes.collect())
                    };
                    assert_eq!(names(&ours), names(&theirs), "{prefix} {after:?} {limit}");
                    assert_eq!(ours.next(), theirs.next());
                    assert!(ours.len() <= limit);
                    let (objects, prefixes) = names(&ours);
                    seen.extend(objects);
                    seen.extend(prefixes);
                    after = ours.next();
                    if after.is_none() {
                        break;
                    }
                }
                let mut once = seen.clone();
                once.sort();
                once.dedup();
                assert_eq!(once.len(), seen.len(), "nothing comes twice: {seen:?}");
                if !delimiter {
                    assert_eq!(seen, expected(prefix, ""));
                }
            }
        }
    }
}

#[tokio::test]
async fn it_conforms() {
    let (_root, store) = disk(&[]);
    lake::store::conformance::seed(&store).await.unwrap();
    let deviations = lake::store::conformance::reads(&store).await;
    assert_eq!(deviations, Vec::<String>::new());
}

#[tokio::test]
async fn a_listing_says_what_a_read_says() {
    let (_root, store) = disk(KEYS);
    let listed: Vec<ObjectMeta> = store.list(None).try_collect().await.unwrap();
    assert_eq!(listed.len(), KEYS.len());
    for meta in listed {
        assert_eq!(store.head(&meta.location).await.unwrap(), meta);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_followed_inside_the_root_only() {
    use std::os::unix::fs::symlink;
    let outside = TempDir::new().unwrap();
    fs::create_dir(outside.path().join("dir")).unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    fs::write(outside.path().join("dir/secret"), "secret").unwrap();
    let (root, store) = disk(&["t/1", "t/sub/2"]);
    let at = |name: &str| root.path().join(name);
    symlink(outside.path().join("secret"), at("file-out")).unwrap();
    symlink(outside.path().join("dir"), at("dir-out")).unwrap();
    symlink("../../../../../../../../etc/hostname", at("relative-out")).unwrap();
    symlink(at("t/1"), at("file-in")).unwrap();
    symlink(at("t"), at("dir-in")).unwrap();
    symlink(root.path(), at("t/loop")).unwrap();
    symlink("nowhere", at("broken")).unwrap();

    let listed = keys(store.list(None)).await;
    assert!(listed.contains(&"file-in".to_owned()), "{listed:?}");
    assert!(listed.contains(&"dir-in/sub/2".to_owned()), "{listed:?}");
    assert!(
        !listed
            .iter()
            .any(|key| key.contains("out") || key.contains("broken")),
        "{listed:?}"
    );
    assert!(listed.len() < 20, "a loop ends: {listed:?}");

    for key in ["file-out", "dir-out/secret", "relative-out", "broken"] {
        let path = Path::parse(key).unwrap();
        let refused = store.get(&path).await.unwrap_err();
        assert!(
            matches!(refused, object_store::Error::NotFound { .. }),
            "{key}: {refused}"
        );
        assert!(store.get_range(&path, 0..1).await.is_err(), "{key}");
    }
    assert!(
        keys(store.list(Some(&Path::from("dir-out"))))
            .await
            .is_empty()
    );
    let new = Path::parse("dir-out/new").unwrap();
    assert!(store.put(&new, "x".into()).await.is_err());
    assert!(!outside.path().join("dir/new").exists());
    let linked = store.get(&Path::from("dir-in/sub/2")).await.unwrap();
    assert_eq!(linked.bytes().await.unwrap(), "t/sub/2");
}

#[tokio::test]
async fn reads_that_wait_together_get_each_its_own() {
    let names: Vec<String> = (0..500).map(|n| format!("d{}/{n}", n % 3)).collect();
    let keys: Vec<&str> = names.iter().map(String::as_str).collect();
    let (_root, store) = disk(&keys);
    let reads = keys.iter().map(|key| {
        let (store, path) = (&store, Path::from(*key));
        async move { store.get(&path).await?.bytes().await }
    });
    // Some are given up before they are answered; the others must not notice.
    let given_up: Vec<_> = (0..100)
        .map(|n| {
            let (store, path) = (store.clone(), Path::from(names[n].as_str()));
            tokio::spawn(async move { store.get(&path).await.map(drop) })
        })
        .collect();
    given_up.iter().for_each(tokio::task::JoinHandle::abort);
    let none = Path::from("d0/none");
    let (gone, found) = futures::join!(store.get(&none), futures::future::join_all(reads));
    assert!(matches!(gone, Err(object_store::Error::NotFound { .. })));
    for (key, bytes) in keys.iter().zip(found) {
        assert_eq!(bytes.unwrap(), key.as_bytes());
    }
    let below_a_file = store.get(&Path::from("d0/0/x")).await.unwrap_err();
    assert!(matches!(below_a_file, object_store::Error::NotFound { .. }));
}

#[tokio::test]
async fn large_objects_and_ranges_are_read_as_small_ones_are() {
    let (root, store) = disk(&[]);
    let bytes: Vec<u8> = (0..1_000_000u32).flat_map(u32::to_le_bytes).collect();
    fs::write(root.path().join("large"), &bytes).unwrap();
    let key = Path::from("large");
    let whole = store.get(&key).await.unwrap().bytes().await.unwrap();
    assert!(whole == bytes);
    for range in [0..4u64, 1_000..300_000, 3_999_990..4_000_000] {
        let expected = &bytes[range.start as usize..range.end as usize];
        assert!(store.get_range(&key, range).await.unwrap() == expected);
    }
    assert!(store.get_range(&key, 4_000_000..4_000_001).await.is_err());
}

#[tokio::test]
async fn unfinished_uploads_are_no_objects() {
    let (_root, store) = disk(&["a#1", "a#b", "b"]);
    assert_eq!(keys(store.list(None)).await, ["a#b", "b"]);
    let staged = store.get(&Path::parse("a#1").unwrap()).await.unwrap_err();
    assert!(matches!(staged, object_store::Error::NotFound { .. }));
}

#[tokio::test]
async fn a_second_create_of_one_key_loses() {
    let (_root, store) = disk(&[]);
    let key = Path::from("_delta_log/00000000000000000003.json");
    let create = || store.put_opts(&key, "x".into(), PutMode::Create.into());
    create().await.unwrap();
    let lost = create().await.unwrap_err();
    assert!(matches!(lost, object_store::Error::AlreadyExists { .. }));
}

#[tokio::test]
async fn a_change_is_seen_at_once() {
    let (root, store) = disk(&["d/1"]);
    for n in 2..60 {
        fs::write(root.path().join(format!("d/{n}")), "x").unwrap();
        assert_eq!(keys(store.list(None)).await.len(), n);
    }
    // Names are kept only once the directory has been quiet; then, too, a change is seen.
    let old = SystemTime::now() - Duration::from_secs(60);
    let set_old = |name: &str| {
        let directory = fs::File::open(root.path().join(name)).unwrap();
        directory.set_modified(old).unwrap();
    };
    set_old("d");
    set_old("");
    assert_eq!(keys(store.list(None)).await.len(), 59);
    assert_eq!(keys(store.list(None)).await.len(), 59);
    fs::write(root.path().join("d/60"), "x").unwrap();
    assert_eq!(keys(store.list(None)).await.len(), 60);
}

/// Not a measurement but a guard: the store of object_store takes seconds for this.
#[tokio::test]
async fn a_long_log_is_read_as_far_as_it_is_consumed() {
    let root = TempDir::new().unwrap();
    let log = root.path().join("_delta_log");
    fs::create_dir(&log).unwrap();
    for version in 0..20_000 {
        fs::File::create(log.join(format!("{version:020}.json"))).unwrap();
    }
    let old = SystemTime::now() - Duration::from_secs(60);
    fs::File::open(&log).unwrap().set_modified(old).unwrap();
    let store = LocalStore::new(root.path()).unwrap();
    let prefix = Path::from("_delta_log");
    let offset = Path::from(format!("_delta_log/{:020}.json", 15_000));
    for round in ["cold", "cached"] {
        let start = Instant::now();
        let stream = store.list_with_offset(Some(&prefix), &offset);
        let page: Vec<ObjectMeta> = stream.take(1000).try_collect().await.unwrap();
        println!("{round}: {:?}", start.elapsed());
        assert_eq!(page.len(), 1000);
        let first = page.first().unwrap().location.to_string();
        assert_eq!(first, format!("_delta_log/{:020}.json", 15_001));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_creates_and_swaps_as_a_store_must() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(LocalStore::new(folder.path()).unwrap());
    let deviations = lake::store::conformance::writes(&store, "scratch").await;
    assert_eq!(deviations, Vec::<String>::new());
    let listed: Vec<String> = store
        .list(None)
        .map_ok(|meta| meta.location.to_string())
        .try_collect()
        .await
        .unwrap();
    assert_eq!(
        listed,
        [
            "scratch/contended",
            "scratch/created",
            "scratch/swapped",
            "scratch/there"
        ]
    );
    assert!(folder.path().join(super::swap::LOCK).exists());
    let lock = Path::parse(super::swap::LOCK).unwrap();
    assert!(store.get(&lock).await.is_err());
}

#[test]
fn twenty_threads_swap_one_object_and_each_time_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    let key = Path::from("hour=13.json");
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
    };
    let first = LocalStore::new(folder.path()).unwrap();
    runtime().block_on(first.put(&key, "0".into())).unwrap();
    for round in 0..10 {
        let tag = runtime().block_on(first.head(&key)).unwrap().e_tag;
        let barrier = std::sync::Barrier::new(20);
        let won: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..20)
                .map(|n| {
                    let (barrier, tag, key) = (&barrier, tag.clone(), &key);
                    // Each as a process of its own would: over its own store.
                    let store = LocalStore::new(folder.path()).unwrap();
                    scope.spawn(move || {
                        let version = object_store::UpdateVersion {
                            e_tag: tag,
                            version: None,
                        };
                        let options = PutOptions::from(object_store::PutMode::Update(version));
                        barrier.wait();
                        let put = store.put_opts(key, format!("{round} {n}").into(), options);
                        match runtime().block_on(put) {
                            Ok(_) => Some(n),
                            Err(object_store::Error::Precondition { .. }) => None,
                            Err(error) => panic!("{error}"),
                        }
                    })
                })
                .collect();
            let told = threads.into_iter().map(|thread| thread.join().unwrap());
            told.flatten().collect()
        });
        assert_eq!(won.len(), 1, "{won:?}");
        let bytes = runtime().block_on(async { first.get(&key).await.unwrap().bytes().await });
        assert_eq!(bytes.unwrap(), format!("{round} {}", won[0]).as_bytes());
    }
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_is_taken_away_through_a_link() {
    use std::os::unix::fs::symlink;
    let (root, store) = disk(&["t/p=a/1", "t/p=a/2", "t/x"]);
    let at = |key: &str| root.path().join(key);
    symlink("p=a", at("t/alias")).unwrap();
    symlink("t", at("u")).unwrap();
    let path = |key: &str| Path::from(key);
    let denied = |e: object_store::Error| {
        let is = matches!(&e, object_store::Error::PermissionDenied { .. });
        assert!(is && e.to_string().contains("through a link"), "{e}");
    };
    for key in ["t/alias/1", "u/x", "u/alias/1", "u/p=a/1"] {
        denied(store.delete(&path(key)).await.unwrap_err());
        denied(store.rename(&path(key), &path("t/y")).await.unwrap_err());
    }
    // Many at once: each is answered for, in order.
    let asked = ["t/p=a/2", "t/alias/1", "t/x"].map(|key| Ok(path(key)));
    let told: Vec<_> = store
        .delete_stream(futures::stream::iter(asked).boxed())
        .collect()
        .await;
    let told: Vec<bool> = told.iter().map(Result::is_ok).collect();
    assert_eq!(told, [true, false, true]);
    assert!(at("t/p=a/1").exists() && !at("t/p=a/2").exists());
    // A link itself is no object of anybody else.
    store.delete(&path("t/alias")).await.unwrap();
    assert!(at("t/p=a/1").exists() && !at("t/alias").is_symlink());
}

#[cfg(unix)]
#[tokio::test]
async fn a_survey_tells_what_listings_cannot() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;
    use std::sync::Arc;

    use lake::store::survey::{exists, survey};

    let (root, store) = disk(&["t/p=a/1", "t/p=a/f.parquet#1", "t/x", "other"]);
    let at = |key: &str| root.path().join(key);
    symlink("p=a", at("t/alias")).unwrap();
    symlink("/etc", at("t/out")).unwrap();
    symlink("t", at("u")).unwrap();
    fs::write(at("t").join(OsStr::from_bytes(b"\xff")), "12").unwrap();
    fs::write(at("t/a\u{1}b"), "123").unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    let told = survey(&store, &Path::from("t")).await.unwrap();
    assert_eq!(told.really, None);
    assert_eq!(
        (&*told.links, &*told.targets),
        (&["t/alias".to_owned()][..], &["t/p=a".to_owned()][..])
    );
    let staged = Path::parse("t/p=a/f.parquet#1").unwrap();
    assert_eq!(told.unfinished.len(), 1);
    assert_eq!(
        (&told.unfinished[0].key, told.unfinished[0].bytes),
        (&staged, 17)
    );
    let mut nameless: Vec<_> = told
        .nameless
        .iter()
        .map(|n| (n.name.as_str(), n.bytes))
        .collect();
    nameless.sort_unstable();
    assert_eq!(
        nameless,
        [("t/a\u{1}b", 3), ("t/out", 0), ("t/\u{fffd}", 2)]
    );
    let through = survey(&store, &Path::from("u")).await.unwrap();
    assert_eq!(through.really.as_deref(), Some("t"));

    // Still no object, but it can be looked for and deleted.
    assert!(store.head(&staged).await.is_err());
    assert!(exists(&store, &staged).await.unwrap());
    store.delete(&staged).await.unwrap();
    assert!(!exists(&store, &staged).await.unwrap());
    assert!(!at("t/p=a/f.parquet#1").exists());
}
