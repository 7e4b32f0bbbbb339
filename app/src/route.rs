//! Pages and their addresses: a pure mapping in both directions.
//!
//! A table is its configured name or `<zone>/<prefix>`, a file its path; each is one
//! percent-encoded segment, so that no name can be taken for another part of the address.

use std::fmt;

use lake::hours::Slot;
use lake::table::{At, Time, Version};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

mod query;

pub use query::Query;

/// Left as they are in a segment; everything else is percent-encoded.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'=')
    .remove(b':');

/// A page and what it is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// All zones and tables.
    Lake,
    /// A table's history.
    Timeline { table: String },
    /// What one commit changed.
    Commit { table: String, version: Version },
    /// A table as it was at a version, at a time, or as it is.
    Snapshot { table: String, at: At },
    /// Two versions compared.
    Diff {
        table: String,
        from: Version,
        to: Version,
    },
    /// One data file of a version.
    File {
        table: String,
        version: Version,
        path: String,
    },
    /// Partitions and file sizes of the newest version, or of another.
    Layout { table: String, at: At },
    /// An earlier version put back: which one is the parameter `to`.
    Restore { table: String },
    /// What is cleaned up and packed, what is kept, and who is at it.
    Maintenance { table: String },
    /// The hours of a dataset.
    Hours { dataset: String },
    /// One hour of a dataset, or one of its days where it has no hours.
    Hour { dataset: String, slot: Slot },
    /// Partitions and file sizes of a dataset.
    DatasetLayout { dataset: String },
    /// Up to when each dataset is closed.
    Closed,
    /// Who owns each zone, who reads it, how long it is kept.
    Zones,
    /// Who did what, and why.
    Audit,
    /// No page has this address.
    Unknown { path: String },
}

/// A route with its parameters: all that a link carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The page.
    pub route: Route,
    /// Filter, selection, sort, measure: whatever the page keeps in its address.
    pub query: Query,
}

impl Route {
    /// The route of a path as the address bar holds it. Never fails: what is no page is
    /// [`Route::Unknown`].
    pub fn parse(path: &str) -> Self {
        Self::known(path).unwrap_or_else(|| Self::Unknown {
            path: path.to_owned(),
        })
    }

    fn known(path: &str) -> Option<Self> {
        let mut segments = path.strip_prefix('/')?.split('/').collect::<Vec<_>>();
        // A trailing slash is the same page.
        if segments.last() == Some(&"") {
            segments.pop();
        }
        let table = |segment: &str| decode(segment).filter(|t| !t.is_empty());
        Some(match segments.as_slice() {
            [] => Self::Lake,
            ["t", t] => Self::Timeline { table: table(t)? },
            ["t", t, "layout"] => Self::Layout {
                table: table(t)?,
                at: At::Latest,
            },
            ["t", t, "v", at, "layout"] => Self::Layout {
                table: table(t)?,
                at: at_from_segment(at)?,
            },
            ["t", t, "restore"] => Self::Restore { table: table(t)? },
            ["t", t, "maintenance"] => Self::Maintenance { table: table(t)? },
            ["d", d] => Self::Hours { dataset: table(d)? },
            ["d", d, "layout"] => Self::DatasetLayout { dataset: table(d)? },
            ["d", d, day] => Self::Hour {
                dataset: table(d)?,
                slot: Slot::day(day.parse().ok()?),
            },
            ["d", d, day, hour] => Self::Hour {
                dataset: table(d)?,
                slot: Slot::hour(day.parse().ok()?, hour_of(hour)?),
            },
            ["hours"] => Self::Closed,
            ["zones"] => Self::Zones,
            ["audit"] => Self::Audit,
            ["t", t, "c", version] => Self::Commit {
                table: table(t)?,
                version: version.parse().ok()?,
            },
            ["t", t, "v", at] => Self::Snapshot {
                table: table(t)?,
                at: at_from_segment(at)?,
            },
            ["t", t, "diff", range] => {
                let (from, to) = range.split_once("..")?;
                Self::Diff {
                    table: table(t)?,
                    from: from.parse().ok()?,
                    to: to.parse().ok()?,
                }
            }
            ["t", t, "v", version, "f", file] => Self::File {
                table: table(t)?,
                version: version.parse().ok()?,
                path: decode(file).filter(|p| !p.is_empty())?,
            },
            _ => return None,
        })
    }

    /// The table's name or `<zone>/<prefix>`, on pages about one.
    pub fn table(&self) -> Option<&str> {
        match self {
            Self::Lake
            | Self::Hours { .. }
            | Self::Hour { .. }
            | Self::DatasetLayout { .. }
            | Self::Closed
            | Self::Zones
            | Self::Audit
            | Self::Unknown { .. } => None,
            Self::Timeline { table }
            | Self::Commit { table, .. }
            | Self::Snapshot { table, .. }
            | Self::Diff { table, .. }
            | Self::File { table, .. }
            | Self::Layout { table, .. }
            | Self::Restore { table }
            | Self::Maintenance { table } => Some(table),
        }
    }

    /// The dataset's name, on pages about one.
    pub fn dataset(&self) -> Option<&str> {
        match self {
            Self::Hours { dataset }
            | Self::Hour { dataset, .. }
            | Self::DatasetLayout { dataset } => Some(dataset),
            _ => None,
        }
    }

    /// The version that the page is about, where its address names one.
    pub fn version(&self) -> Option<Version> {
        match self {
            Self::Commit { version, .. }
            | Self::File { version, .. }
            | Self::Snapshot {
                at: At::Version(version),
                ..
            }
            | Self::Layout {
                at: At::Version(version),
                ..
            } => Some(*version),
            Self::Diff { to, .. } => Some(*to),
            _ => None,
        }
    }

    /// Which version of the table the page is about; the newest where it is about none.
    pub fn at(&self) -> At {
        match self {
            Self::Snapshot { at, .. } | Self::Layout { at, .. } => *at,
            _ => self.version().map_or(At::Latest, At::Version),
        }
    }

    /// The same page about another version; `None` where the page is not about one.
    ///
    /// A diff keeps its width.
    pub fn with_version(&self, version: Version) -> Option<Self> {
        let mut route = self.clone();
        match &mut route {
            Self::Commit { version: v, .. } => *v = version,
            Self::Snapshot { at, .. } | Self::Layout { at, .. } => *at = At::Version(version),
            Self::Diff { from, to, .. } => {
                let shifted = i128::from(from.0) + i128::from(version.0) - i128::from(to.0);
                *from = Version(u64::try_from(shifted).ok()?);
                *to = version;
            }
            _ => return None,
        }
        Some(route)
    }

    /// Where an earlier version of a table is put back.
    pub fn restore(table: String, to: Version) -> Place {
        let query = Query::default().with("to", Some(&to.to_string()));
        Self::Restore { table }.with(query)
    }

    /// The address with these parameters.
    pub fn with(self, query: Query) -> Place {
        Place { route: self, query }
    }

    /// The address without parameters, for a link.
    pub fn href(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let encode = |text| utf8_percent_encode(text, SEGMENT);
        if let Some(table) = self.table() {
            write!(f, "/t/{}", encode(table))?;
        }
        if let Some(dataset) = self.dataset() {
            write!(f, "/d/{}", encode(dataset))?;
        }
        match self {
            Self::Lake => f.write_str("/"),
            Self::Timeline { .. } | Self::Hours { .. } => Ok(()),
            Self::Hour { slot, .. } => match slot.hour {
                Some(hour) => write!(f, "/{}/{hour:02}", slot.day),
                None => write!(f, "/{}", slot.day),
            },
            Self::DatasetLayout { .. } => f.write_str("/layout"),
            Self::Closed => f.write_str("/hours"),
            Self::Zones => f.write_str("/zones"),
            Self::Commit { version, .. } => write!(f, "/c/{version}"),
            Self::Snapshot { at, .. } => write!(f, "/v/{}", at_segment(*at)),
            Self::Diff { from, to, .. } => write!(f, "/diff/{from}..{to}"),
            Self::File { version, path, .. } => write!(f, "/v/{version}/f/{}", encode(path)),
            Self::Layout { at: At::Latest, .. } => f.write_str("/layout"),
            Self::Layout { at, .. } => write!(f, "/v/{}/layout", at_segment(*at)),
            Self::Restore { .. } => f.write_str("/restore"),
            Self::Maintenance { .. } => f.write_str("/maintenance"),
            Self::Audit => f.write_str("/audit"),
            Self::Unknown { path } => f.write_str(path),
        }
    }
}

impl Place {
    /// The place of an address's path and query, with or without its question mark.
    pub fn parse(path: &str, search: &str) -> Self {
        Route::parse(path).with(Query::parse(search))
    }

    /// The address.
    pub fn href(&self) -> String {
        format!("{}{}", self.route, self.query)
    }
}

impl From<Route> for Place {
    fn from(route: Route) -> Self {
        route.with(Query::default())
    }
}

fn at_segment(at: At) -> String {
    match at {
        At::Latest => "latest".to_owned(),
        At::Version(version) => version.to_string(),
        At::Time(time) => utf8_percent_encode(&time.to_string(), SEGMENT).to_string(),
    }
}

fn at_from_segment(segment: &str) -> Option<At> {
    if segment == "latest" {
        return Some(At::Latest);
    }
    if let Ok(version) = segment.parse() {
        return Some(At::Version(version));
    }
    Time::parse(&decode(segment)?).ok().map(At::Time)
}

fn hour_of(segment: &str) -> Option<u8> {
    let digits = segment.len() <= 2 && segment.bytes().all(|b| b.is_ascii_digit());
    let hour = segment.parse::<u8>().ok().filter(|_| digits)?;
    (hour < 24).then_some(hour)
}

/// `None` where the bytes are not UTF-8: such an address was not made here.
fn decode(segment: &str) -> Option<String> {
    Some(percent_decode_str(segment).decode_utf8().ok()?.into_owned())
}

#[cfg(test)]
mod tests;
