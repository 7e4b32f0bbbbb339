//! One file of the built page.

use std::borrow::Cow;
use std::path::PathBuf;

use rust_embed::EmbeddedFile;

/// The files of the page that a binary carries, by name.
pub type Embedded = fn(&str) -> Option<EmbeddedFile>;

/// Where files come from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Embedded(Embedded),
    Disk(PathBuf),
}

/// A file's bytes and what changes with them.
pub(super) struct Asset {
    pub(super) bytes: Cow<'static, [u8]>,
    pub(super) tag: String,
}

impl Source {
    /// The file of a name. A name is plain segments: nothing in it is decoded or resolved.
    pub(super) fn get(&self, name: &str) -> Option<Asset> {
        let plain = |segment: &str| {
            !segment.is_empty()
                && !segment.starts_with('.')
                && segment
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
        };
        if !name.split('/').all(plain) {
            return None;
        }
        match self {
            Self::Embedded(file) => {
                let file = file(name)?;
                let hash = file.metadata.sha256_hash();
                Some(Asset {
                    bytes: file.data,
                    tag: hex(hash.get(..16).unwrap_or(&hash)),
                })
            }
            Self::Disk(directory) => {
                let path = directory.join(name);
                let meta = std::fs::metadata(&path).ok().filter(|m| m.is_file())?;
                let modified = meta.modified().ok()?;
                let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
                Some(Asset {
                    bytes: std::fs::read(&path).ok()?.into(),
                    tag: format!("{:x}-{:x}", since.as_micros(), meta.len()),
                })
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Whether a name holds a hash of its content, as Trunk writes it: `app-0123456789abcdef.js`.
pub(super) fn is_hashed(name: &str) -> bool {
    name.split(['-', '.', '_']).any(|part| {
        part.len() == 16
            && part
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    })
}

/// Whether a name is that of a file and never of a page.
pub(super) fn is_asset_name(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    matches!(
        extension,
        Some(
            "js" | "mjs"
                | "wasm"
                | "css"
                | "map"
                | "br"
                | "gz"
                | "svg"
                | "png"
                | "ico"
                | "woff2"
                | "webmanifest"
        )
    )
}

/// The type a browser needs to be told.
pub(super) fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json" | "map") => "application/json",
        Some("webmanifest") => "application/manifest+json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
