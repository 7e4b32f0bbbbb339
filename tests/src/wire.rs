//! The wire between a program and an S3 store, in the hands of a test.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use bytes::Bytes;

/// A running wire. It ends with the test's runtime.
#[derive(Debug)]
pub struct Wire {
    endpoint: String,
    puts: Arc<Mutex<Puts>>,
}

/// What a wire does besides handing everything on.
#[derive(Clone, Copy, Debug)]
enum Habit {
    /// Conditions of puts are lost, so that the store never hears of them.
    Careless,
    /// Puts of keys that hold the text stop after so many: later ones never arrive and are never
    /// answered.
    Holding(&'static str, u32),
}

/// Puts that a wire looks out for.
#[derive(Debug, Default)]
struct Puts {
    passed: u32,
    answered: u32,
    held: u32,
}

struct Ends {
    store: String,
    habit: Habit,
    http: reqwest::Client,
    puts: Arc<Mutex<Puts>>,
}

impl Wire {
    /// A wire that makes the store one that does not know `If-None-Match`. What is signed cannot be
    /// changed on its way, so the store must be one that asks for no signatures.
    pub async fn careless(store: &str) -> Self {
        Self::start(store, Habit::Careless).await
    }

    /// A wire that lets `passing` puts of keys pass that hold `part`, and then no more.
    pub async fn holding(store: &str, part: &'static str, passing: u32) -> Self {
        Self::start(store, Habit::Holding(part, passing)).await
    }

    async fn start(store: &str, habit: Habit) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let puts = Arc::default();
        let ends = Arc::new(Ends {
            store: store.to_owned(),
            habit,
            http: crate::http().build().expect("a client needs nothing"),
            puts: Arc::clone(&puts),
        });
        let router = Router::new().fallback(hand_on).with_state(ends);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            endpoint: format!("http://127.0.0.1:{port}"),
            puts,
        }
    }

    /// Where the store is to be looked for.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Waits until a put is held and all that passed are answered: the store does not change any
    /// more.
    ///
    /// # Panics
    /// If a minute passes.
    pub async fn comes_to_a_stand(&self) {
        let start = Instant::now();
        loop {
            {
                let puts = lock(&self.puts);
                if puts.held > 0 && puts.answered == puts.passed {
                    return;
                }
                assert!(start.elapsed() < Duration::from_secs(60), "{puts:?}");
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

type Answer = (StatusCode, HeaderMap, Bytes);

async fn hand_on(State(ends): State<Arc<Ends>>, mut request: Request) -> Answer {
    let put = request.method() == Method::PUT;
    let mut watched = false;
    match ends.habit {
        Habit::Careless if put => {
            request.headers_mut().remove(header::IF_NONE_MATCH);
        }
        Habit::Holding(part, passing) if put && request.uri().path().contains(part) => {
            watched = true;
            let held = {
                let mut puts = lock(&ends.puts);
                let held = puts.passed >= passing;
                *(if held {
                    &mut puts.held
                } else {
                    &mut puts.passed
                }) += 1;
                held
            };
            if held {
                std::future::pending::<()>().await;
            }
        }
        Habit::Careless | Habit::Holding(..) => {}
    }
    let answer = ends.forward(request).await;
    if watched {
        lock(&ends.puts).answered += 1;
    }
    answer
}

impl Ends {
    async fn forward(&self, request: Request) -> Answer {
        let uri = format!("{}{}", self.store, request.uri());
        let (mut parts, body) = request.into_parts();
        // The host stays what the program thinks it is: it is signed.
        parts.headers.remove(header::CONNECTION);
        parts.headers.remove(header::TRANSFER_ENCODING);
        let body = to_bytes(body, usize::MAX).await;
        let sent = self
            .http
            .request(parts.method, &uri)
            .headers(parts.headers)
            .body(body.expect("the request can be read"))
            .send();
        let response = sent.await.unwrap_or_else(|e| panic!("{uri}: {e}"));
        let (status, mut headers) = (response.status(), response.headers().clone());
        headers.remove(header::TRANSFER_ENCODING);
        let body = response.bytes().await.expect("the answer can be read");
        (status, headers, body)
    }
}

fn lock(puts: &Mutex<Puts>) -> MutexGuard<'_, Puts> {
    puts.lock().unwrap_or_else(PoisonError::into_inner)
}
