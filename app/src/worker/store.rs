//! A zone as a store: its reads go to the server, which signs them.
//!
//! Small reads that are asked for together travel together; see [`batch`]. A read nobody waits for
//! is taken back. Nothing can be written through this store.

mod batch;
mod body;
mod failure;
mod fetch;
mod list;
mod object;

use std::fmt;
use std::rc::Rc;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use lake::wire::http::BatchRead;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use send_wrapper::SendWrapper;

use batch::{Batcher, Turn};

/// Reads larger than this travel alone, as a stream.
const SMALL: u64 = 1024 * 1024;

/// What may stand in a part of a URL as it is.
const OPAQUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// One zone of a server.
#[derive(Clone)]
pub struct HttpStore {
    zone: String,
    url: String,
    batcher: SendWrapper<Rc<Batcher>>,
}

impl HttpStore {
    /// The zone of this name at the server that answers at `base`, without a slash at the end:
    /// empty for the worker's own host.
    pub fn new(base: &str, zone: &str) -> Self {
        let url = format!("{base}/api/zones/{}", encode(zone));
        Self {
            zone: zone.to_owned(),
            batcher: SendWrapper::new(Batcher::new(format!("{url}/batch"))),
            url,
        }
    }

    fn object_url(&self, location: &Path) -> String {
        format!("{}/object?key={}", self.url, encode(location.as_ref()))
    }

    async fn read(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if options.version.is_some() {
            return Err(refused("get_opts with a version"));
        }
        if let Some(range) = &options.range {
            let valid = range.is_valid();
            valid.map_err(|e| failure::generic(lake::Error::invalid(e.to_string())))?;
        }
        if !may_travel_together(&options) {
            return object::get(&self.object_url(location), location, &options).await;
        }
        let read = BatchRead {
            key: location.to_string(),
            range: options.range.as_ref().map(GetRange::to_string),
        };
        match self.batcher.ask(read).await? {
            Turn::Alone(seat) => {
                let result = object::get(&self.object_url(location), location, &options).await;
                drop(seat);
                result
            }
            Turn::Answered(header, bytes) => {
                object::result_from_frame(location, &options, header, bytes)
            }
        }
    }
}

/// Whether a read is small as far as is known, and needs nothing that a batch cannot say.
fn may_travel_together(options: &GetOptions) -> bool {
    let small = match &options.range {
        Some(GetRange::Bounded(range)) => range.end - range.start <= SMALL,
        Some(GetRange::Suffix(length)) => *length <= SMALL,
        Some(GetRange::Offset(_)) => false,
        None => true,
    };
    // The tag of an answer is compared here. An object that has not changed need not be sent.
    small && !options.head && options.if_none_match.is_none() && options.if_modified_since.is_none()
}

/// Text as one part of a URL.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, OPAQUE).to_string()
}

fn refused(operation: &str) -> Error {
    Error::NotImplemented {
        operation: operation.to_owned(),
        implementer: "the browser's store".to_owned(),
    }
}

impl fmt::Display for HttpStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "zone {}", self.zone)
    }
}

impl fmt::Debug for HttpStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HttpStore").field(&self.url).finish()
    }
}

#[async_trait]
impl ObjectStore for HttpStore {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        SendWrapper::new(self.read(location, options)).await
    }

    /// Each range is read by itself: those that are small travel together anyway.
    async fn get_ranges(
        &self,
        location: &Path,
        ranges: &[std::ops::Range<u64>],
    ) -> Result<Vec<bytes::Bytes>> {
        let reads = ranges.iter().map(|range| async {
            let options = GetOptions {
                range: Some(range.clone().into()),
                ..GetOptions::default()
            };
            self.get_opts(location, options).await?.bytes().await
        });
        futures::future::try_join_all(reads).await
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        SendWrapper::new(list::objects(&self.url, prefix, None)).boxed()
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        SendWrapper::new(list::objects(&self.url, prefix, Some(offset))).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        SendWrapper::new(list::level(&self.url, prefix)).await
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        Err(refused("put_opts"))
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(refused("put_multipart_opts"))
    }

    fn delete_stream(
        &self,
        _: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let refusal = Err(refused("delete_stream"));
        futures::stream::once(std::future::ready(refusal)).boxed()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        Err(refused("copy_opts"))
    }
}
