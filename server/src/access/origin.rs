//! Whether a request was meant for this server, and sent by its own page.

use std::net::IpAddr;

use axum::body::HttpBody as _;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use lake::Error;
use url::Url;

use super::forbidden;
use crate::failure::Failure;

/// The name and port that the client thinks it talks to.
pub(super) fn host(request: &Request) -> Result<String, Failure> {
    let named = match request.headers().get(header::HOST) {
        Some(value) => value.to_str().ok().map(str::to_owned),
        None => request.uri().authority().map(ToString::to_string),
    };
    match named {
        Some(host) if !host.is_empty() && !host.contains('@') => Ok(host.to_ascii_lowercase()),
        _ => Err(Failure::bad_request("the request names no host")),
    }
}

/// Whether a host is this server: a loopback name with any port (a tunnel may change it), or the
/// configured public one. A foreign name that resolves to the loopback address is not.
pub(super) fn is_ours(host: &str, public: Option<&Url>) -> bool {
    // What a URL would take apart, or take away, is no name.
    if host.contains(['/', '\\', '?', '#', '@', '%']) {
        return false;
    }
    let Ok(url) = Url::parse(&format!("http://{host}/")) else {
        return false;
    };
    let loopback = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback() && written_out(host),
        Some(url::Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        None => false,
    };
    loopback || public.is_some_and(|public| authority(public).as_deref() == Some(host))
}

/// Whether an IPv4 address stands as four numbers; `0x7f.1` is an attempt, not a name.
fn written_out(host: &str) -> bool {
    let address = host.split(':').next().unwrap_or_default();
    address.parse::<std::net::Ipv4Addr>().is_ok()
}

/// Host and port of a URL as a `Host` header writes them.
fn authority(url: &Url) -> Option<String> {
    let host = url.host_str()?.to_ascii_lowercase();
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host,
    })
}

/// Refuses a request that may change something, or that only a page can make, unless it comes from
/// this server's own page or from no page at all; and any body but JSON, which a form cannot send.
pub(super) fn check_change(
    request: &Request,
    host: &str,
    public: Option<&Url>,
) -> Result<(), Failure> {
    let headers = request.headers();
    if let Some(site) = headers.get("sec-fetch-site")
        && site != "same-origin"
    {
        return Err(forbidden(
            "another site's page sent this request".to_owned(),
        ));
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let own = origin
            .to_str()
            .ok()
            .and_then(|origin| Url::parse(origin).ok())
            .is_some_and(|origin| {
                let http = authority(&origin).as_deref() == Some(host);
                let configured = public.is_some_and(|public| public.origin() == origin.origin());
                matches!(origin.scheme(), "http" | "https") && (http || configured)
            });
        if !own {
            return Err(forbidden(
                "another site's page sent this request".to_owned(),
            ));
        }
    }
    let json = headers.get(header::CONTENT_TYPE).is_some_and(|value| {
        let essence = value.to_str().unwrap_or_default().split(';').next();
        essence.is_some_and(|e| e.trim().eq_ignore_ascii_case("application/json"))
    });
    // A request without a body has no kind of body to name.
    let empty = request.body().is_end_stream() && !headers.contains_key(header::CONTENT_TYPE);
    if !json && !empty {
        return Err(Failure::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Error::invalid("the body is `application/json`, and the request says so"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_ours() {
        for host in [
            "localhost",
            "localhost:4800",
            "127.0.0.1",
            "127.0.0.1:9",
            "127.8.8.8:80",
            "[::1]",
            "[::1]:4800",
        ] {
            assert!(is_ours(host, None), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "10.0.0.1:4800",
            "0.0.0.0",
            "0x7f.1",
            "2130706433",
            "[::ffff:10.0.0.1]",
            "localhost:4800/../",
            "a b",
        ] {
            assert!(!is_ours(host, None), "{host}");
        }
        let public = Url::parse("https://lake.example/").unwrap();
        assert!(is_ours("lake.example", Some(&public)));
        assert!(!is_ours("lake.example.evil", Some(&public)));
        assert!(!is_ours("lake.example:8080", Some(&public)));
    }
}
