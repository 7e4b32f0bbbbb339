//! Who wrote a file, where its name tells.

/// Characters of a uuid.
const UUID: usize = 36;

/// The job or query whose task wrote this file. Spark and delta-rs name files
/// `part-<number>-<uuid>-c000.snappy.parquet` or `part-<number>-<uuid>.c000.…`.
pub(super) fn writer(key: &str) -> Option<String> {
    let name = key.rsplit('/').next()?;
    let rest = name.strip_prefix("part-")?;
    let (number, rest) = rest.split_once('-')?;
    let uuid = rest.get(..UUID)?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let is_uuid = uuid.bytes().enumerate().all(|(at, b)| match at {
        8 | 13 | 18 | 23 => b == b'-',
        _ => b.is_ascii_hexdigit(),
    });
    let ends = rest[UUID..].starts_with(['-', '.']);
    (is_number && is_uuid && ends).then(|| uuid.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::writer;

    #[test]
    fn names_tell_their_job() {
        let uuid = "8f3639c5-272a-4b27-9506-e529d3bfe145";
        for key in [
            format!("part-00000-{uuid}-c000.snappy.parquet"),
            format!("x=1/part-00017-{uuid}.c000.snappy.parquet"),
        ] {
            assert_eq!(writer(&key).as_deref(), Some(uuid), "{key}");
        }
        for key in [
            "part-00000".to_owned(),
            format!("part-x-{uuid}-c000.parquet"),
            format!("part-00000-{uuid}"),
            format!("part-00000-{}-c000.parquet", uuid.replace('-', "_")),
            format!("{uuid}.parquet"),
            "part-0-äääääääääääääääääääää".to_owned(),
        ] {
            assert_eq!(writer(&key), None, "{key}");
        }
    }
}
