//! `[[dataset]]`, and the retention that datasets and zones promise.

use indexmap::IndexMap;
use lake::Result;
use lake::hours::Dataset;
use lake::hours::dataset::{
    Budget, Complete, MarkerKind, MarkerRule, Metastore, Promise, Retention, Stream,
};
use lake::hours::key::RUN;
use lake::hours::kind::is_type;
use serde::Deserialize;
use toml::Spanned;

use super::ZoneConfig;
use super::check::{check_letters, check_prefix, check_zone};
use super::source::Source;
use super::value::{Link, Size, Span};

/// `[[dataset]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DatasetSection {
    pub(super) name: Spanned<String>,
    zone: Spanned<String>,
    pub(super) prefix: Spanned<String>,
    partition: Spanned<Vec<String>>,
    marker: Option<Spanned<String>>,
    #[serde(default)]
    marker_kind: MarkerKind,
    marker_level: Option<Spanned<String>>,
    close_after: Option<Span>,
    #[serde(default)]
    expects: Expects,
    first: Option<Spanned<Date>>,
    banned_keys: Option<Vec<String>>,
    event_time: Option<String>,
    #[serde(default)]
    grain: Vec<String>,
    #[serde(default)]
    prohibited_columns: Vec<String>,
    #[serde(default)]
    columns: IndexMap<String, Spanned<String>>,
    owner: Option<String>,
    publisher: Option<String>,
    compaction_owner: Option<String>,
    stream: Option<StreamSection>,
    definition_version: Option<String>,
    #[serde(default)]
    budget: BudgetSection,
    #[serde(default)]
    retention: RetentionSection,
    metastore: Option<MetastoreSection>,
    complete: Option<CompleteSection>,
    #[serde(default)]
    pub(super) reads: Vec<Spanned<String>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Expects {
    #[default]
    EveryHour,
    SomeHours,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamSection {
    name: String,
    url: Spanned<Link>,
}

/// A date, as text or as TOML has one.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a date such as \"2026-11-10\"")]
enum Date {
    Text(String),
    Toml(toml::value::Datetime),
}

/// `[dataset.budget]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetSection {
    objects_per_hour: Option<Spanned<u64>>,
    median_bytes: Option<Size>,
}

/// `[zone.retention]` and `[dataset.retention]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetentionSection {
    topic: Option<PromiseSection>,
    replay_margin: Option<PromiseSection>,
    audit: Option<PromiseSection>,
    pub(super) keep: Option<PromiseSection>,
}

/// How long, and who says so.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a duration such as `7d`, or { keep = \"7d\", source = \"…\" }"
)]
pub(super) enum PromiseSection {
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
    source: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MetastoreSection {
    uri: Spanned<Link>,
    table: Spanned<String>,
}

/// `[dataset.complete]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CompleteSection {
    key: String,
    sequence: String,
    #[serde(default)]
    dead_letters: DeadLetters,
    dead_letter_prefix: Option<Spanned<String>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DeadLetters {
    #[default]
    Block,
    Report,
}

/// Names that no key has before a `=` unless the configuration says otherwise.
pub const BANNED: &[&str] = &["learner_id", "email", "order_id", "event_id"];

/// Milliseconds after an hour's end until it should be closed, where nobody says.
const GRACE: i64 = 15 * 60_000;

impl PromiseSection {
    fn span(&self) -> &Span {
        match self {
            Self::Short(keep) => keep,
            Self::Long(promise) => &promise.keep,
        }
    }

    fn promise(&self) -> Promise {
        let span = self.span();
        Promise {
            text: span.text.clone(),
            millis: millis(span),
            source: match self {
                Self::Short(_) => None,
                Self::Long(promise) => promise.source.clone(),
            },
        }
    }
}

fn millis(span: &Span) -> i64 {
    i64::try_from(span.duration.as_millis()).unwrap_or(i64::MAX)
}

impl RetentionSection {
    /// What is promised.
    pub(super) fn retention(&self) -> Retention {
        let promise =
            |section: &Option<PromiseSection>| section.as_ref().map(PromiseSection::promise);
        Retention {
            topic: promise(&self.topic),
            replay_margin: promise(&self.replay_margin),
            audit: promise(&self.audit),
            keep: promise(&self.keep),
        }
    }

    /// What is promised here, else what `zone` promises.
    fn over(&self, zone: &Retention) -> Retention {
        let own = self.retention();
        let other = zone.clone();
        Retention {
            topic: own.topic.or(other.topic),
            replay_margin: own.replay_margin.or(other.replay_margin),
            audit: own.audit.or(other.audit),
            keep: own.keep.or(other.keep),
        }
    }
}

/// Checks a section and makes the declaration of it.
pub(super) fn dataset(
    source: &Source<'_>,
    section: &DatasetSection,
    zones: &[ZoneConfig],
) -> Result<Dataset> {
    let zone = check_zone(source, &section.zone, zones)?;
    let marker = marker(source, section)?;
    let first = section.first.as_ref().map(|first| {
        let day = match first.get_ref() {
            Date::Text(text) => text.parse(),
            Date::Toml(date) => date.to_string().parse(),
        };
        day.map_err(|e: lake::Error| {
            source.wrong(&first.span(), format!("`first`: {}", e.sentence()))
        })
    });
    if let Some(objects) = &section.budget.objects_per_hour
        && *objects.get_ref() == 0
    {
        let message = "a budget of no objects cannot be kept";
        return Err(source.wrong(&objects.span(), message));
    }
    let complete = section.complete.as_ref();
    let prefix = check_prefix(source, &section.prefix)?;
    let partition = partition(source, section)?;
    let date = partition.first().cloned().unwrap_or_default();
    let banned = || BANNED.iter().map(|name| (*name).to_owned()).collect();
    let complete = complete
        .map(|section| gate(source, section, &prefix, &date))
        .transpose()?;
    Ok(Dataset {
        name: section.name.get_ref().clone(),
        zone: zone.name.clone(),
        url: zone.address.to_string(),
        prefix,
        partition,
        marker,
        grace: section.close_after.as_ref().map_or(GRACE, millis),
        every_hour: matches!(section.expects, Expects::EveryHour),
        first: first.transpose()?,
        banned_keys: section.banned_keys.clone().unwrap_or_else(banned),
        event_time: section.event_time.clone(),
        grain: section.grain.clone(),
        prohibited_columns: section.prohibited_columns.clone(),
        columns: columns(source, section)?,
        owner: section.owner.clone().or_else(|| zone.owner.clone()),
        publisher: section.publisher.clone(),
        compaction_owner: section.compaction_owner.clone(),
        stream: section
            .stream
            .as_ref()
            .map(|section| stream(source, section))
            .transpose()?,
        definition_version: section.definition_version.clone(),
        budget: Budget {
            objects: section
                .budget
                .objects_per_hour
                .as_ref()
                .map(|n| *n.get_ref()),
            median_bytes: section.budget.median_bytes.map(|size| size.0),
        },
        retention: section.retention.over(&zone.retention),
        complete,
        metastore: section
            .metastore
            .as_ref()
            .map(|section| metastore(source, section))
            .transpose()?,
        reads: names(&section.reads),
    })
}

/// The names without their places.
pub(super) fn names(spanned: &[Spanned<String>]) -> Vec<String> {
    let names = spanned.iter().map(Spanned::get_ref);
    names.cloned().collect()
}

/// The declared columns, whose types go into statements.
fn columns(source: &Source<'_>, section: &DatasetSection) -> Result<IndexMap<String, String>> {
    let all = section.columns.iter().map(|(name, kind)| {
        if is_type(kind.get_ref()) {
            return Ok((name.clone(), kind.get_ref().clone()));
        }
        let message = format!(
            "`{}` of column `{}` is no type: write such as `string`, `long`, `timestamp`, `decimal(10,2)` or `array<string>`",
            kind.get_ref().escape_debug(),
            name.escape_debug()
        );
        Err(source.wrong(&kind.span(), message))
    });
    all.collect()
}

/// A page offers the link, so it leads to one.
fn stream(source: &Source<'_>, section: &StreamSection) -> Result<Stream> {
    let url = &section.url.get_ref().0;
    if !matches!(url.scheme(), "http" | "https") {
        let message = format!(
            "`url` of `stream` is an address of a page, http:// or https://, and no `{}:`",
            url.scheme()
        );
        return Err(source.wrong(&section.url.span(), message));
    }
    Ok(Stream {
        name: section.name.clone(),
        url: url.to_string(),
    })
}

fn partition(source: &Source<'_>, section: &DatasetSection) -> Result<Vec<String>> {
    let columns = section.partition.get_ref();
    let plain = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let message = match columns.as_slice() {
        names if names.iter().any(|name| name == RUN) => {
            "`partition` names the columns of the date and the hour: `run_id` is that of their runs"
        }
        [date] if plain(date) => return Ok(columns.clone()),
        [date, hour] if plain(date) && plain(hour) && date != hour => return Ok(columns.clone()),
        _ => {
            "`partition` names the column of the date and, where there are hours, that of the hour: letters, digits and `_`"
        }
    };
    Err(source.wrong(&section.partition.span(), message))
}

fn marker(source: &Source<'_>, section: &DatasetSection) -> Result<MarkerRule> {
    let columns = partition(source, section)?;
    let date = columns.first().map(String::as_str).unwrap_or_default();
    let whole_day = match &section.marker_level {
        None => false,
        Some(level) if !columns.contains(level.get_ref()) => {
            let message = format!("`{}` is no partition column", level.get_ref());
            return Err(source.wrong(&level.span(), message));
        }
        Some(level) => columns.len() > 1 && level.get_ref() == date,
    };
    if whole_day && section.marker_kind == MarkerKind::Tidemark {
        let span = section
            .marker_level
            .as_ref()
            .map(Spanned::span)
            .unwrap_or_default();
        return Err(source.wrong(
            &span,
            "our own markers close hours: a dataset of days has no column of the hour",
        ));
    }
    let placeholders: Vec<String> = match whole_day {
        true => vec![format!("{{{date}}}")],
        false => columns
            .iter()
            .map(|column| format!("{{{column}}}"))
            .collect(),
    };
    let Some(template) = &section.marker else {
        let path: Vec<String> = columns
            .iter()
            .zip(&placeholders)
            .map(|(column, placeholder)| format!("{column}={placeholder}"))
            .collect();
        return Ok(MarkerRule {
            kind: section.marker_kind,
            template: format!("_markers/{}.json", path.join("/")),
            whole_day,
        });
    };
    let text = check_prefix(source, template)?;
    let found: Vec<usize> = placeholders
        .iter()
        .filter_map(|name| text.find(name.as_str()))
        .collect();
    let braces = text.matches(['{', '}']).count();
    if found.len() != placeholders.len() || !found.is_sorted() || braces != 2 * placeholders.len() {
        let message = format!(
            "`marker` has each of {} once, in this order, and no other braces",
            placeholders.join(" and ")
        );
        return Err(source.wrong(&template.span(), message));
    }
    if section.marker_kind == MarkerKind::Tidemark
        && let Some(why) = unfit(&text, date)
    {
        return Err(source.wrong(&template.span(), why));
    }
    Ok(MarkerRule {
        kind: section.marker_kind,
        template: text,
        whole_day,
    })
}

/// Why markers of ours cannot lie there.
fn unfit(template: &str, date: &str) -> Option<&'static str> {
    if template.starts_with(&format!("{date}=")) {
        return Some(
            "`marker` lies among the data, where it would be a part of it: begin it with a folder such as `_markers/`",
        );
    }
    let name = template.rsplit('/').next().unwrap_or_default();
    let after = name.rsplit('}').next().unwrap_or_default();
    let extension = after
        .rsplit_once('.')
        .is_some_and(|(_, end)| !end.is_empty());
    (!extension).then_some(
        "`marker` ends with an extension such as `.json`: markers that were replaced lie in a folder of the name without it",
    )
}

fn gate(
    source: &Source<'_>,
    section: &CompleteSection,
    prefix: &str,
    date: &str,
) -> Result<Complete> {
    let letters = section.dead_letter_prefix.as_ref();
    Ok(Complete {
        key: section.key.clone(),
        sequence: section.sequence.clone(),
        report: matches!(section.dead_letters, DeadLetters::Report),
        dead_letters: letters
            .map(|letters| check_letters(source, letters, prefix, date))
            .transpose()?,
    })
}

fn metastore(source: &Source<'_>, section: &MetastoreSection) -> Result<Metastore> {
    let uri = &section.uri.get_ref().0;
    if uri.scheme() != "thrift" || uri.host().is_none() {
        let message = "a metastore's `uri` is `thrift://host:9083`";
        return Err(source.wrong(&section.uri.span(), message));
    }
    let named = section
        .table
        .get_ref()
        .split('.')
        .filter(|part| !part.is_empty())
        .count();
    if named != 2 {
        let message = "a metastore's `table` is `database.table`";
        return Err(source.wrong(&section.table.span(), message));
    }
    Ok(Metastore {
        uri: uri.to_string(),
        table: section.table.get_ref().clone(),
    })
}
