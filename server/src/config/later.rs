//! Sections beside zones, tables and datasets: catalogs, vacuum, optimize.

use serde::Deserialize;
use toml::Spanned;

use super::value::{Link, Size};

/// `[catalog.NAME]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CatalogSection {
    #[serde(rename = "type")]
    _kind: CatalogKind,
    pub(super) uri: Spanned<Link>,
    #[serde(rename = "warehouse")]
    _warehouse: Option<String>,
    pub(super) zone: Spanned<String>,
    pub(super) token: Option<String>,
    pub(super) oauth2: Option<OAuth2>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CatalogKind {
    Rest,
}

/// `oauth2 = { … }` of a catalog.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OAuth2 {
    #[serde(rename = "server")]
    _server: Link,
    #[serde(rename = "client_id")]
    _client_id: String,
    #[serde(rename = "client_secret")]
    _client_secret: String,
    #[serde(rename = "scope")]
    _scope: Option<String>,
}

/// `[vacuum]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VacuumSection {
    #[serde(default)]
    pub(super) allow_short: bool,
}

/// `[optimize]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OptimizeSection {
    pub(super) min: Option<Spanned<Size>>,
    pub(super) target: Option<Spanned<Size>>,
}
