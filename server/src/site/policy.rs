//! What the page may load and run.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The content security policy of a page with this `index.html`. The scripts written into it are
/// allowed by their hash; `connect` are hosts besides this one that it may fetch from.
pub(super) fn policy(index: Option<&[u8]>, connect: &[String]) -> String {
    let index = index.map(String::from_utf8_lossy).unwrap_or_default();
    let mut scripts = String::new();
    for script in inline_scripts(&index) {
        let hash = STANDARD.encode(Sha256::digest(script.as_bytes()));
        scripts.push_str(&format!(" 'sha256-{hash}'"));
    }
    let connect: String = connect.iter().map(|host| format!(" {host}")).collect();
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{scripts}; \
         style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; \
         font-src 'self'; connect-src 'self'{connect}; worker-src 'self'; \
         manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
}

/// The text of each script that has no source of its own, exactly as it stands.
fn inline_scripts(html: &str) -> Vec<&str> {
    let mut scripts = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find("<script") {
        let Some(open) = rest.get(start..).and_then(|s| s.find('>')) else {
            break;
        };
        let tag = rest.get(start..start + open).unwrap_or_default();
        let Some(after) = rest.get(start + open + 1..) else {
            break;
        };
        let Some(end) = after.find("</script") else {
            break;
        };
        if !tag.contains(" src=") {
            scripts.push(after.get(..end).unwrap_or_default());
        }
        rest = after.get(end..).unwrap_or_default();
    }
    scripts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_scripts_are_allowed_by_hash() {
        let html = "<head><script type=\"module\" nonce=\"x\">alert(1)</script>\
                    <script src=\"a.js\"></script><script>\n</script></head>";
        assert_eq!(inline_scripts(html), ["alert(1)", "\n"]);
        let policy = policy(Some(html.as_bytes()), &["https://s3.example".to_owned()]);
        // echo -n 'alert(1)' | openssl dgst -sha256 -binary | base64
        assert!(
            policy.contains("'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"),
            "{policy}"
        );
        assert!(policy.contains("connect-src 'self' https://s3.example;"));
        assert!(!policy.contains("script-src 'self' 'unsafe-inline'"));
    }
}
