//! Text that others wrote, made safe to look at.

/// The text with control and direction characters made visible, so that what is seen is what is
/// there: a line break is `␊`, a right-to-left override `⟨U+202E⟩`.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // The control pictures block mirrors the C0 controls.
            '\0'..='\u{1f}' => shown.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}')),
            '\u{7f}' => shown.push('\u{2421}'),
            _ if misleading(c) => shown.push_str(&format!("\u{27e8}U+{:04X}\u{27e9}", c as u32)),
            _ => shown.push(c),
        }
    }
    shown
}

/// In small letters: by the browser, whose tables need not travel.
pub fn lower(text: &str) -> String {
    #[cfg(target_arch = "wasm32")]
    return js_sys::JsString::from(text).to_lower_case().into();
    #[cfg(not(target_arch = "wasm32"))]
    text.to_lowercase()
}

/// With a capital letter, as a sentence on a page has. Our own words begin with one of ASCII.
pub fn capital(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// Characters that change how their neighbours look, or are there without being seen.
fn misleading(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}'
        | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// The beginning of a text, at most `max` characters with the ellipsis, made visible.
pub fn shorten(text: &str, max: usize) -> String {
    // Bounded work: a value of many megabytes is not walked to its end.
    let mut characters = text.chars();
    let head: String = characters.by_ref().take(max).collect();
    if characters.next().is_none() {
        return visible(&head);
    }
    let kept: String = head.chars().take(max.saturating_sub(1)).collect();
    format!("{}…", visible(&kept))
}

/// Beginning and end of a key, at most `max` characters with the ellipsis, made visible: the end
/// of a key tells more than its middle.
pub fn shorten_middle(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return visible(text);
    }
    let keep = max.saturating_sub(1);
    let tail = keep / 2;
    let head: String = text.chars().take(keep - tail).collect();
    let mut end: Vec<char> = text.chars().rev().take(tail).collect();
    end.reverse();
    let end: String = end.into_iter().collect();
    format!("{}…{}", visible(&head), visible(&end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_and_nothing_turns_around() {
        assert_eq!(visible("a\nb\0c\u{7f}"), "a␊b␀c␡");
        assert_eq!(visible("evil\u{202e}txt.exe"), "evil⟨U+202E⟩txt.exe");
        assert_eq!(
            visible("a\u{200b}b\u{ad}c\u{85}"),
            "a⟨U+200B⟩b⟨U+00AD⟩c⟨U+0085⟩"
        );
        assert_eq!(visible("größe 数量 🌊"), "größe 数量 🌊");
    }

    #[test]
    fn long_text_is_cut_by_characters() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abcd", 3), "ab…");
        assert_eq!(shorten("üüüü", 3), "üü…");
        assert_eq!(shorten("abcd", 0), "…");
        assert_eq!(
            shorten_middle("part-00000-abcdef.parquet", 11),
            "part-…rquet"
        );
        assert_eq!(shorten_middle("short", 11), "short");
    }
}
