//! What a configuration must hold to beyond its grammar: names, places and numbers that fit.

use std::ops::Range;
use std::time::Duration;

use lake::Result;
use lake::hours::{Dataset, State};
use lake::wire::http::AttentionConfig;
use toml::Spanned;

use super::dataset::{DatasetSection, dataset, names};
use super::file::{File, Reads, TableSection, ZoneSection};
use super::source::Source;
use super::{Config, ZoneConfig};
use crate::acts::Sizes;
use crate::reads::key::prefix_key;
use crate::stores::{Address, Overrides, knows};
use crate::tables::{Configured, Discovery};

/// Checks a file and makes the configuration of it.
pub(super) fn check(source: &Source<'_>, file: File) -> Result<Config> {
    let defaults = Config::default();
    check_access(source, &file)?;
    let mut zones: Vec<(ZoneConfig, Range<usize>)> = Vec::new();
    for section in &file.zone {
        let zone = zone(source, section)?;
        for (other, _) in &zones {
            if other.name == zone.name {
                let message = format!("there are two zones named `{}`", zone.name);
                return Err(source.wrong(&section.name.span(), message));
            }
            if overlap(other, &zone) {
                let message = format!(
                    "the zones `{}` and `{}` overlap: {} and {}",
                    other.name, zone.name, other.address, zone.address
                );
                return Err(source.wrong(&section.url.span(), message));
            }
        }
        zones.push((zone, section.url.span()));
    }
    let zones: Vec<ZoneConfig> = zones.into_iter().map(|(zone, _)| zone).collect();
    let names = file.table.iter().map(|table| &table.name);
    let names = names.chain(file.dataset.iter().map(|dataset| &dataset.name));
    let mut taken: Vec<&str> = Vec::new();
    for name in names {
        check_name(source, name, true)?;
        if taken.contains(&name.get_ref().as_str()) {
            let message = format!("the name `{}` is given twice", name.get_ref());
            return Err(source.wrong(&name.span(), message));
        }
        taken.push(name.get_ref());
    }
    let datasets = file.dataset.iter();
    let datasets = datasets.map(|section| {
        check_reads(source, &section.reads, &file.dataset)?;
        dataset(source, section, &zones)
    });
    let datasets: Vec<Dataset> = datasets.collect::<Result<_>>()?;
    check_apart(source, &file.dataset, &datasets)?;
    let tables: Vec<Configured> = file
        .table
        .iter()
        .map(|section| table(source, section, &zones, &file.dataset))
        .collect::<Result<_>>()?;
    check_rest(source, &file, &zones)?;
    let control = file.server.control.as_ref();
    let control = control.map(|url| control_of(source, url, &zones));
    Ok(Config {
        control: control.transpose()?,
        listen: file.server.listen.unwrap_or(defaults.listen),
        redirect: matches!(file.server.reads, Reads::Redirect),
        public_url: file.server.public_url.map(|url| url.into_inner().0),
        cache_bytes: file
            .server
            .cache
            .map_or(defaults.cache_bytes, |size| size.0),
        attention: AttentionConfig {
            rows_removed: match file.attention.rows_removed {
                Some(share) => share.into_inner(),
                None => defaults.attention.rows_removed,
            },
            hour: match &file.attention.hour {
                Some(word) => attention_of(source, word)?,
                None => defaults.attention.hour,
            },
        },
        allow_short_vacuum: Some(file.vacuum.allow_short),
        discovery: Discovery {
            depth: match file.discover.depth {
                Some(depth) => depth.into_inner() as usize,
                None => defaults.discovery.depth,
            },
            every: match file.discover.every {
                Some(every) => every.into_inner().duration,
                None => defaults.discovery.every,
            },
        },
        sizes: Sizes {
            min: match file.optimize.min {
                Some(min) => min.into_inner().0,
                None => defaults.sizes.min,
            },
            target: match file.optimize.target {
                Some(target) => target.into_inner().0,
                None => defaults.sizes.target,
            },
        },
        zones,
        tables,
        datasets,
    })
}

/// Access that this build cannot enforce must not look as if it were.
fn check_access(source: &Source<'_>, file: &File) -> Result<()> {
    let Some(mode) = &file.access.mode else {
        return Ok(());
    };
    let message = match mode.get_ref().as_str() {
        "none" => return Ok(()),
        known @ ("tokens" | "proxy" | "oidc") => {
            format!(
                "access.mode `{known}` is not in this build: only `none`, on a loopback address"
            )
        }
        other => format!("`{other}` is not a mode of access: none, tokens, proxy, oidc"),
    };
    Err(source.wrong(&mode.span(), message))
}

fn zone(source: &Source<'_>, section: &ZoneSection) -> Result<ZoneConfig> {
    check_name(source, &section.name, false)?;
    let address = address(source, &section.url)?;
    let file = |name: &Option<String>| name.as_ref().map(|name| source.directory.join(name));
    let mut store = Overrides::new();
    for (key, value) in &section.store {
        if !knows(address.scheme(), key.get_ref()) {
            let message = format!("`{}` is not a setting of this zone's store", key.get_ref());
            return Err(source.wrong(&key.span(), message));
        }
        store.insert(key.get_ref().clone(), value.text());
    }
    Ok(ZoneConfig {
        name: section.name.get_ref().clone(),
        address,
        owner: section.owner.clone(),
        format: section.format.clone(),
        retention: section.retention.retention(),
        readers: section.readers.clone(),
        writers: section.writers.clone(),
        lifecycle: file(&section.lifecycle),
        policy: file(&section.policy),
        encryption: file(&section.encryption),
        public_access: file(&section.public_access),
        store,
    })
}

/// Refuses datasets of one zone that have keys in common: what the markers of the one keep, the
/// other would delete.
fn check_apart(
    source: &Source<'_>,
    sections: &[DatasetSection],
    datasets: &[Dataset],
) -> Result<()> {
    for (at, (section, dataset)) in sections.iter().zip(datasets).enumerate() {
        let before = datasets.iter().take(at);
        let mut before = before.filter(|other| other.zone == dataset.zone);
        if let Some(other) = before.find(|other| {
            within(&other.prefix, &dataset.prefix) || within(&dataset.prefix, &other.prefix)
        }) {
            let message = format!(
                "the datasets `{}` and `{}` overlap: `prefix` is `{}` and `{}` in zone `{}`",
                other.name, dataset.name, other.prefix, dataset.prefix, dataset.zone
            );
            return Err(source.wrong(&section.prefix.span(), message));
        }
    }
    Ok(())
}

/// Refuses dead letters where they would be taken for data, or data for them.
pub(super) fn check_letters(
    source: &Source<'_>,
    letters: &Spanned<String>,
    dataset: &str,
    date: &str,
) -> Result<String> {
    let prefix = check_prefix(source, letters)?;
    let wrong = |why: &str| {
        let message = format!("`dead_letter_prefix` {why}");
        Err(source.wrong(&letters.span(), message))
    };
    if prefix.is_empty() {
        return wrong(
            "is empty: leave it out where there is none, and say where dead letters land otherwise",
        );
    }
    if within(&prefix, dataset) || within(dataset, &prefix) {
        return wrong("overlaps the dataset's own prefix: dead letters lie apart from the data");
    }
    if prefix
        .split('/')
        .any(|segment| segment.starts_with(&format!("{date}=")))
    {
        return wrong("is that of one day: the partitions of the dataset come below it");
    }
    Ok(prefix)
}

/// Whether a prefix is another one or lies below it.
fn within(prefix: &str, other: &str) -> bool {
    let rest = prefix.strip_prefix(other);
    other.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn address(source: &Source<'_>, url: &Spanned<String>) -> Result<Address> {
    Address::parse(url.get_ref()).map_err(|e| source.wrong(&url.span(), format!("{e}")))
}

/// Where audit and jobs are kept, which is nobody's to read as data.
fn control_of(source: &Source<'_>, url: &Spanned<String>, zones: &[ZoneConfig]) -> Result<Address> {
    let control = address(source, url)?;
    let around = zones.iter().find(|zone| {
        zone.address.below(&control).is_some() || control.below(&zone.address).is_some()
    });
    match around {
        None => Ok(control),
        Some(zone) => {
            let message = format!(
                "`control` overlaps the zone `{}`: {control} and {}",
                zone.name, zone.address
            );
            Err(source.wrong(&url.span(), message))
        }
    }
}

/// Whether one zone lies in the other: the same store, and one prefix inside the other.
fn overlap(a: &ZoneConfig, b: &ZoneConfig) -> bool {
    let endpoint = |zone: &ZoneConfig| {
        let mut keys = zone.store.iter();
        let found = keys.find(|(key, _)| key.to_ascii_lowercase().contains("endpoint"));
        found.map(|(_, value)| value.trim_end_matches('/').to_owned())
    };
    let nested = a.address.below(&b.address).is_some() || b.address.below(&a.address).is_some();
    nested && endpoint(a) == endpoint(b)
}

fn check_name(source: &Source<'_>, name: &Spanned<String>, slashes: bool) -> Result<()> {
    let text = name.get_ref();
    let fits = |c: char| {
        c.is_alphanumeric() || matches!(c, '.' | '-' | '_') || slashes && matches!(c, '/' | ' ')
    };
    if text.is_empty() || matches!(text.as_str(), "." | "..") || !text.chars().all(fits) {
        let message = format!(
            "`{}` is not a name: letters, digits, `.`, `-` and `_`",
            text.escape_debug()
        );
        return Err(source.wrong(&name.span(), message));
    }
    Ok(())
}

pub(super) fn check_zone<'z>(
    source: &Source<'_>,
    name: &Spanned<String>,
    zones: &'z [ZoneConfig],
) -> Result<&'z ZoneConfig> {
    if let Some(zone) = zones.iter().find(|zone| zone.name == *name.get_ref()) {
        return Ok(zone);
    }
    let known: Vec<&str> = zones.iter().map(|zone| zone.name.as_str()).collect();
    let message = format!(
        "there is no zone named `{}`: there are {}",
        name.get_ref(),
        if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        }
    );
    Err(source.wrong(&name.span(), message))
}

pub(super) fn check_prefix(source: &Source<'_>, prefix: &Spanned<String>) -> Result<String> {
    let parsed = prefix_key(prefix.get_ref());
    let parsed = parsed.map_err(|e| source.wrong(&prefix.span(), e.sentence()))?;
    Ok(parsed.to_string())
}

fn table(
    source: &Source<'_>,
    section: &TableSection,
    zones: &[ZoneConfig],
    datasets: &[DatasetSection],
) -> Result<Configured> {
    check_zone(source, &section.zone, zones)?;
    check_reads(source, &section.reads, datasets)?;
    Ok(Configured {
        name: section.name.get_ref().clone(),
        zone: section.zone.get_ref().clone(),
        prefix: check_prefix(source, &section.prefix)?,
        format: section.format,
        reads: names(&section.reads),
    })
}

/// What is read is declared.
fn check_reads(
    source: &Source<'_>,
    reads: &[Spanned<String>],
    datasets: &[DatasetSection],
) -> Result<()> {
    let known = |read: &Spanned<String>| {
        let mut names = datasets.iter().map(|dataset| dataset.name.get_ref());
        names.any(|name| name == read.get_ref())
    };
    match reads.iter().find(|read| !known(read)) {
        None => Ok(()),
        Some(read) => {
            let message = format!("there is no dataset named `{}`", read.get_ref());
            Err(source.wrong(&read.span(), message))
        }
    }
}

/// The state that `attention.hour` names: this one and worse ones are called out.
fn attention_of(source: &Source<'_>, word: &Spanned<String>) -> Result<State> {
    let named = |state: &State| state.words() == word.get_ref();
    let mut states = State::ALL
        .into_iter()
        .filter(|state| state.needs_attention());
    states.clone().find(named).ok_or_else(|| {
        let words: Vec<&str> = states.by_ref().map(State::words).collect();
        let message = format!(
            "`{}` is not a state that is called out: {}",
            word.get_ref(),
            words.join(", ")
        );
        source.wrong(&word.span(), message)
    })
}

fn check_rest(source: &Source<'_>, file: &File, zones: &[ZoneConfig]) -> Result<()> {
    for catalog in file.catalog.values() {
        let section = catalog.get_ref();
        check_zone(source, &section.zone, zones)?;
        if !matches!(section.uri.get_ref().0.scheme(), "http" | "https") {
            let message = "a catalog's `uri` is http or https";
            return Err(source.wrong(&section.uri.span(), message));
        }
        if section.token.is_some() && section.oauth2.is_some() {
            let message = "a catalog has either `token` or `oauth2`";
            return Err(source.wrong(&catalog.span(), message));
        }
    }
    if let Some(url) = &file.server.public_url
        && (!matches!(url.get_ref().0.scheme(), "http" | "https")
            || url.get_ref().0.host().is_none())
    {
        let message = "`public_url` is http or https and names a host";
        return Err(source.wrong(&url.span(), message));
    }
    if let Some(share) = &file.attention.rows_removed
        && !(0.0..=1.0).contains(share.get_ref())
    {
        let message = format!("`{}` is not a share: it is from 0 to 1", share.get_ref());
        return Err(source.wrong(&share.span(), message));
    }
    if let Some(depth) = &file.discover.depth
        && *depth.get_ref() > 16
    {
        let message = "`depth` is at most 16: every level is a listing for every prefix of it";
        return Err(source.wrong(&depth.span(), message));
    }
    if let Some(every) = &file.discover.every
        && every.get_ref().duration < Duration::from_secs(1)
    {
        return Err(source.wrong(&every.span(), "`every` is at least 1s"));
    }
    let sizes = (&file.optimize.min, &file.optimize.target);
    for size in [sizes.0, sizes.1].into_iter().flatten() {
        if size.get_ref().0 == 0 {
            return Err(source.wrong(&size.span(), "a file of no bytes cannot be aimed at"));
        }
    }
    if let (Some(min), Some(target)) = sizes
        && min.get_ref().0 > target.get_ref().0
    {
        return Err(source.wrong(&min.span(), "`min` is larger than `target`"));
    }
    Ok(())
}
