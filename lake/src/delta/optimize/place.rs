//! Where a new file lies: the folder of its partition as Hive spells it, and the path that the log
//! has of it.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// How Hive spells null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// What a URI's path cannot hold, and the percent sign that escapes it.
const URI: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The path of a new file in the log: the key below the table's root, percent-encoded once
/// (PROTOCOL, "Add File and Remove File").
pub(super) fn path<'a>(
    partition: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    name: &str,
) -> String {
    let mut key = String::new();
    for (column, value) in partition {
        escape(&mut key, column);
        key.push('=');
        match value.filter(|v| !v.is_empty()) {
            Some(value) => escape(&mut key, value),
            None => key.push_str(NULL),
        }
        key.push('/');
    }
    key.push_str(name);
    utf8_percent_encode(&key, URI).to_string()
}

/// Escapes as Hive and Spark do.
fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        let escaped = c.is_ascii_control()
            || matches!(
                c,
                '"' | '#' | '%' | '\'' | '*' | '/' | ':' | '=' | '?' | '\\' | '{' | '[' | ']' | '^'
            );
        match escaped {
            true => {
                let _ = write!(out, "%{:02X}", u32::from(c));
            }
            false => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delta::path::{Location, locate};

    #[test]
    fn folders_are_spelled_as_hive_does() {
        let of = |column: &'static str, value: Option<&'static str>| path([(column, value)], "f");
        assert_eq!(of("a", Some("x y")), "a=x%20y/f");
        assert_eq!(of("a", None), "a=__HIVE_DEFAULT_PARTITION__/f");
        assert_eq!(of("a", Some("")), "a=__HIVE_DEFAULT_PARTITION__/f");
        assert_eq!(
            of("ts", Some("2024-01-01 10:00:00")),
            "ts=2024-01-01%2010%253A00%253A00/f"
        );
        assert_eq!(of("a", Some("../b")), "a=..%252Fb/f");
        assert_eq!(path([], "f"), "f");
    }

    #[test]
    fn a_reader_finds_the_key_again() {
        let root = "t".into();
        for value in ["a/b", "ü%", "{}|^[]", "\u{1}\u{7f}", "a:b=c?#", "'*\""] {
            let raw = path([("p", Some(value))], "f");
            let Ok(Location::Inside(key)) = locate(&root, &raw) else {
                panic!("{raw}");
            };
            let folder = key.as_ref().strip_prefix("t/p=").unwrap();
            let folder = folder.strip_suffix("/f").unwrap();
            let plain = percent_encoding::percent_decode_str(folder);
            assert_eq!(plain.decode_utf8().unwrap(), value, "{raw}");
        }
    }
}
