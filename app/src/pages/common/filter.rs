//! The filter line over a list of files: text, and `column=value` for partition columns.

/// What a filter line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Text that the path contains.
    pub text: Option<String>,
    /// Partition values; `None` is null.
    pub partition: Vec<(String, Option<String>)>,
}

/// Reads a filter line. Words are separated by spaces; a value with spaces stands in double
/// quotes. `column=null` means null, `column="null"` the text. Words that name no partition
/// column are text.
pub fn filter(line: &str, columns: &[String]) -> Filter {
    let mut out = Filter::default();
    let mut text = Vec::new();
    for word in words(line) {
        let split = word.split_once('=');
        let column = split.and_then(|(name, _)| columns.iter().find(|c| c.as_str() == name));
        match (column, split) {
            (Some(column), Some((_, value))) => {
                let value = match unquoted(value) {
                    Some(quoted) => Some(quoted),
                    None if value == "null" => None,
                    None => Some(value.to_owned()),
                };
                out.partition.push((column.clone(), value));
            }
            _ => text.push(unquoted(&word).unwrap_or(word)),
        }
    }
    if !text.is_empty() {
        out.text = Some(text.join(" "));
    }
    out
}

/// The filter line of a partition, which [`filter`] reads back.
pub fn line<'a>(parts: impl IntoIterator<Item = (&'a String, &'a Option<String>)>) -> String {
    let words = parts.into_iter().map(|(name, value)| match value {
        None => format!("{name}=null"),
        Some(value)
            if value == "null"
                || value.contains(|c: char| c == '"' || c.is_whitespace())
                || value.is_empty() =>
        {
            format!("{name}=\"{}\"", value.replace('"', "\"\""))
        }
        Some(value) => format!("{name}={value}"),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn words(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for c in line.chars() {
        if c == '"' {
            quoted = !quoted;
        }
        if c.is_whitespace() && !quoted {
            if !word.is_empty() {
                out.push(std::mem::take(&mut word));
            }
        } else {
            word.push(c);
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\"\"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<String> {
        vec!["region".into(), "day".into()]
    }

    #[test]
    fn partition_columns_are_told_from_text() {
        let got = filter("part-0 region=US x=1", &columns());
        assert_eq!(got.text.as_deref(), Some("part-0 x=1"));
        assert_eq!(got.partition, [("region".into(), Some("US".into()))]);
        assert_eq!(filter("  ", &columns()), Filter::default());
    }

    #[test]
    fn null_is_not_the_text_null() {
        let got = filter("region=null day=\"null\"", &columns());
        assert_eq!(
            got.partition,
            [("region".into(), None), ("day".into(), Some("null".into()))]
        );
    }

    #[test]
    fn every_partition_survives_its_line() {
        let values = [
            None,
            Some("US".to_owned()),
            Some(String::new()),
            Some("null".to_owned()),
            Some("a b\"c".to_owned()),
            Some("tab\tx\u{3000}\ny".to_owned()),
            Some("x=y".to_owned()),
        ];
        for value in values {
            let name = "region".to_owned();
            let text = line([(&name, &value)]);
            assert_eq!(
                filter(&text, &columns()).partition,
                [(name, value)],
                "{text}"
            );
        }
    }
}
