//! A few questions at a time: whoever wants to ask waits for a place.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use futures::channel::oneshot;
use send_wrapper::SendWrapper;

use crate::session::Session;
use crate::signals::StoredValue;

/// Questions on their way at once.
const AT_ONCE: usize = 4;

struct Places {
    free: usize,
    waiting: VecDeque<oneshot::Sender<Place>>,
}

/// The places.
#[derive(Clone, Copy)]
pub struct Queue {
    places: StoredValue<SendWrapper<Rc<RefCell<Places>>>>,
    /// Asks the tables' questions.
    pub(super) session: Session,
}

/// One place; dropping it lets the next one in.
pub struct Place(Rc<RefCell<Places>>);

impl Queue {
    pub(super) fn new(session: Session) -> Self {
        let places = Places {
            free: AT_ONCE,
            waiting: VecDeque::new(),
        };
        Self {
            places: StoredValue::new(SendWrapper::new(Rc::new(RefCell::new(places)))),
            session,
        }
    }

    /// Waits for a place, in the order of asking. `None` where the page went meanwhile.
    pub(super) fn place(self) -> impl Future<Output = Option<Place>> + use<> {
        let places = self.places.with_value(|p| Rc::clone(p));
        async move {
            let waits = {
                let mut all = places.borrow_mut();
                if all.free > 0 {
                    all.free -= 1;
                    None
                } else {
                    let (sender, receiver) = oneshot::channel();
                    all.waiting.push_back(sender);
                    Some(receiver)
                }
            };
            match waits {
                None => Some(Place(places)),
                Some(receiver) => receiver.await.ok(),
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let next = self.0.borrow_mut().waiting.pop_front();
        match next {
            // Whoever gave up waiting drops it, and so lets the one behind in.
            Some(next) => drop(next.send(Place(Rc::clone(&self.0)))),
            None => self.0.borrow_mut().free += 1,
        }
    }
}
