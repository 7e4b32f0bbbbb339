//! One page of a listing.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, RawQuery, State};
use lake::table::Time;
use lake::wire::http::{ListPage, ObjectEntry};
use lake::{Error, Result};
use object_store::ObjectMeta;

use super::fetch::quoted;
use super::key::{after_key, prefix_key};
use super::query::Params;
use crate::access::Person;
use crate::app::App;
use crate::failure::Failure;
use crate::segment::Segment;
use crate::stores::{Page, PageQuery};

/// The most that one page holds, which is what S3 gives for one request.
const MAX_LIMIT: u64 = 1000;

/// `GET /api/zones/{zone}/list?prefix=&after=&delimiter=&limit=`
pub async fn list(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    Segment(zone): Segment,
    RawQuery(query): RawQuery,
) -> Result<Json<ListPage>, Failure> {
    let params = Params::parse(query.as_deref(), &["prefix", "after", "delimiter", "limit"])?;
    let query = page_query(&params)?;
    let bucket = app.zone(&person, &zone)?.bucket()?;
    let prefix = query.prefix.clone();
    let page = bucket.pages.page(query).await;
    let page = page.map_err(|e| Error::from(e).at("prefix", prefix))?;
    Ok(Json(report(page)))
}

fn page_query(params: &Params) -> Result<PageQuery> {
    let delimiter = match params.get("delimiter") {
        None | Some("") => false,
        Some("/") => true,
        Some(other) => {
            return Err(Error::invalid(format!(
                "the delimiter is `/`, not `{}`",
                other.escape_debug()
            )));
        }
    };
    let limit = params.number("limit")?.unwrap_or(MAX_LIMIT);
    if limit == 0 {
        return Err(Error::invalid("`limit` is at least 1"));
    }
    let after = params.get("after").filter(|after| !after.is_empty());
    Ok(PageQuery {
        prefix: prefix_key(params.get("prefix").unwrap_or_default())?,
        after: after.map(after_key).transpose()?,
        delimiter,
        limit: limit.min(MAX_LIMIT) as usize,
    })
}

fn report(page: Page) -> ListPage {
    ListPage {
        next: page.next(),
        objects: page.objects.into_iter().map(entry).collect(),
        prefixes: page.prefixes.iter().map(ToString::to_string).collect(),
    }
}

fn entry(meta: ObjectMeta) -> ObjectEntry {
    ObjectEntry {
        key: meta.location.to_string(),
        size: meta.size,
        modified: Time(meta.last_modified.timestamp_millis()),
        etag: meta.e_tag.as_deref().map(quoted),
    }
}
