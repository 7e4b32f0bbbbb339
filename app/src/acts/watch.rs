//! A job, as the server tells of it.

use lake::plan::Job;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{EventSource, MessageEvent};

use crate::engine::read::from_json;
use crate::signals::RwSignal;

/// A job that is followed until it is over, or until whoever looks goes away. The browser asks
/// again by itself where the connection breaks.
#[derive(Clone, Copy)]
pub struct Watch {
    /// The job as it stands.
    pub job: RwSignal<Job>,
}

impl Watch {
    /// Follows a job from here on.
    pub fn start(job: Job) -> Self {
        let watch = Self {
            job: RwSignal::new(job.clone()),
        };
        if !job.state.is_over() {
            watch.follow(&job.id);
        }
        watch
    }

    fn follow(self, id: &str) {
        // Without it the job is shown as it was; it goes on all the same.
        let Ok(source) = EventSource::new(&format!("/api/jobs/{id}/events")) else {
            return;
        };
        let told = source.clone();
        let heard = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let text = event.data().as_string().unwrap_or_default();
            let Ok(job) = from_json::<Job>(&text) else {
                return;
            };
            if job.state.is_over() {
                told.close();
            }
            let _ = self.job.try_set(job);
        });
        source.set_onmessage(Some(heard.as_ref().unchecked_ref()));
        let kept = SendWrapper::new((source, heard));
        on_cleanup(move || kept.0.close());
    }
}
