//! Reads of objects, gathered: whoever waits for a thread that may block waits with the others, so
//! that a hundred thousand small objects cost some thousand turns on such threads and not three
//! each.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::StreamExt as _;
use object_store::path::Path;
use object_store::{Attributes, GetOptions, GetResult, GetResultPayload, ObjectMeta};
use tokio::sync::oneshot;

use super::tree::{Tree, object_meta};
use super::walk::is_staged;
use super::{Result, io_error};

/// What is not larger comes with the answer; of the rest the answer is an open file.
const SMALL: u64 = 256 * 1024;

/// Reads that a thread takes at once.
const TURN: usize = 8;

/// Waiting reads for which another thread is asked for.
const WAITING: usize = 16;

/// Threads that read at once.
const READERS: usize = 16;

/// Where reads of one tree wait.
#[derive(Debug)]
pub(super) struct Desk {
    tree: Arc<Tree>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    reads: VecDeque<Read>,
    readers: usize,
}

#[derive(Debug)]
struct Read {
    location: Path,
    options: GetOptions,
    answer: oneshot::Sender<Result<GetResult>>,
}

impl Desk {
    pub(super) fn new(tree: Arc<Tree>) -> Self {
        Self {
            tree,
            waiting: Mutex::default(),
        }
    }

    /// Opens an object, and reads what is asked of it where that is small.
    pub(super) async fn get(
        self: &Arc<Self>,
        location: &Path,
        options: GetOptions,
    ) -> Result<GetResult> {
        let (answer, answered) = oneshot::channel();
        let read = Read {
            location: location.clone(),
            options,
            answer,
        };
        if self.queue(read) {
            let reader = Reader {
                desk: Arc::clone(self),
                counted: true,
            };
            tokio::task::spawn_blocking(move || reader.run());
        }
        let gone = || io_error(io::Error::other("the reading thread ended"), "");
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Queues a read; true where another reader is needed, which then counts already.
    fn queue(&self, read: Read) -> bool {
        let mut waiting = self.lock();
        waiting.reads.push_back(read);
        let needed = waiting.readers == 0
            || waiting.readers < READERS && waiting.reads.len() > waiting.readers * WAITING;
        waiting.readers += usize::from(needed);
        needed
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, read: &Read, parents: &mut Parents) -> Result<GetResult> {
        let key = read.location.as_ref();
        let opened = self.open(key, parents).map_err(|e| match e.kind() {
            io::ErrorKind::NotADirectory => io_error(io::ErrorKind::NotFound.into(), key),
            _ => io_error(e, key),
        });
        let (mut file, path) = opened?;
        let found = file.metadata().map_err(|e| io_error(e, key))?;
        let meta = object_meta(read.location.clone(), &found);
        read.options.check_preconditions(&meta)?;
        let range = match &read.options.range {
            Some(range) => {
                range
                    .as_range(meta.size)
                    .map_err(|source| object_store::Error::Generic {
                        store: "local disk",
                        source: Box::new(source),
                    })?
            }
            None => 0..meta.size,
        };
        let payload = if range.end - range.start > SMALL || read.options.head {
            GetResultPayload::File(file, path)
        } else {
            let bytes = bytes(&mut file, &range).map_err(|e| io_error(e, key))?;
            GetResultPayload::Stream(futures::stream::iter([Ok(bytes)]).boxed())
        };
        Ok(answer(payload, meta, range))
    }

    /// Opens a file that does not lie outside the tree and is no unfinished upload.
    fn open(&self, key: &str, parents: &mut Parents) -> io::Result<(File, std::path::PathBuf)> {
        let absent = || io::Error::from(io::ErrorKind::NotFound);
        let (parent, name) = key.rsplit_once('/').unwrap_or(("", key));
        if name.is_empty() || is_staged(name) {
            return Err(absent());
        }
        let escapes = match parents.get(parent) {
            Some(known) => *known,
            None => {
                let escapes = self.tree.escapes(parent);
                parents.insert(parent.to_owned(), escapes);
                escapes
            }
        };
        let path = self.tree.path(key);
        if escapes || path.symlink_metadata()?.is_symlink() && self.tree.escapes(key) {
            return Err(absent());
        }
        // A pipe or a device would keep its reader waiting, and with it all who read after it.
        if !path.metadata()?.is_file() {
            return Err(absent());
        }
        Ok((File::open(&path)?, path))
    }
}

/// Whether directories lead out of the tree. Known for a turn and no longer: links can change.
type Parents = HashMap<String, bool>;

fn bytes(file: &mut File, range: &Range<u64>) -> io::Result<Bytes> {
    if range.start > 0 {
        file.seek(SeekFrom::Start(range.start))?;
    }
    let mut bytes = vec![0; (range.end - range.start) as usize];
    file.read_exact(&mut bytes)?;
    Ok(bytes.into())
}

fn answer(payload: GetResultPayload, meta: ObjectMeta, range: Range<u64>) -> GetResult {
    GetResult {
        payload,
        meta,
        range,
        attributes: Attributes::default(),
        extensions: Default::default(),
    }
}

/// A thread's place at the desk.
struct Reader {
    desk: Arc<Desk>,
    /// Whether the desk still counts it.
    counted: bool,
}

impl Reader {
    fn run(mut self) {
        while let Some(reads) = self.take() {
            let mut parents = Parents::new();
            for read in reads {
                // Nobody waits for what was cancelled.
                if !read.answer.is_closed() {
                    let result = self.desk.read(&read, &mut parents);
                    let _ = read.answer.send(result);
                }
            }
        }
    }

    /// Some reads; `None` where nothing waits, and then the place is given up: what is queued from
    /// here on asks for another reader.
    fn take(&mut self) -> Option<Vec<Read>> {
        let mut waiting = self.desk.lock();
        let count = waiting.reads.len().min(TURN);
        if count == 0 {
            waiting.readers -= 1;
            self.counted = false;
            return None;
        }
        Some(waiting.reads.drain(..count).collect())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if !self.counted {
            return;
        }
        // It never ran, because the runtime ends, or it panicked. Nobody may be left waiting.
        let mut waiting = self.desk.lock();
        waiting.readers -= 1;
        if waiting.readers == 0 {
            waiting.reads.clear();
        }
    }
}
