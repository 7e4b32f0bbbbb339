//! What little of a file's statistics a listing needs, read leniently.
//!
//! Statistics may be absent, truncated, or hold tokens that are not JSON (`NaN`). One unreadable
//! value becomes unknown and never fails a list.

/// `numRecords` of a statistics text; `None` where it is not a number from 0.
pub fn num_records(stats: &str) -> Option<i64> {
    const FIRST: &str = "{\"numRecords\":";
    let digits = match stats.strip_prefix(FIRST) {
        Some(rest) => rest,
        None => value_at_top(stats, "numRecords")?,
    };
    let digits = digits.trim_start();
    let end = digits.bytes().position(|b| !b.is_ascii_digit())?;
    let closed = digits[end..].trim_start();
    if !closed.starts_with([',', '}']) {
        return None;
    }
    digits[..end].parse().ok()
}

/// The text after `"key":` in the outermost object. Knows only strings and nesting, so that a bare
/// `NaN` elsewhere does no harm.
fn value_at_top<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let bytes = json.as_bytes();
    let mut depth = 0u32;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let start = at + 1;
                let end = start + string_end(&bytes[start..])?;
                let after = json.get(end + 1..)?.trim_start();
                if depth == 1
                    && json.get(start..end) == Some(key)
                    && let Some(value) = after.strip_prefix(':')
                {
                    return Some(value);
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Offset of the quote that closes a string.
fn string_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::num_records;

    #[test]
    fn reads_records_leniently() {
        let cases = [
            (r#"{"numRecords":7}"#, Some(7)),
            (r#"{"numRecords": 7 , "minValues":{}}"#, Some(7)),
            (
                r#"{"minValues":{"numRecords":3,"d":NaN},"numRecords":5}"#,
                Some(5),
            ),
            (
                r#"{"minValues":{"a":"\"numRecords\":9}"},"numRecords":5}"#,
                Some(5),
            ),
            (r#"{"numRecords":9223372036854775807}"#, Some(i64::MAX)),
            (r#"{"numRecords":9223372036854775808}"#, None),
            (r#"{"numRecords":"7"}"#, None),
            (r#"{"numRecords":-1}"#, None),
            (r#"{"numRecords":1.5}"#, None),
            (r#"{"numRecords":1"#, None),
            (r#"{"minValues":{"numRecords":3}}"#, None),
            ("", None),
            ("null", None),
            (r#"}{"numRecords":1}"#, None),
            (r#"{"a":"\"#, None),
        ];
        for (text, right) in cases {
            assert_eq!(num_records(text), right, "{text}");
        }
    }
}
