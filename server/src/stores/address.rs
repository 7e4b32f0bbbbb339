//! Where data lies: a URL taken apart once, so that containment is never a question of text.

use std::fmt;
use std::path::{Path as DiskPath, PathBuf};

use lake::error::redacted;
use lake::{Error, Result};
use object_store::path::Path;
use url::Url;

/// Which kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// The local disk.
    File,
    /// Amazon S3 and what speaks its language.
    S3,
    /// Google Cloud Storage.
    Gs,
    /// Azure Blob Storage and Data Lake Storage.
    Azure,
    /// This process's memory: for tests.
    Memory,
}

/// A place in a store: the store, the bucket or container, and a prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    scheme: Scheme,
    /// Bucket, or `container@account.host`; empty on disk.
    bucket: String,
    prefix: Path,
}

impl Address {
    /// Reads a URL. Its path is decoded once.
    pub fn parse(text: &str) -> Result<Self> {
        let refused = |why: String| Error::invalid(why).at("url", redacted(text));
        let url = Url::parse(text)
            .map_err(|e| refused("this is not a URL of a store".to_owned()).because(e))?;
        if url.password().is_some() {
            return Err(refused(
                "a URL must not hold a password: credentials come from the environment".to_owned(),
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused(
                "a store's URL has neither `?` nor `#`: write them as %3F and %23".to_owned(),
            ));
        }
        let scheme = match url.scheme() {
            "file" => Scheme::File,
            "memory" => Scheme::Memory,
            "s3" | "s3a" => Scheme::S3,
            "gs" => Scheme::Gs,
            "az" | "azure" | "adl" | "abfs" | "abfss" => Scheme::Azure,
            other => {
                return Err(refused(format!(
                    "`{other}://` is not a store this build knows: it reads file, s3, gs, az and abfss"
                )));
            }
        };
        if scheme == Scheme::File {
            let path = url.to_file_path().map_err(|()| {
                refused("a file URL is `file:///` and an absolute path".to_owned())
            })?;
            return Self::from_disk(&path);
        }
        let host = url.host_str().unwrap_or_default();
        let bucket = match url.username() {
            "" => host.to_owned(),
            user if scheme == Scheme::Azure => format!("{user}@{host}"),
            _ => {
                return Err(refused(
                    "a URL must not hold a user: credentials come from the environment".to_owned(),
                ));
            }
        };
        if bucket.is_empty() && scheme != Scheme::Memory {
            return Err(refused("the URL names no bucket".to_owned()));
        }
        let path = url.path().trim_start_matches('/').trim_end_matches('/');
        let prefix = Path::from_url_path(path)
            .map_err(|e| refused("the URL's path is not a key".to_owned()).because(e))?;
        Ok(Self {
            scheme,
            bucket,
            prefix,
        })
    }

    /// A directory of the local disk. Where it exists, links are followed, so that two names of
    /// one directory are one address.
    pub fn from_disk(path: &DiskPath) -> Result<Self> {
        let absolute = std::path::absolute(path).map_err(|e| {
            Error::invalid("not a path")
                .because(e)
                .at("path", path.display())
        })?;
        let real = absolute.canonicalize().unwrap_or(absolute);
        let refused = || Error::invalid("this path cannot be a key").at("path", path.display());
        let text = real.to_str().ok_or_else(refused)?;
        let prefix = Path::parse(text).map_err(|e| refused().because(e))?;
        Ok(Self {
            scheme: Scheme::File,
            bucket: String::new(),
            prefix,
        })
    }

    /// Which kind of store.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Bucket or container, as the URL names it.
    pub fn bucket(&self) -> &str {
        &self.bucket
    }

    /// Key prefix in the bucket; on disk the path without its first slash.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// The directory, where this is on disk.
    pub fn disk(&self) -> Option<PathBuf> {
        (self.scheme == Scheme::File).then(|| DiskPath::new("/").join(self.prefix.as_ref()))
    }

    /// What is left of `other` below this address, segment by segment; `None` where it lies
    /// elsewhere.
    pub fn below(&self, other: &Self) -> Option<Path> {
        if self.scheme != other.scheme || self.bucket != other.bucket {
            return None;
        }
        Some(other.prefix.prefix_match(&self.prefix)?.collect())
    }

    /// This address with `key` below it.
    pub fn join(&self, key: &Path) -> Self {
        Self {
            scheme: self.scheme,
            bucket: self.bucket.clone(),
            prefix: self.prefix.parts().chain(key.parts()).collect(),
        }
    }

    /// The URL without a path, as object_store's builders want it.
    pub(super) fn bucket_url(&self) -> String {
        match self.scheme {
            Scheme::File => "file:///".to_owned(),
            Scheme::Memory => format!("memory://{}/", self.bucket),
            Scheme::S3 => format!("s3://{}/", self.bucket),
            Scheme::Gs => format!("gs://{}/", self.bucket),
            Scheme::Azure if self.bucket.contains('@') => format!("abfss://{}/", self.bucket),
            Scheme::Azure => format!("az://{}/", self.bucket),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut url = self.bucket_url();
        let parts: Vec<String> = self
            .prefix
            .parts()
            .map(|part| percent_encoding::utf8_percent_encode(part.as_ref(), SEGMENT).to_string())
            .collect();
        url.push_str(&parts.join("/"));
        if !url.ends_with('/') {
            url.push('/');
        }
        f.write_str(&url)
    }
}

/// What a path segment of a URL cannot hold as it is.
const SEGMENT: &percent_encoding::AsciiSet = &percent_encoding::CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'`')
    .add(b'{')
    .add(b'}');
