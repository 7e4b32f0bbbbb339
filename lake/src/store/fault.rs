//! A store that fails where it is told to: the errors, waits and damage of real ones, on purpose.

mod rule;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    Result, UploadPart,
};

use super::Request;
use rule::Then;
pub use rule::{Change, Failure, Match, Rule, Wait};

/// A store that follows [`Rule`]s before it asks the real one.
pub struct FaultStore {
    inner: Arc<dyn ObjectStore>,
    rules: Mutex<Vec<Rule>>,
}

impl FaultStore {
    /// A store in which nothing goes wrong yet.
    pub fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self {
            inner,
            rules: Mutex::default(),
        }
    }

    /// From now on, what the rule says. Rules apply in the order in which they were added.
    pub fn add(&self, rule: Rule) {
        self.lock().push(rule);
    }

    /// From now on, nothing goes wrong.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Rule>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the rules say of this call.
    fn fate(&self, request: Request, key: &str) -> Vec<Then> {
        fate(&self.lock(), request, key)
    }

    async fn around<T, F: Future<Output = Result<T>>>(
        &self,
        request: Request,
        key: &Path,
        call: impl Fn() -> F,
    ) -> Result<(T, Vec<Then>)> {
        let fate = self.fate(request, key.as_ref());
        Ok((follow(&fate, key, call).await?, fate))
    }

    fn listed(
        &self,
        prefix: Option<&Path>,
        list: impl Fn() -> BoxStream<'static, Result<ObjectMeta>>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let prefix = prefix.cloned().unwrap_or_default();
        let fate = self.fate(Request::List, prefix.as_ref());
        let first = twice(&fate).then(&list);
        let told = list();
        let stream = stream::once(async move {
            before(&fate, &prefix).await?;
            if let Some(first) = first {
                first.for_each(|_| std::future::ready(())).await;
            }
            Ok::<_, object_store::Error>(told)
        });
        stream.try_flatten().boxed()
    }
}

async fn before(fate: &[Then], key: &Path) -> Result<()> {
    for then in fate {
        match then {
            Then::Wait(wait) => wait().await,
            Then::Fail(failure) => return Err(failure.error(key)),
            Then::FailAfter(_) | Then::Twice | Then::Damage(_) | Then::Cut(_) | Then::Forget => {}
        }
    }
    Ok(())
}

/// Damages or cuts the bytes of an answer.
async fn spoil(result: GetResult, fate: &[Then]) -> Result<GetResult> {
    let mut change: Option<&Change> = None;
    let mut cut = None;
    for then in fate {
        match then {
            Then::Damage(c) => change = Some(c),
            Then::Cut(after) => cut = Some(*after),
            Then::Fail(_) | Then::FailAfter(_) | Then::Wait(_) | Then::Twice | Then::Forget => {}
        }
    }
    if change.is_none() && cut.is_none() {
        return Ok(result);
    }
    let (meta, range) = (result.meta.clone(), result.range.clone());
    let (attributes, extensions) = (result.attributes.clone(), result.extensions.clone());
    let mut bytes = result.bytes().await?;
    if let Some(change) = change {
        bytes = change(bytes);
    }
    let mut pieces = vec![Ok(bytes)];
    if let (Some(after), Some(Ok(bytes))) = (cut, pieces.first_mut())
        && after < bytes.len() as u64
    {
        bytes.truncate(after as usize);
        pieces.push(Err(Failure::Generic.error(&meta.location)));
    }
    Ok(GetResult {
        payload: GetResultPayload::Stream(stream::iter(pieces).boxed()),
        meta,
        range,
        attributes,
        extensions,
    })
}

/// An upload in parts: each part, its completion and its abortion are PUTs of the key.
///
/// A part that arrives twice is one part, for it has a number. An upload that is over is not there
/// for a second completion or abortion.
struct FaultUpload {
    inner: Box<dyn MultipartUpload>,
    location: Path,
    rules: Vec<Rule>,
}

impl FaultUpload {
    fn fate(&self) -> Vec<Then> {
        fate(&self.rules, Request::Put, self.location.as_ref())
    }
}

#[async_trait]
impl MultipartUpload for FaultUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (fate, location) = (self.fate(), self.location.clone());
        let part = self.inner.put_part(data);
        async move { follow_once(&fate, &location, part).await }.boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let (fate, location) = (self.fate(), self.location.clone());
        let told = follow_once(&fate, &location, self.inner.complete()).await?;
        over(&fate, &location)?;
        Ok(told)
    }

    async fn abort(&mut self) -> Result<()> {
        let (fate, location) = (self.fate(), self.location.clone());
        let told = follow_once(&fate, &location, self.inner.abort()).await?;
        over(&fate, &location)?;
        Ok(told)
    }
}

impl fmt::Debug for FaultUpload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultUpload({:?})", self.inner)
    }
}

fn fate(rules: &[Rule], request: Request, key: &str) -> Vec<Then> {
    let taken = rules.iter().filter(|rule| rule.takes(request, key));
    taken.map(|rule| rule.then.clone()).collect()
}

fn twice(fate: &[Then]) -> bool {
    fate.iter().any(|then| matches!(then, Then::Twice))
}

/// The second answer to the end of an upload.
fn over(fate: &[Then], key: &Path) -> Result<()> {
    match twice(fate) {
        true => Err(Failure::NotFound.error(key)),
        false => Ok(()),
    }
}

/// A call, and what becomes of it.
async fn follow<T, F: Future<Output = Result<T>>>(
    fate: &[Then],
    key: &Path,
    call: impl Fn() -> F,
) -> Result<T> {
    let all = async {
        if twice(fate) {
            let _ = call().await;
        }
        call().await
    };
    follow_once(fate, key, all).await
}

/// The same for what is called once, whatever happens.
async fn follow_once<T>(
    fate: &[Then],
    key: &Path,
    call: impl Future<Output = Result<T>>,
) -> Result<T> {
    before(fate, key).await?;
    let answer = call.await?;
    for then in fate {
        if let Then::FailAfter(failure) = then {
            return Err(failure.error(key));
        }
    }
    Ok(answer)
}

impl fmt::Display for FaultStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "faulty {}", self.inner)
    }
}

impl fmt::Debug for FaultStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FaultStore({:?})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for FaultStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        mut opts: PutOptions,
    ) -> Result<PutResult> {
        if self
            .lock()
            .iter()
            .any(|rule| rule.forgets(location.as_ref()))
        {
            opts.mode = PutMode::Overwrite;
        }
        let call = || {
            let (payload, opts) = (payload.clone(), opts.clone());
            self.inner.put_opts(location, payload, opts)
        };
        Ok(self.around(Request::Put, location, call).await?.0)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let call = || self.inner.put_multipart_opts(location, opts.clone());
        let (inner, _) = self.around(Request::Put, location, call).await?;
        Ok(Box::new(FaultUpload {
            inner,
            location: location.clone(),
            rules: self.lock().clone(),
        }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let request = match options.head {
            true => Request::Head,
            false => Request::Get,
        };
        let call = || self.inner.get_opts(location, options.clone());
        let (result, fate) = self.around(request, location, call).await?;
        match request {
            Request::Get => spoil(result, &fate).await,
            _ => Ok(result),
        }
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        // The stream outlives this call, so each key's fate is decided from a copy of the rules.
        let rules = self.lock().clone();
        let inner = Arc::clone(&self.inner);
        let deleted = locations.then(move |location| {
            let fate = location.as_ref().map_or_else(
                |_| Vec::new(),
                |key| fate(&rules, Request::Delete, key.as_ref()),
            );
            let inner = Arc::clone(&inner);
            async move {
                let location = location?;
                let delete = || async {
                    // Memory says yes to a delete of nothing. A disk, Google and Azure do not.
                    if twice(&fate) {
                        inner.head(&location).await?;
                    }
                    inner.delete(&location).await
                };
                follow(&fate, &location, delete).await?;
                Ok(location)
            }
        });
        deleted.boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.listed(prefix, || self.inner.list(prefix))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.listed(prefix, || self.inner.list_with_offset(prefix, offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let root = Path::default();
        let call = || self.inner.list_with_delimiter(prefix);
        let key = prefix.unwrap_or(&root);
        Ok(self.around(Request::List, key, call).await?.0)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let call = || self.inner.copy_opts(from, to, options.clone());
        self.around(Request::Copy, to, call).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::Error;
    use object_store::memory::InMemory;

    async fn faulty() -> FaultStore {
        let inner = InMemory::new();
        for key in ["log/1.json", "log/2.json"] {
            inner.put(&Path::from(key), "hello".into()).await.unwrap();
        }
        FaultStore::new(Arc::new(inner))
    }

    #[tokio::test]
    async fn the_nth_matching_call_fails() {
        let store = faulty().await;
        let rule = Rule::on(Request::Get).key("2.json").nth(2);
        let rule = rule.fails(Failure::PermissionDenied);
        store.add(rule.clone());
        let (one, two) = (Path::from("log/1.json"), Path::from("log/2.json"));
        store.get(&one).await.unwrap();
        store.get(&two).await.unwrap();
        let error = store.get(&two).await.unwrap_err();
        assert!(matches!(error, Error::PermissionDenied { .. }), "{error}");
        store.get(&two).await.unwrap();
        assert_eq!(rule.seen(), 3);
    }

    #[tokio::test]
    async fn bytes_are_damaged_and_cut() {
        let store = faulty().await;
        let path = Path::from("log/1.json");
        store.add(Rule::on(Request::Get).damages(|b| b.slice(1..)));
        let bytes = store.get(&path).await.unwrap().bytes().await.unwrap();
        assert_eq!(&bytes[..], b"ello");
        store.clear();
        store.add(Rule::on(Request::Get).cuts(3));
        let result = store.get(&path).await.unwrap();
        assert!(result.bytes().await.is_err());
    }

    #[tokio::test]
    async fn a_lost_answer_leaves_the_object() {
        let store = faulty().await;
        let path = Path::from("log/3.json");
        store.add(Rule::on(Request::Put).fails_after(Failure::Generic));
        assert!(store.put(&path, "x".into()).await.is_err());
        assert!(store.head(&path).await.is_ok());
        store.add(Rule::on(Request::Delete).fails_after(Failure::Generic));
        assert!(store.delete(&path).await.is_err());
        assert!(store.head(&path).await.is_err());
    }

    #[tokio::test]
    async fn the_second_answer_is_told() {
        let store = faulty().await;
        let path = Path::from("log/3.json");
        store.add(Rule::on(None).twice());
        let create = store.put_opts(&path, "x".into(), PutMode::Create.into());
        let error = create.await.unwrap_err();
        assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
        let tag = store.head(&path).await.unwrap().e_tag;
        let update = PutMode::Update(object_store::UpdateVersion {
            e_tag: tag,
            version: None,
        });
        let update = store.put_opts(&path, "y".into(), update.into());
        let error = update.await.unwrap_err();
        assert!(matches!(error, Error::Precondition { .. }), "{error}");
        let bytes = store.get(&path).await.unwrap().bytes().await.unwrap();
        assert_eq!(&bytes[..], b"y");
        let error = store.delete(&path).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
        let listed: Vec<_> = store.list(None).try_collect().await.unwrap();
        assert_eq!(listed.len(), 2);

        let mut upload = store.put_multipart(&path).await.unwrap();
        upload.put_part("one".into()).await.unwrap();
        upload.put_part("two".into()).await.unwrap();
        let error = upload.complete().await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
        let bytes = store.get(&path).await.unwrap().bytes().await.unwrap();
        assert_eq!(&bytes[..], b"onetwo");
    }

    #[tokio::test]
    async fn listings_fail_when_they_are_read() {
        let store = faulty().await;
        store.add(Rule::on(Request::List).key("log").fails(Failure::Generic));
        let prefix = Path::from("log");
        let listed: Result<Vec<_>> = store.list(Some(&prefix)).try_collect().await;
        assert!(listed.is_err());
        assert!(store.list_with_delimiter(Some(&prefix)).await.is_err());
        let root: Vec<_> = store.list(None).try_collect().await.unwrap();
        assert_eq!(root.len(), 2);
    }
}
