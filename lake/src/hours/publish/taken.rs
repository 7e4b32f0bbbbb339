//! What a marker says of the loose keys that its run took in, and the object that says it where they
//! are many.

use bytes::Bytes;

use super::look::Look;
use super::run::segment;
use super::{Claim, Takes};
use crate::hours::Dataset;
use crate::hours::day::Slot;
use crate::hours::listing::Object;
use crate::hours::marker::Marker;
use crate::hours::taken::{INLINE, TAKEN, Took};
use crate::hours::template::Template;
use crate::{Error, Kind, Result};

/// Writes into a marker what is said of the loose keys; gives the list that it names, which must
/// stand before the marker does. `prefix` is the run's.
pub(super) fn state(
    dataset: &Dataset,
    slot: Slot,
    claim: &Claim,
    prefix: &str,
    seen: &Look,
    marker: &mut Marker,
) -> Result<Option<(String, Bytes)>> {
    let (took, until) = match &claim.takes {
        Takes::Unsaid => {
            // The run before is superseded as a whole, with all that went into it.
            let before = seen.markers.marker();
            if let Some(field) = before.and_then(|before| before.extra.get(TAKEN)) {
                marker.extra.insert(TAKEN.to_owned(), field.clone());
            }
            return Ok(None);
        }
        Takes::Loose => {
            let loose = seen.objects.loose.iter();
            let loose = loose.filter(|object: &&Object| !object.key.starts_with(prefix));
            (Took::of(dataset, slot, &claim.run, false, loose), None)
        }
        Takes::These { took, until } => (took.clone(), *until),
    };
    marker.set_loose_until(until)?;
    let unwritable = |e| Error::new(Kind::Internal, "a list that JSON cannot hold").because(e);
    let mut field = took;
    let mut record = None;
    if field.keys.len() > INLINE {
        let body = serde_json::to_vec(&field).map_err(unwritable)?;
        // Another list of the same run, of a publish that failed, has another name.
        let name = format!("{}-{:08x}", segment(&claim.run), crc32fast::hash(&body));
        let key = Template::of(dataset).taken(slot, &name);
        field.keys.clear();
        field.record = Some(key.clone());
        record = Some((key, Bytes::from(body)));
    }
    let field = serde_json::to_value(&field).map_err(unwritable)?;
    marker.extra.insert(TAKEN.to_owned(), field);
    Ok(record)
}
