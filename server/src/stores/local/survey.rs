//! What lies in a directory and is no plain object: links, unfinished uploads, names that are no
//! keys.

use std::fs::DirEntry;
use std::io;

use futures::StreamExt as _;
use lake::store::survey::{Nameless, Surveyed, Unfinished};
use lake::table::Time;
use object_store::path::{Path, PathPart};
use object_store::{Attributes, Extensions, GetResult, GetResultPayload, ObjectMeta};

use super::tree::{Tree, object_meta};
use super::walk::is_staged;
use super::{Result, io_error};

/// Looks through a folder of the tree. No link is followed.
pub(super) fn look(tree: &Tree, folder: &str) -> io::Result<Surveyed> {
    let mut told = Surveyed::default();
    let start = tree.path(folder);
    let real = match start.canonicalize() {
        Ok(real) => real,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(told),
        Err(e) => return Err(e),
    };
    if real != start {
        told.really = Some(tree.key(&real).unwrap_or_else(|| folder.to_owned()));
        return Ok(told);
    }
    let mut folders = vec![(start, folder.to_owned())];
    while let Some((directory, key)) = folders.pop() {
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            // It went since its name was read.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        };
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            let name = entry.file_name();
            let below = |name: &str| match key.as_str() {
                "" => name.to_owned(),
                key => format!("{key}/{name}"),
            };
            let Some(name) = name.to_str().filter(|name| PathPart::parse(name).is_ok()) else {
                let shown = below(&name.to_string_lossy());
                let why = "its name can be no key";
                told.nameless.extend(nameless(&entry, shown, why)?);
                continue;
            };
            let key = below(name);
            if kind.is_symlink() {
                let real = tree.inside(&entry.path()).and_then(|real| tree.key(&real));
                match real {
                    Some(real) => {
                        told.targets.push(real);
                        told.links.push(key);
                    }
                    None => {
                        let why = "a link that leads nowhere, or out of the zone";
                        told.nameless.extend(nameless(&entry, key, why)?);
                    }
                }
            } else if kind.is_dir() {
                folders.push((entry.path(), key));
            } else if kind.is_file() && is_staged(name) {
                told.unfinished.extend(upload(&entry, key)?);
            } else if !kind.is_file() {
                told.nameless
                    .extend(nameless(&entry, key, "neither a file nor a folder")?);
            }
        }
    }
    Ok(told)
}

/// What the disk says of an entry itself; `None` where it has gone since its name was read.
fn stat(entry: &DirEntry) -> io::Result<Option<std::fs::Metadata>> {
    match entry.metadata() {
        Ok(meta) => Ok(Some(meta)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

fn nameless(entry: &DirEntry, name: String, why: &'static str) -> io::Result<Option<Nameless>> {
    let of = |meta: std::fs::Metadata| Nameless {
        name,
        bytes: if meta.is_file() { meta.len() } else { 0 },
        why,
    };
    Ok(stat(entry)?.map(of))
}

fn upload(entry: &DirEntry, key: String) -> io::Result<Option<Unfinished>> {
    let Some(meta) = stat(entry)? else {
        return Ok(None);
    };
    let key = Path::parse(key).map_err(io::Error::other)?;
    let meta = object_meta(key, &meta);
    Ok(Some(Unfinished {
        key: meta.location,
        bytes: meta.size,
        modified: Time(meta.last_modified.timestamp_millis()),
    }))
}

/// An unfinished upload of this key, if that is what it names.
pub(super) fn unfinished(tree: &Tree, key: Path) -> Result<Option<ObjectMeta>> {
    let text = key.to_string();
    if !key.filename().is_some_and(is_staged) || tree.escapes(&text) {
        return Ok(None);
    }
    match tree.path(&text).symlink_metadata() {
        Ok(meta) if meta.is_file() => Ok(Some(object_meta(key, &meta))),
        Ok(_) => Ok(None),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(io_error(e, &text)),
    }
}

/// The answer to a HEAD.
pub(super) fn headed(meta: ObjectMeta) -> GetResult {
    GetResult {
        payload: GetResultPayload::Stream(futures::stream::empty().boxed()),
        range: 0..meta.size,
        meta,
        attributes: Attributes::default(),
        extensions: Extensions::default(),
    }
}
