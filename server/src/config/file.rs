//! The configuration's sections as they stand in the file. An unknown key is an error.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::Deserialize;
use toml::Spanned;

use super::dataset::{DatasetSection, RetentionSection};
use super::later::{CatalogSection, OptimizeSection, VacuumSection};
use super::value::{Link, Size, Span};

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) server: ServerSection,
    #[serde(default)]
    pub(super) access: AccessSection,
    #[serde(default)]
    pub(super) zone: Vec<ZoneSection>,
    #[serde(default)]
    pub(super) dataset: Vec<DatasetSection>,
    #[serde(default)]
    pub(super) table: Vec<TableSection>,
    #[serde(default)]
    pub(super) catalog: BTreeMap<String, Spanned<CatalogSection>>,
    #[serde(default)]
    pub(super) vacuum: VacuumSection,
    #[serde(default)]
    pub(super) optimize: OptimizeSection,
    #[serde(default)]
    pub(super) attention: AttentionSection,
    #[serde(default)]
    pub(super) discover: DiscoverSection,
}

/// `[server]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerSection {
    pub(super) listen: Option<SocketAddr>,
    #[serde(default)]
    pub(super) reads: Reads,
    pub(super) public_url: Option<Spanned<Link>>,
    /// Where audit and jobs are kept.
    pub(super) control: Option<Spanned<String>>,
    /// Bytes of small immutable objects that are kept.
    pub(super) cache: Option<Size>,
}

/// How a client gets an object's bytes.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reads {
    #[default]
    Proxy,
    Redirect,
}

/// `[access]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccessSection {
    pub(super) mode: Option<Spanned<String>>,
}

/// `[[zone]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ZoneSection {
    pub(super) name: Spanned<String>,
    pub(super) url: Spanned<String>,
    pub(super) owner: Option<String>,
    pub(super) format: Option<String>,
    #[serde(default)]
    pub(super) retention: RetentionSection,
    #[serde(default)]
    pub(super) store: BTreeMap<Spanned<String>, Setting>,
    #[serde(default)]
    pub(super) readers: Vec<String>,
    #[serde(default)]
    pub(super) writers: Vec<String>,
    pub(super) lifecycle: Option<String>,
    pub(super) policy: Option<String>,
    pub(super) encryption: Option<String>,
    pub(super) public_access: Option<String>,
}

/// One of object_store's own settings, which all are text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Setting {
    Text(String),
    Flag(bool),
    Number(i64),
}

impl Setting {
    /// The text that object_store reads.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// `[[table]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableSection {
    pub(super) name: Spanned<String>,
    pub(super) zone: Spanned<String>,
    pub(super) prefix: Spanned<String>,
    pub(super) format: Option<lake::wire::Format>,
    #[serde(default)]
    pub(super) reads: Vec<Spanned<String>>,
}

/// `[attention]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AttentionSection {
    pub(super) rows_removed: Option<Spanned<f64>>,
    pub(super) hour: Option<Spanned<String>>,
}

/// `[discover]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiscoverSection {
    pub(super) depth: Option<Spanned<u32>>,
    pub(super) every: Option<Spanned<Span>>,
}
