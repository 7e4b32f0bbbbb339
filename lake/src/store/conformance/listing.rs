//! Checks of listings: prefixes, offsets, delimiters, pages, and keys that something may garble.

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use super::fixture::{BELOW, LISTED, MANY, ROOT, STRANGE, many};
use super::{Checked, ok, same};

/// Keys below a prefix, sorted: a store may list in any order.
async fn keys(
    store: &dyn ObjectStore,
    prefix: &str,
    offset: Option<&str>,
) -> Result<Vec<String>, String> {
    let prefix = Path::parse(prefix).map_err(|e| e.to_string())?;
    let listed = match offset {
        Some(offset) => {
            let offset = Path::parse(offset).map_err(|e| e.to_string())?;
            store.list_with_offset(Some(&prefix), &offset)
        }
        None => store.list(Some(&prefix)),
    };
    let objects: Vec<ObjectMeta> = ok("LIST", listed.try_collect().await)?;
    let mut keys: Vec<_> = objects.into_iter().map(|o| o.location.into()).collect();
    keys.sort();
    Ok(keys)
}

fn listed<'a>(names: impl IntoIterator<Item = &'a &'a str>) -> Vec<String> {
    let keys = names.into_iter().map(|name| format!("{ROOT}/list/{name}"));
    let mut keys: Vec<_> = keys.collect();
    keys.sort();
    keys
}

pub(super) async fn strange_keys(store: &dyn ObjectStore) -> Checked {
    for name in STRANGE {
        for key in [
            format!("{ROOT}/keys/{name}"),
            format!("{ROOT}/dirs/{name}/x"),
        ] {
            let path = Path::parse(&key).map_err(|e| e.to_string())?;
            let result = ok(&key, store.get(&path).await)?;
            same(&key, &result.meta.location, &path)?;
            same(&key, &ok(&key, result.bytes().await)?[..], name.as_bytes())?;
            same(
                &key,
                ok(&key, store.head(&path).await)?.size,
                name.len() as u64,
            )?;
        }
        let dir = format!("{ROOT}/dirs/{name}");
        same(
            "LIST below it",
            keys(store, &dir, None).await?,
            vec![format!("{dir}/x")],
        )?;
    }
    let mut wanted: Vec<_> = STRANGE.iter().map(|n| format!("{ROOT}/keys/{n}")).collect();
    wanted.sort();
    for (index, key) in wanted.iter().enumerate() {
        let after = keys(store, &format!("{ROOT}/keys"), Some(key)).await?;
        let rest = wanted.iter().skip(index + 1).cloned().collect();
        same(&format!("LIST after {key}"), after, rest)?;
    }
    same(
        "LIST of them all",
        keys(store, &format!("{ROOT}/keys"), None).await?,
        wanted,
    )?;
    let dirs = Path::from(format!("{ROOT}/dirs"));
    let result = ok("LIST", store.list_with_delimiter(Some(&dirs)).await)?;
    let mut prefixes: Vec<String> = result.common_prefixes.into_iter().map(Into::into).collect();
    prefixes.sort();
    let mut wanted: Vec<_> = STRANGE.iter().map(|n| format!("{ROOT}/dirs/{n}")).collect();
    wanted.sort();
    same("prefixes", prefixes, wanted)
}

pub(super) async fn prefixes(store: &dyn ObjectStore) -> Checked {
    let all = listed(LISTED.iter().chain(BELOW));
    same(
        "all",
        keys(store, &format!("{ROOT}/list"), None).await?,
        all,
    )?;
    let sub = keys(store, &format!("{ROOT}/list/sub"), None).await?;
    same("a prefix ends at a slash", sub, listed(BELOW))?;
    for prefix in ["list/su", "list/00.json", "no/such"] {
        let none = keys(store, &format!("{ROOT}/{prefix}"), None).await?;
        same(prefix, none, Vec::new())?;
    }
    let prefix = Path::from(format!("{ROOT}/list"));
    let objects: Vec<ObjectMeta> = ok("LIST", store.list(Some(&prefix)).try_collect().await)?;
    for object in objects {
        let head = ok("HEAD", store.head(&object.location).await)?;
        same("size of LIST and HEAD", object.size, head.size)?;
        if object.e_tag.is_some() {
            same("entity tag of LIST and HEAD", object.e_tag, head.e_tag)?;
        }
    }
    Ok(())
}

pub(super) async fn offsets(store: &dyn ObjectStore) -> Checked {
    let all = listed(LISTED.iter().chain(BELOW));
    // Keys that are there, keys that are not, and keys on either side of the prefix.
    let offsets = [
        "list/00.json",
        "list/01.json",
        "list/03",
        "list/sub",
        "list/sub/x",
        "a",
        "z",
    ];
    for offset in offsets {
        let offset = format!("{ROOT}/{offset}");
        let wanted = all.iter().filter(|key| **key > offset).cloned().collect();
        let got = keys(store, &format!("{ROOT}/list"), Some(&offset)).await?;
        same(&format!("after {offset}"), got, wanted)?;
    }
    Ok(())
}

pub(super) async fn delimiter(store: &dyn ObjectStore) -> Checked {
    let prefix = Path::from(format!("{ROOT}/list"));
    let result = ok("LIST", store.list_with_delimiter(Some(&prefix)).await)?;
    let mut objects: Vec<String> = result
        .objects
        .into_iter()
        .map(|o| o.location.into())
        .collect();
    objects.sort();
    same("objects", objects, listed(LISTED))?;
    let sub = Path::from(format!("{ROOT}/list/sub"));
    same("prefixes", result.common_prefixes, vec![sub])?;
    let root = ok("LIST", store.list_with_delimiter(None).await)?;
    let ours = Path::from(ROOT);
    same(
        "the root is listed",
        root.common_prefixes.contains(&ours),
        true,
    )?;
    let none = Path::from(format!("{ROOT}/no/such"));
    let none = ok("LIST", store.list_with_delimiter(Some(&none)).await)?;
    same(
        "nothing",
        none.objects.len() + none.common_prefixes.len(),
        0,
    )
}

pub(super) async fn pages(store: &dyn ObjectStore) -> Checked {
    let prefix = format!("{ROOT}/many");
    let wanted: Vec<_> = (0..MANY).map(many).collect();
    same(
        "more than a page",
        keys(store, &prefix, None).await?,
        wanted,
    )?;
    let offset = many(MANY - 3);
    let wanted = vec![many(MANY - 2), many(MANY - 1)];
    same(
        "the last ones",
        keys(store, &prefix, Some(&offset)).await?,
        wanted,
    )?;
    let prefix = Path::from(prefix);
    let result = ok("LIST", store.list_with_delimiter(Some(&prefix)).await)?;
    same("more than a page at one level", result.objects.len(), MANY)
}
