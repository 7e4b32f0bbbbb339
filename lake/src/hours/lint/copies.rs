//! Prefixes that hold the same objects.

use std::collections::BTreeSet;

use crate::hours::listing::Object;
use crate::wire::Severity;
use crate::wire::hours::LintFinding;

/// What one prefix was found to hold.
#[derive(Clone, Debug)]
pub struct Listed<'a> {
    /// The zone.
    pub zone: &'a str,
    /// Key prefix in the zone, with a slash at its end.
    pub prefix: &'a str,
    /// Its objects.
    pub objects: &'a [Object],
}

impl<'a> Listed<'a> {
    /// Names below the prefix with sizes and entity tags: what makes two objects the same. Objects
    /// without a tag are the same as none.
    fn names(&self) -> BTreeSet<(&'a str, u64, &'a str)> {
        let objects = self.objects.iter();
        let names = objects.filter_map(|object| {
            let name = object.key.strip_prefix(self.prefix)?;
            Some((name, object.bytes, object.etag.as_deref()?))
        });
        names.collect()
    }
}

/// Two prefixes of which one holds all objects of the other.
pub fn copies(listed: &[Listed<'_>]) -> Vec<LintFinding> {
    let names: Vec<_> = listed.iter().map(Listed::names).collect();
    let mut found = Vec::new();
    for (nth, (one, one_names)) in listed.iter().zip(&names).enumerate() {
        for (other, other_names) in listed.iter().zip(&names).skip(nth + 1) {
            let same = one_names.intersection(other_names).count();
            if same == 0 || same < one_names.len().min(other_names.len()) {
                continue;
            }
            let objects = match same {
                1 => "the same object".to_owned(),
                n => format!("the same {n} objects"),
            };
            found.push(LintFinding {
                severity: Severity::Warning,
                rule: "copies".to_owned(),
                dataset: None,
                zone: Some(one.zone.to_owned()),
                location: Some(format!("{}/{}", one.zone, one.prefix)),
                message: format!(
                    "{}/{} holds {objects}, with equal names, sizes and entity tags: a second copy needs a restore procedure and an expiry",
                    other.zone, other.prefix
                ),
                owner: None,
            });
        }
    }
    found
}
