//! What an error means to the person in front of it: a title, and what to do next.

use lake::{Error, Kind};

/// An error in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What happened, in few words.
    pub title: &'static str,
    /// The sentence of whoever found out.
    pub sentence: String,
    /// Key, version, line.
    pub location: Option<String>,
    /// What to do about it.
    pub next: &'static str,
    /// Whether the same question can have another answer in a moment.
    pub retry: bool,
}

/// The one place that turns an error's kind into words.
pub fn message(error: &Error) -> Message {
    let sentence = error.sentence();
    let (title, next, retry) = match words(error.kind()) {
        // Nothing took it away.
        (title, ..) if sentence.starts_with("there is no version ") => (
            title,
            "The table's history lists those that there are.",
            false,
        ),
        (title, ..) if sentence == "no such dataset" => (
            title,
            "The lake's page lists the datasets that there are.",
            false,
        ),
        words => words,
    };
    Message {
        title,
        sentence: crate::format::capital(&sentence),
        location: error.location(),
        next,
        retry,
    }
}

fn words(kind: Kind) -> (&'static str, &'static str, bool) {
    match kind {
        Kind::NotFound => (
            "Not there",
            "Look for it in the table's history, or from the lake's page. It may have been moved, cleaned up or vacuumed since the link was made.",
            true,
        ),
        Kind::Invalid => (
            "Not understood",
            "Correct the address or the text that was typed.",
            false,
        ),
        Kind::Denied => (
            "The store denies access",
            "The server's credentials may not read this. Give them list and read on the zone's prefix, or ask the zone's owner.",
            true,
        ),
        Kind::Unreachable => (
            "The store does not answer",
            "Check that the store and the server are up and that nothing between them blocks, then try again.",
            true,
        ),
        Kind::Damaged => (
            "Damaged",
            "The bytes in the store are not what the format says. The key below is the place to look; other versions and tables are not affected.",
            true,
        ),
        Kind::Unsupported => (
            "Not supported by this build",
            "The table needs a feature that this build does not have. What does not need it still works.",
            false,
        ),
        Kind::Conflict => (
            "It changed meanwhile",
            "Somebody else wrote while this was read. Try again to see the new state.",
            true,
        ),
        Kind::Cancelled => ("Cancelled", "Try again to read it after all.", true),
        Kind::TooLarge => (
            "Too large for this page",
            "A limit of this build was reached; nothing is wrong with the table. Ask for less, or use the command line.",
            false,
        ),
        _ => (
            "A fault of this program",
            "Please report it with the sentence below. Reloading the page may help.",
            true,
        ),
    }
}

/// The CORS policy that lets pages of `origin` read a bucket directly, as S3 takes it.
///
/// Needed only where `reads = "redirect"`.
pub fn cors_policy(origin: &str) -> String {
    // Written by hand, because people paste it: this order, these lines.
    let origin = serde_json::Value::from(origin);
    format!(
        r#"[
  {{
    "AllowedOrigins": [{origin}],
    "AllowedMethods": ["GET", "HEAD"],
    "AllowedHeaders": ["range", "if-none-match", "if-match"],
    "ExposeHeaders": ["ETag", "Content-Range", "Content-Length", "Accept-Ranges", "Last-Modified"],
    "MaxAgeSeconds": 3600
  }}
]"#
    )
}

/// What went wrong, in one line: the sentence, and where.
pub fn in_one_line(error: &Error) -> String {
    let message = message(error);
    match message.location {
        Some(location) => format!("{} ({location})", message.sentence),
        None => message.sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_where_and_what_to_do() {
        let error = Error::damaged("not JSON")
            .at("key", "_delta_log/3.json")
            .at("line", 2);
        let message = message(&error);
        assert_eq!(message.title, "Damaged");
        assert_eq!(message.sentence, "Not JSON");
        assert_eq!(
            message.location.as_deref(),
            Some("_delta_log/3.json, line 2")
        );
        assert!(!message.next.is_empty());
    }

    #[test]
    fn a_version_that_never_was_is_not_waited_for() {
        let never = Error::not_found("there is no version 99: the newest is 51").at("key", "k");
        assert!(!message(&never).retry);
        assert!(!message(&never).next.contains("vacuumed"));
        assert!(message(&Error::not_found("no object")).retry);
        assert!(!message(&Error::not_found("no such dataset")).retry);
    }

    #[test]
    fn the_policy_is_json_and_names_the_origin() {
        let policy = cors_policy("https://a.example\"]");
        let value: serde_json::Value = serde_json::from_str(&policy).unwrap();
        assert_eq!(value[0]["AllowedOrigins"][0], "https://a.example\"]");
        assert_eq!(value[0]["AllowedMethods"][0], "GET");
    }
}
