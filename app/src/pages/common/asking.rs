//! What stands where a page will be, until it is known what the lake holds.

use crate::markup::{Markup, view};
use crate::parts::Loading;
use crate::session::session;
use crate::signals::Callback;

/// How far the question has come, and the way to give up.
pub fn asking_lake() -> Markup {
    let session = session();
    let stop = Callback::new(move |()| session.lake.stop());
    view! {
        <div aria-busy="true">
            <Loading what="the lake" progress=session.lake.progress() stop />
        </div>
    }
}
