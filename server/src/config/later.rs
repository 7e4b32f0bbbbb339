//! Sections that are read and checked here and acted on elsewhere: datasets, catalogs, vacuum.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::value::{Link, Size, Span};

/// `[[dataset]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DatasetSection {
    pub(super) name: Spanned<String>,
    pub(super) zone: Spanned<String>,
    pub(super) prefix: Spanned<String>,
    pub(super) partition: Spanned<Vec<String>>,
    pub(super) marker: Option<Spanned<String>>,
    #[serde(rename = "marker_kind")]
    _marker_kind: Option<MarkerKind>,
    pub(super) marker_level: Option<Spanned<String>>,
    #[serde(rename = "close_after")]
    _close_after: Option<Span>,
    #[serde(rename = "expects")]
    _expects: Option<Expects>,
    pub(super) first: Option<Spanned<String>>,
    #[serde(default, rename = "banned_keys")]
    _banned_keys: Vec<String>,
    #[serde(rename = "event_time")]
    _event_time: Option<String>,
    #[serde(default, rename = "grain")]
    _grain: Vec<String>,
    #[serde(default, rename = "prohibited_columns")]
    _prohibited_columns: Vec<String>,
    #[serde(default, rename = "columns")]
    _columns: BTreeMap<String, String>,
    #[serde(rename = "owner")]
    _owner: Option<String>,
    #[serde(rename = "publisher")]
    _publisher: Option<String>,
    #[serde(rename = "compaction_owner")]
    _compaction_owner: Option<String>,
    #[serde(rename = "stream")]
    _stream: Option<Stream>,
    #[serde(rename = "definition_version")]
    _definition_version: Option<String>,
    pub(super) budget: Option<Budget>,
    #[serde(default, rename = "retention")]
    _retention: BTreeMap<String, Promise>,
    #[serde(rename = "metastore")]
    _metastore: Option<Metastore>,
    pub(super) complete: Option<Complete>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MarkerKind {
    Tidemark,
    Success,
    Committed,
    Custom,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Expects {
    EveryHour,
    SomeHours,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stream {
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "url")]
    _url: Link,
}

/// `[dataset.budget]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Budget {
    pub(super) objects_per_hour: Option<Spanned<u64>>,
    #[serde(rename = "median_bytes")]
    _median_bytes: Option<Size>,
}

/// How long, and who says so.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a duration such as `7d`, or { keep = \"7d\", source = \"…\" }"
)]
pub(super) enum Promise {
    /// How long.
    Short(Span),
    /// How long, and who says so.
    Long(LongPromise),
}

/// `{ keep = "7d", source = "…" }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LongPromise {
    keep: Span,
    #[serde(rename = "source")]
    _source: Option<String>,
}

impl Promise {
    /// The duration as it was written.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Short(keep) => &keep.text,
            Self::Long(promise) => &promise.keep.text,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metastore {
    #[serde(rename = "uri")]
    _uri: Link,
    #[serde(rename = "table")]
    _table: String,
}

/// `[dataset.complete]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Complete {
    #[serde(rename = "key")]
    _key: String,
    #[serde(rename = "sequence")]
    _sequence: String,
    #[serde(rename = "dead_letters")]
    _dead_letters: Option<DeadLetters>,
    pub(super) dead_letter_prefix: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DeadLetters {
    Block,
    Report,
}

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
