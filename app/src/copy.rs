//! Out of the page: to the clipboard, to a file, to a shell.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlAnchorElement, HtmlTextAreaElement};

/// Puts text on the clipboard; `false` where the browser refuses.
pub async fn copy(text: &str) -> bool {
    let navigator = window().navigator();
    // Off loopback and without TLS a page has no clipboard object.
    let modern = js_sys::Reflect::has(&navigator, &JsValue::from_str("clipboard"));
    if modern.unwrap_or(false) && window().is_secure_context() {
        let written = JsFuture::from(navigator.clipboard().write_text(text)).await;
        if written.is_ok() {
            return true;
        }
    }
    copy_through_a_field(text).unwrap_or(false)
}

fn copy_through_a_field(text: &str) -> Option<bool> {
    let body = document().body()?;
    let field = document().create_element("textarea").ok()?;
    let field = field.dyn_into::<HtmlTextAreaElement>().ok()?;
    field.set_value(text);
    field.set_class_name("unseen");
    body.append_child(&field).ok()?;
    field.select();
    let page = document().dyn_into::<web_sys::HtmlDocument>().ok()?;
    let copied = page.exec_command("copy").unwrap_or(false);
    field.remove();
    Some(copied)
}

/// Saves text as a file of this name.
pub fn download(name: &str, mime: &str, text: &str) {
    let saved = || -> Option<()> {
        let parts = js_sys::Array::of1(&JsValue::from_str(text));
        let bag = web_sys::BlobPropertyBag::new();
        bag.set_type(mime);
        let blob = web_sys::Blob::new_with_str_sequence_and_options(&parts, &bag).ok()?;
        let url = web_sys::Url::create_object_url_with_blob(&blob).ok()?;
        let anchor = document().create_element("a").ok()?;
        let anchor = anchor.dyn_into::<HtmlAnchorElement>().ok()?;
        anchor.set_href(&url);
        anchor.set_download(name);
        anchor.click();
        // The download has its own hold on the bytes by the next minute.
        set_timeout(
            move || {
                let _ = web_sys::Url::revoke_object_url(&url);
            },
            std::time::Duration::from_secs(60),
        );
        Some(())
    };
    let _ = saved();
}

/// Rows as CSV (RFC 4180): quoted where needed, `None` as nothing. Text that a spreadsheet would
/// run as a formula begins with `'`.
pub fn csv<'a, R>(head: &[&str], rows: impl IntoIterator<Item = R>) -> String
where
    R: IntoIterator<Item = Option<std::borrow::Cow<'a, str>>>,
{
    let mut text = String::new();
    for (i, name) in head.iter().enumerate() {
        put(&mut text, i, Some(name));
    }
    text.push_str("\r\n");
    for row in rows {
        for (i, cell) in row.into_iter().enumerate() {
            put(&mut text, i, cell.as_deref());
        }
        text.push_str("\r\n");
    }
    text
}

/// Cell `i` of a row.
fn put(text: &mut String, i: usize, cell: Option<&str>) {
    if i > 0 {
        text.push(',');
    }
    let Some(cell) = cell else { return };
    let guard = if runs(cell) { "'" } else { "" };
    if cell.contains(['"', ',', '\n', '\r']) || cell.starts_with(' ') || cell.is_empty() {
        text.push('"');
        text.push_str(guard);
        text.push_str(&cell.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(guard);
        text.push_str(cell);
    }
}

/// Whether a spreadsheet may take a cell for a formula: by its first character, unless it is a
/// plain number.
fn runs(cell: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit();
    let of_number = |b: u8| b.is_ascii_digit() || b == b'.';
    match cell.bytes().next() {
        Some(b'=' | b'@' | b'\t' | b'\r') => true,
        Some(b'+' | b'-') => !cell.ends_with(digit) || !cell.bytes().skip(1).all(of_number),
        _ => false,
    }
}

/// Words as a POSIX shell takes them.
pub fn shell(words: &[&str]) -> String {
    let quoted = words.iter().map(|word| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            (*word).to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_keeps_null_apart_from_nothing() {
        let rows = [
            vec![Some("a".into()), None, Some("".into())],
            vec![
                Some("x,\"y\"\n".into()),
                Some("1".into()),
                Some(" z".into()),
            ],
        ];
        assert_eq!(
            csv(&["p", "q", "r"], rows),
            "p,q,r\r\na,,\"\"\r\n\"x,\"\"y\"\"\n\",1,\" z\"\r\n"
        );
    }

    #[test]
    fn spreadsheets_run_nothing() {
        let of = |cell: &'static str| csv(&[], [[Some(cell.into())]]).replace("\r\n", "");
        for (cell, saved) in [
            ("=1+1, \"wrong\"", "\"'=1+1, \"\"wrong\"\"\""),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("+1+1", "'+1+1"),
            ("-", "'-"),
            ("-2+3", "'-2+3"),
            ("+44 20 7946", "'+44 20 7946"),
            ("-5", "-5"),
            ("+5.25", "+5.25"),
            ("-1.5e-7", "'-1.5e-7"),
            ("a=1", "a=1"),
            ("\u{2212}5", "\u{2212}5"),
        ] {
            assert_eq!(of(cell), saved, "{cell}");
        }
        assert_eq!(of("\r=1"), "\"'\r=1\"");
        assert_eq!(csv(&["=a", "b,c"], [[None, None]; 0]), "'=a,\"b,c\"\r\n");
    }

    #[test]
    fn shells_see_one_word() {
        let words = ["tidemark", "history", "it's a $table", "", "--limit", "50"];
        assert_eq!(
            shell(&words),
            r"tidemark history 'it'\''s a $table' '' --limit 50"
        );
    }
}
