//! Two protocols as one that loses nothing (PROTOCOL, "Protocol Evolution").

use crate::delta::action::Protocol;
use crate::delta::features::READ;

/// Features that a writer of a version without named features has, by the version that brought them.
const LEGACY_WRITER: &[(i64, &str)] = &[
    (2, "appendOnly"),
    (2, "invariants"),
    (3, "checkConstraints"),
    (4, "changeDataFeed"),
    (4, "generatedColumns"),
    (5, "columnMapping"),
    (6, "identityColumns"),
];

/// The lowest protocol that both a table of `head` and one of `other` can be read and written by.
/// Never lower than `head`, and `head` itself where it is enough.
pub(crate) fn merge(head: &Protocol, other: &Protocol) -> Protocol {
    let reader = head.min_reader_version.max(other.min_reader_version);
    let writer = head.min_writer_version.max(other.min_writer_version);
    let mut merged = Protocol {
        min_reader_version: reader,
        min_writer_version: writer,
        reader_features: Vec::new(),
        writer_features: Vec::new(),
    };
    if writer < 7 {
        return merged;
    }
    for protocol in [head, other] {
        for feature in writer_features(protocol) {
            push(&mut merged.writer_features, feature);
        }
    }
    if reader >= 3 {
        for protocol in [head, other] {
            for feature in reader_features(protocol) {
                push(&mut merged.reader_features, feature);
            }
        }
        // What is named for writers alone below reader version 3 is named for both from there.
        let both = merged
            .writer_features
            .iter()
            .filter(|f| READ.contains(&f.as_str()));
        for feature in both.cloned().collect::<Vec<_>>() {
            push(&mut merged.reader_features, feature);
        }
    }
    merged
}

fn writer_features(protocol: &Protocol) -> Vec<String> {
    if protocol.min_writer_version >= 7 {
        return protocol.writer_features.clone();
    }
    let had = LEGACY_WRITER
        .iter()
        .filter(|(version, _)| *version <= protocol.min_writer_version);
    had.map(|(_, feature)| (*feature).to_owned()).collect()
}

fn reader_features(protocol: &Protocol) -> Vec<String> {
    match protocol.min_reader_version {
        3.. => protocol.reader_features.clone(),
        2 => vec!["columnMapping".to_owned()],
        _ => Vec::new(),
    }
}

fn push(features: &mut Vec<String>, feature: String) {
    if !features.contains(&feature) {
        features.push(feature);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocol(reader: i64, writer: i64, features: [&[&str]; 2]) -> Protocol {
        let [readers, writers] = features.map(|f| f.iter().map(|f| (*f).to_owned()).collect());
        Protocol {
            min_reader_version: reader,
            min_writer_version: writer,
            reader_features: readers,
            writer_features: writers,
        }
    }

    #[test]
    fn a_protocol_is_never_lowered() {
        let old = protocol(1, 2, [&[], &[]]);
        let new = protocol(
            3,
            7,
            [
                &["deletionVectors"],
                &["deletionVectors", "appendOnly", "invariants"],
            ],
        );
        assert_eq!(merge(&new, &old), new);
        assert_eq!(merge(&old, &old), old);
        let back = merge(&old, &new);
        assert_eq!((back.min_reader_version, back.min_writer_version), (3, 7));
        assert_eq!(back.reader_features, ["deletionVectors"]);
        assert_eq!(
            back.writer_features,
            ["appendOnly", "invariants", "deletionVectors"]
        );
    }

    #[test]
    fn versions_become_the_features_they_stand_for() {
        let mapped = protocol(2, 5, [&[], &[]]);
        let domains = protocol(1, 7, [&[], &["domainMetadata"]]);
        let merged = merge(&domains, &mapped);
        // Named for writers alone, which reader version 2 allows.
        assert_eq!(
            (merged.min_reader_version, merged.min_writer_version),
            (2, 7)
        );
        assert!(merged.reader_features.is_empty());
        assert!(merged.writer_features.contains(&"columnMapping".to_owned()));
        let vectors = protocol(3, 7, [&["deletionVectors"], &["deletionVectors"]]);
        let merged = merge(&vectors, &mapped);
        assert_eq!(merged.reader_features, ["deletionVectors", "columnMapping"]);
    }
}
