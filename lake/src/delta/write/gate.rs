//! Tables that are not written to, by name.

use crate::delta::action::{Metadata, Protocol};
use crate::delta::features::{catalog_managed, unsupported_for_writing};
use crate::table::Version;

/// Why a table cannot be written to; `removes` where the act removes rows.
pub(crate) fn refusal(protocol: &Protocol, metadata: &Metadata, removes: bool) -> Option<String> {
    if let Some(feature) = catalog_managed(protocol) {
        return Some(format!(
            "the table is managed by a catalog ({feature}), which alone may commit to it"
        ));
    }
    let unsupported = unsupported_for_writing(protocol);
    if !unsupported.is_empty() {
        return Some(format!(
            "the table needs writer features that this build does not have: {}",
            unsupported.join(", ")
        ));
    }
    if removes && is_true(metadata, "delta.appendOnly") {
        return Some(
            "the table is append-only (delta.appendOnly = true): nothing may be removed from it"
                .to_owned(),
        );
    }
    None
}

/// Why no more versions can follow: the protocol counts them in a signed long. `commits` is how many
/// an act makes.
pub(crate) fn exhausted(version: Version, commits: u64) -> Option<String> {
    let last = i64::MAX as u64;
    let left = last.saturating_sub(version.0);
    (left < commits).then(|| {
        format!("version {version} is the newest, and versions end at {last}: nothing can follow")
    })
}

/// Whether a property is set to true.
pub(crate) fn is_true(metadata: &Metadata, property: &str) -> bool {
    let value = metadata.configuration.get(property);
    value.is_some_and(|v| v.eq_ignore_ascii_case("true"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_end_where_a_long_does() {
        let last = i64::MAX as u64;
        assert_eq!(exhausted(Version(3), 2), None);
        assert_eq!(exhausted(Version(last - 2), 2), None);
        for (version, commits) in [(last - 1, 2), (last, 1), (u64::MAX, 1)] {
            assert!(exhausted(Version(version), commits).is_some(), "{version}");
        }
    }
}
