//! Reads that are asked for together travel together.
//!
//! A read that comes while none is under way leaves at the end of its turn, with all others of that
//! turn. While some are under way, reads gather for a few milliseconds or until there are some; and
//! while enough are, they gather until one of those has come back. A read that is alone when it
//! leaves goes as a request of its own.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use bytes::Bytes;
use futures::StreamExt;
use futures::channel::oneshot;
use futures::future::{AbortHandle, abortable};
use lake::wire::frame::{FrameDecoder, FrameHeader};
use lake::wire::http::{BatchRead, BatchRequest};
use lake::{Error, Kind};
use object_store::Result;
use object_store::path::Path;
use wasm_bindgen_futures::spawn_local;

use crate::worker::turn::sleep;

use super::failure::{error_from_reply, generic};
use super::fetch::{PAUSES, Question, fetch_once, is_passing};

/// Reads in one request at most.
const MOST: usize = 256;

/// As many reads do not wait for others.
const ENOUGH: usize = 16;

/// Requests under way at most; a browser opens six connections to a host.
const UNDER_WAY: usize = 4;

/// Milliseconds that a read waits for others while some are under way.
const GATHER: u32 = 4;

/// What becomes of a read.
pub(super) enum Turn {
    /// It goes alone, now. The seat is kept until its answer has begun.
    Alone(Seat),
    /// It was answered.
    Answered(FrameHeader, Bytes),
}

/// A place among the requests under way.
pub(super) struct Seat(Weak<Batcher>);

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(batcher) = self.0.upgrade() {
            batcher.under_way.set(batcher.under_way.get() - 1);
            batcher.leave_soon();
        }
    }
}

/// Gathers the reads of one zone.
pub(super) struct Batcher {
    url: String,
    me: Weak<Self>,
    gathering: RefCell<Vec<Waiting>>,
    under_way: Cell<usize>,
    /// Whether somebody will look at the gathered reads without being told.
    watched: Cell<bool>,
}

struct Waiting {
    read: BatchRead,
    answer: oneshot::Sender<Result<Turn>>,
    ticket: Rc<Ticket>,
}

/// Ties whoever waits to the request that is to answer them.
#[derive(Default)]
struct Ticket(RefCell<Option<Rc<Party>>>);

impl Ticket {
    /// Takes one out of the party. How many are left is beside it.
    fn leave_party(&self) -> Option<(Rc<Party>, usize)> {
        let party = self.0.borrow_mut().take()?;
        let left = party.waiting.get() - 1;
        party.waiting.set(left);
        Some((party, left))
    }
}

/// Those who wait for one request.
struct Party {
    waiting: Cell<usize>,
    abort: AbortHandle,
}

/// Held by whoever waits. The last one to go without an answer takes the request back.
struct Holder(Rc<Ticket>);

impl Drop for Holder {
    fn drop(&mut self) {
        if let Some((party, 0)) = self.0.leave_party() {
            party.abort.abort();
        }
    }
}

impl Batcher {
    pub(super) fn new(url: String) -> Rc<Self> {
        Rc::new_cyclic(|me| Self {
            url,
            me: Weak::clone(me),
            gathering: RefCell::default(),
            under_way: Cell::new(0),
            watched: Cell::new(false),
        })
    }

    /// Reads, in company if there is some.
    pub(super) async fn ask(&self, read: BatchRead) -> Result<Turn> {
        let (answer, receiver) = oneshot::channel();
        let holder = Holder(Rc::default());
        let waiting = Waiting {
            read,
            answer,
            ticket: Rc::clone(&holder.0),
        };
        self.gathering.borrow_mut().push(waiting);
        self.leave_soon();
        let turn = receiver.await;
        drop(holder);
        turn.unwrap_or_else(|_| {
            let message = "a read was lost on its way";
            Err(generic(Error::new(Kind::Internal, message)))
        })
    }

    /// Sees to it that gathered reads leave when their time has come.
    fn leave_soon(&self) {
        let gathered = self.gathering.borrow().len();
        if gathered == 0 || self.under_way.get() >= UNDER_WAY || self.watched.replace(true) {
            return;
        }
        let idle = self.under_way.get() == 0;
        let me = Weak::clone(&self.me);
        spawn_local(async move {
            if !idle && gathered < ENOUGH {
                sleep(GATHER).await;
            }
            if let Some(batcher) = me.upgrade() {
                batcher.watched.set(false);
                batcher.leave();
            }
        });
    }

    fn leave(&self) {
        while self.under_way.get() < UNDER_WAY {
            let mut leaving: Vec<Waiting> = {
                let mut gathering = self.gathering.borrow_mut();
                // Nobody waits for these any more.
                gathering.retain(|w| !w.answer.is_canceled());
                let count = gathering.len().min(MOST);
                gathering.drain(..count).collect()
            };
            if leaving.is_empty() {
                return;
            }
            self.under_way.set(self.under_way.get() + 1);
            let seat = Seat(Weak::clone(&self.me));
            if leaving.len() == 1
                && let Some(alone) = leaving.pop()
            {
                // A seat that nobody takes is free again.
                let _ = alone.answer.send(Ok(Turn::Alone(seat)));
                continue;
            }
            let tickets: Vec<_> = leaving.iter().map(|w| Rc::clone(&w.ticket)).collect();
            let (task, abort) = abortable(travel(self.url.clone(), leaving));
            let party = Rc::new(Party {
                waiting: Cell::new(tickets.len()),
                abort,
            });
            for ticket in tickets {
                ticket.0.replace(Some(Rc::clone(&party)));
            }
            spawn_local(async move {
                // Aborted where nobody waits: there is nobody to tell.
                let _ = task.await;
                drop(seat);
            });
        }
    }
}

/// Asks for all reads, and again for those that a passing fault left unanswered.
async fn travel(url: String, leaving: Vec<Waiting>) {
    let mut open: Vec<Option<Waiting>> = leaving.into_iter().map(Some).collect();
    let mut pauses = PAUSES.iter();
    loop {
        let pause = pauses.next();
        let error = match exchange(&url, &mut open, pause.is_some()).await {
            Ok(()) => Error::new(
                Kind::Unreachable,
                "the server answered only a part of a batch",
            ),
            Err(error) => error,
        };
        open.retain(|w| w.as_ref().is_some_and(|w| !w.answer.is_canceled()));
        match pause {
            _ if open.is_empty() => return,
            Some(pause) if error.kind() == Kind::Unreachable => sleep(*pause).await,
            _ => {
                for waiting in open.into_iter().flatten() {
                    let error = error.clone().at("key", &waiting.read.key);
                    let _ = waiting.answer.send(Err(generic(error)));
                }
                return;
            }
        }
    }
}

/// One request. Takes out of `open` whoever was answered; a read that failed for a passing reason
/// stays where `again` says that there is another try.
async fn exchange(url: &str, open: &mut [Option<Waiting>], again: bool) -> lake::Result<()> {
    let reads = open.iter().flatten().map(|w| w.read.clone()).collect();
    let body = serde_json::to_string(&BatchRequest { reads });
    let body =
        body.map_err(|e| Error::new(Kind::Internal, "a batch cannot be written").because(e))?;
    let question = Question {
        method: "POST",
        headers: vec![("content-type", "application/json".to_owned())],
        body: Some(body),
        ..Question::get(url)
    };
    let reply = fetch_once(&question).await?;
    if reply.status() != 200 {
        return Err(error_from_reply(reply, &Path::default()).await.into());
    }
    let mut decoder = FrameDecoder::default();
    let mut pieces = reply.stream();
    while let Some(piece) = pieces.next().await {
        decoder.push(&piece?);
        while let Some((header, bytes)) = decoder.next_frame()? {
            let Some(slot) = open.get_mut(header.index as usize) else {
                return Err(Error::damaged("the batch answers what was not asked"));
            };
            if again && is_passing(header.status) {
                continue;
            }
            if let Some(waiting) = slot.take() {
                waiting.ticket.leave_party();
                let _ = waiting.answer.send(Ok(Turn::Answered(header, bytes)));
            }
        }
    }
    Ok(())
}
