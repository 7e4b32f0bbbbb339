//! Delta's protocol features: what each means for whoever reads or writes the table.

use serde_json::{Map, Value};

/// One feature of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// Its name in the protocol.
    pub name: String,
    /// Whether a reader must know it, or only a writer.
    pub reader: bool,
    /// What it means, in a sentence. `None` where this build never heard of it.
    pub means: Option<&'static str>,
}

/// The features that a table's protocol asks for, those of readers first. Versions below the
/// feature lists imply features by number.
pub fn features(protocol: &Map<String, Value>) -> Vec<Meaning> {
    let list = |key: &str| -> Vec<String> {
        let items = protocol.get(key).and_then(Value::as_array);
        let names = items.into_iter().flatten().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    };
    let number = |key: &str| protocol.get(key).and_then(Value::as_i64).unwrap_or(0);
    let mut reader = list("readerFeatures");
    let mut writer = list("writerFeatures");
    if number("minReaderVersion") == 2 {
        reader.push("columnMapping".to_owned());
    }
    for (version, names) in IMPLIED {
        if (*version..7).contains(&number("minWriterVersion")) {
            writer.extend(names.iter().map(|name| (*name).to_owned()));
        }
    }
    let of = |name: &String, reader| Meaning {
        name: name.clone(),
        reader,
        means: meaning(name),
    };
    let only_writer = writer.iter().filter(|name| !reader.contains(name));
    let mut out: Vec<Meaning> = reader.iter().map(|name| of(name, true)).collect();
    out.extend(only_writer.map(|name| of(name, false)));
    out
}

/// Writer versions before feature lists, and what each adds.
const IMPLIED: &[(i64, &[&str])] = &[
    (2, &["appendOnly", "invariants"]),
    (3, &["checkConstraints"]),
    (4, &["changeDataFeed", "generatedColumns"]),
    (5, &["columnMapping"]),
    (6, &["identityColumns"]),
];

/// What a feature means. `None` for one this build never heard of.
pub fn meaning(name: &str) -> Option<&'static str> {
    Some(match name.trim_end_matches("-preview") {
        "appendOnly" => "Rows may only be added while delta.appendOnly is true",
        "invariants" => "Writers check expressions kept with the columns",
        "checkConstraints" => "Writers check the table's CHECK constraints",
        "changeDataFeed" => "Writers may record changed rows beside the data",
        "generatedColumns" => "Writers compute some columns from others",
        "columnMapping" => "Files name columns by physical name or id, so renames cost nothing",
        "identityColumns" => "Writers number rows",
        "deletionVectors" => "Deleted rows are masked by bitmaps beside the files",
        "rowTracking" => "Rows keep an id through rewrites",
        "timestampNtz" => "Times without a time zone",
        "domainMetadata" => "Named configuration that writers must carry along",
        "v2Checkpoint" => "Checkpoints may be split into sidecar files",
        "icebergCompatV1" | "icebergCompatV2" | "icebergCompatV3" => {
            "Files are written so that Iceberg can read them"
        }
        "clustering" => "Files are clustered by columns instead of partitioned",
        "allowColumnDefaults" => "Columns may have default values",
        "vacuumProtocolCheck" => "Vacuum must check the protocol first",
        "inCommitTimestamp" => "The commit itself says when it was made",
        "typeWidening" => "Column types were widened; old files hold the narrow type",
        "variantType" => "Semi-structured values",
        "variantShredding" => "Semi-structured values, partly stored as columns",
        "catalogManaged" | "catalogOwned" => "A catalog decides which commits count",
        "checkpointProtection" => "Old checkpoints must not be removed",
        "materializePartitionColumns" => "Files hold the partition columns too",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(protocol: Value) -> Vec<(String, bool)> {
        let Value::Object(map) = protocol else {
            return Vec::new();
        };
        features(&map)
            .into_iter()
            .map(|f| (f.name, f.reader))
            .collect()
    }

    #[test]
    fn lists_are_taken_as_they_are() {
        let got = names(json!({"minReaderVersion": 3, "minWriterVersion": 7,
            "readerFeatures": ["deletionVectors"],
            "writerFeatures": ["deletionVectors", "appendOnly"]}));
        assert_eq!(
            got,
            [
                ("deletionVectors".into(), true),
                ("appendOnly".into(), false)
            ]
        );
    }

    #[test]
    fn old_versions_imply_features() {
        let got = names(json!({"minReaderVersion": 1, "minWriterVersion": 3}));
        let got: Vec<String> = got.into_iter().map(|(name, _)| name).collect();
        assert_eq!(got, ["appendOnly", "invariants", "checkConstraints"]);
        let mapped = names(json!({"minReaderVersion": 2, "minWriterVersion": 5}));
        assert_eq!(mapped.first(), Some(&("columnMapping".to_owned(), true)));
        assert!(names(json!({"minReaderVersion": 1, "minWriterVersion": 1})).is_empty());
    }

    #[test]
    fn previews_mean_what_the_feature_means() {
        assert_eq!(meaning("typeWidening-preview"), meaning("typeWidening"));
        assert_eq!(meaning("somethingNew"), None);
    }
}
