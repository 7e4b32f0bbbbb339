//! Which bucket a zone lies in, and where in it: lifecycle rules and policies speak of buckets.

use super::ZoneDecl;
use crate::hours::dataset::{Dataset, MarkerKind, join};
use crate::hours::template::Template;

/// A bucket, and a zone's place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    /// What makes two zones neighbours.
    pub(super) id: String,
    /// Its name.
    pub(super) name: String,
    /// The zone's keys begin with it; empty, or with a slash at its end.
    pub(super) base: String,
}

impl Bucket {
    /// The bucket of a zone's URL. A folder of the disk is a bucket of its own.
    pub(super) fn of(zone: &ZoneDecl) -> Self {
        let (scheme, rest) = zone.url.split_once("://").unwrap_or(("", &zone.url));
        let scheme = match scheme {
            "s3a" | "s3n" => "s3",
            scheme => scheme,
        };
        if scheme == "file" {
            let folder = rest.trim_end_matches('/');
            return Self {
                id: zone.url.clone(),
                name: folder.rsplit('/').next().unwrap_or_default().to_owned(),
                base: String::new(),
            };
        }
        let (name, base) = rest.split_once('/').unwrap_or((rest, ""));
        let base = match base.trim_end_matches('/') {
            "" => String::new(),
            base => format!("{base}/"),
        };
        Self {
            id: format!("{scheme}://{name}"),
            name: name.to_owned(),
            base,
        }
    }
}

/// Where one dataset's objects of each kind begin, as keys of the bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// Loose keys and runs: `learning/progress/event_date=`.
    pub(super) runs: String,
    /// `learning/progress/_markers/`; `None` where markers lie among the data.
    pub(super) markers: Option<String>,
    /// `commerce/purchase_line.dlq/`
    pub(super) dead_letters: Option<String>,
}

impl Places {
    pub(super) fn of(bucket: &Bucket, dataset: &Dataset) -> Self {
        let key = |key: &str| format!("{}{key}", bucket.base);
        let root = Template::of(dataset).root();
        let own = matches!(
            dataset.marker.kind,
            MarkerKind::Tidemark | MarkerKind::Custom
        );
        let letters = dataset.complete.as_ref();
        let letters = letters.and_then(|gate| gate.dead_letters.as_deref());
        Self {
            runs: key(&join(
                &dataset.prefix,
                &format!("{}=", dataset.date_column()),
            )),
            markers: (own && root != dataset.prefix).then(|| key(&format!("{root}/"))),
            dead_letters: letters.map(|prefix| key(&format!("{prefix}/"))),
        }
    }
}
