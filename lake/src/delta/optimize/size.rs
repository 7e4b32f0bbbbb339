//! Sizes as table properties spell them: `100mb`, `1g`, `134217728`.

/// Bytes of a size above nothing; `None` where it is none.
pub(super) fn size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..)?;
    let shift = match unit {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    let number: u64 = digits.trim_end().parse().ok()?;
    number.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn properties_spell_sizes_with_units() {
        assert_eq!(size("104857600"), Some(104_857_600));
        assert_eq!(size("100mb"), Some(100 << 20));
        assert_eq!(size(" 1 GB "), Some(1 << 30));
        assert_eq!(size("32k"), Some(32 << 10));
        for wrong in ["", "0", "mb", "1.5g", "-1", "1 parsec", "99999999999t"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
    }
}
