//! Tables that are not written to, by name.

use crate::delta::action::{Metadata, Protocol};
use crate::delta::features::{catalog_managed, unsupported_for_writing};

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

/// Whether a property is set to true.
pub(crate) fn is_true(metadata: &Metadata, property: &str) -> bool {
    let value = metadata.configuration.get(property);
    value.is_some_and(|v| v.eq_ignore_ascii_case("true"))
}
