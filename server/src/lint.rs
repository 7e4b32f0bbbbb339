//! The lint over a configuration: its exported settings are read, and the newest keys of datasets.

mod named;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, RawQuery, State};
use futures::TryStreamExt as _;
use lake::host::SharedHost;
use lake::hours::find::{Finder, Gate, Memory};
use lake::hours::key::findings;
use lake::hours::lint::{Export, Listed, ZoneDecl, copies, worst_first};
use lake::hours::listing::Object;
use lake::hours::template::Template;
use lake::hours::{Dataset, Day, lint};
use lake::table::Time;
use lake::wire::Severity;
use lake::wire::hours::{Fresh, LintFinding};
use lake::wire::zones::ZonesReport;
use lake::{Error, Kind, Result};
use object_store::path::Path;

use self::named::named;
use crate::access::Person;
use crate::acts::now;
use crate::app::App;
use crate::config::ZoneConfig;
use crate::datasets::Placed;
use crate::failure::Failure;
use crate::reads::query::Params;
use crate::tables::aside;

/// Days back whose keys a lint looks at.
const DAYS: i32 = 3;
/// Keys of a dataset that a lint looks at.
const KEYS: usize = 20_000;
/// Keys of one rule that are findings of their own.
const SHOWN: usize = 20;
/// Bytes of an exported file: a bucket's policy has at most 20 KB, a lifecycle 1,000 rules.
const LARGEST: u64 = 4 << 20;

/// Zones as a lint takes them, with their exported settings as they are now.
pub fn declared(zones: &[ZoneConfig]) -> Vec<ZoneDecl> {
    zones.iter().map(declared_zone).collect()
}

fn declared_zone(zone: &ZoneConfig) -> ZoneDecl {
    let export = |path: &Option<std::path::PathBuf>| {
        let path = path.as_ref()?;
        let small = std::fs::metadata(path).is_ok_and(|meta| meta.len() > LARGEST);
        let text = match small {
            true => Err("it is larger than 4 MiB".to_owned()),
            false => std::fs::read_to_string(path).map_err(|e| e.to_string()),
        };
        Some(Export {
            file: path.display().to_string(),
            text,
        })
    };
    ZoneDecl {
        name: zone.name.clone(),
        url: zone.address.to_string(),
        owner: zone.owner.clone(),
        format: zone.format.clone(),
        readers: zone.readers.clone(),
        writers: zone.writers.clone(),
        retention: zone.retention.clone(),
        lifecycle: export(&zone.lifecycle),
        policy: export(&zone.policy),
        encryption: export(&zone.encryption),
        public_access: export(&zone.public_access),
    }
}

/// The newest objects of a dataset, those of its marker tree left out: all that an engine would
/// list.
async fn newest(placed: &Placed, now: Time) -> Result<Vec<Object>> {
    let dataset = &placed.dataset;
    let from = Day::of(now).plus(-DAYS);
    let before = format!("{}/{}={from}", dataset.prefix, dataset.date_column());
    let prefix = Path::parse(&dataset.prefix)
        .map_err(|e| Error::invalid("this prefix cannot be listed").because(e))?;
    let after = Path::parse(before.trim_start_matches('/'))
        .map_err(|e| Error::invalid("this prefix cannot be listed").because(e))?;
    let template = Template::of(dataset);
    let mut listed = placed.store.list_with_offset(Some(&prefix), &after);
    let mut found = Vec::new();
    while let Some(meta) = listed.try_next().await? {
        let object = Object::from(meta);
        if template.read(&object.key).is_none() {
            found.push(object);
        }
        if found.len() >= KEYS {
            break;
        }
    }
    Ok(found)
}

/// What the newest keys of datasets say: names that should not be, and prefixes that are copies.
pub async fn keys(placed: &[Placed], now: Time) -> Vec<LintFinding> {
    let mut found = Vec::new();
    let mut all: Vec<(&Dataset, String, Vec<Object>)> = Vec::new();
    for one in placed {
        let dataset = one.dataset.as_ref();
        match newest(one, now).await {
            Ok(objects) => {
                illegal(dataset, &objects, &mut found);
                all.push((dataset, format!("{}/", dataset.prefix), objects));
            }
            Err(error) => found.push(of(
                dataset,
                Severity::Warning,
                "not_listed",
                format!("its keys were not looked at: {error}"),
            )),
        }
    }
    let listed: Vec<Listed<'_>> = all
        .iter()
        .map(|(dataset, prefix, objects)| Listed {
            zone: &dataset.zone,
            prefix,
            objects,
        })
        .collect();
    found.extend(copies(&listed));
    found
}

/// What the newest closed hours of a dataset say of its budget.
pub async fn budgets(placed: &Placed, now: Time, host: &SharedHost) -> Vec<LintFinding> {
    let dataset = &placed.dataset;
    let finder = Finder::new(
        Arc::clone(dataset),
        Arc::clone(&placed.store),
        Arc::new(Memory::default()),
        Arc::clone(host),
        now,
    );
    let today = Day::of(now);
    let grid = finder.hours(today.plus(-DAYS), today, Fresh::Known, Gate::Suspect);
    match grid.await {
        Ok(report) => lint::hours(dataset, &report.hours),
        Err(error) => vec![of(
            dataset,
            Severity::Warning,
            "not_read",
            format!("its hours were not looked at: {error}"),
        )],
    }
}

fn of(dataset: &Dataset, severity: Severity, rule: &str, message: String) -> LintFinding {
    LintFinding {
        severity,
        rule: rule.to_owned(),
        dataset: Some(dataset.name.clone()),
        zone: Some(dataset.zone.clone()),
        location: None,
        message,
        owner: dataset.owner.clone(),
    }
}

fn illegal(dataset: &Dataset, objects: &[Object], found: &mut Vec<LintFinding>) {
    let mut shown = 0;
    let mut more = 0;
    for object in objects {
        let below = object.key.strip_prefix(&dataset.prefix);
        let below = below.unwrap_or(&object.key).trim_start_matches('/');
        for finding in findings(dataset, below) {
            if shown == SHOWN {
                more += 1;
                continue;
            }
            shown += 1;
            found.push(LintFinding {
                location: Some(object.key.clone()),
                ..of(dataset, finding.severity, &finding.rule, finding.message)
            });
        }
    }
    if more > 0 {
        let message = format!("{more} more findings about keys like those above");
        found.push(of(dataset, Severity::Warning, "keys", message));
    }
}

/// `GET /api/zones`: the zones this person may see, reviewed. With `keys=true` the newest keys of
/// their datasets are looked at too, as `tidemark lint` does.
pub async fn zones(
    State(app): State<Arc<App>>,
    Extension(person): Extension<Person>,
    RawQuery(query): RawQuery,
) -> Result<Json<ZonesReport>, Failure> {
    let keys = Params::parse(query.as_deref(), &["keys"])?.get("keys") == Some("true");
    let sees = |name: &str| app.zone(&person, name).is_ok();
    let seen: Vec<ZoneConfig> = app
        .declared
        .iter()
        .filter(|z| sees(&z.name))
        .cloned()
        .collect();
    let datasets: Vec<Arc<Dataset>> = app.datasets.iter().cloned().collect();
    let zones = declared(&seen);
    let report = tokio::task::spawn_blocking(move || {
        let datasets: Vec<&Dataset> = datasets
            .iter()
            .map(AsRef::as_ref)
            .filter(|dataset| seen.iter().any(|zone| zone.name == dataset.zone))
            .collect();
        lint::zones(&declared(&seen), &datasets)
    });
    let mut report = report
        .await
        .map_err(|e| Error::new(Kind::Internal, "the zones were not reviewed").because(e))?;
    if keys {
        let all = report.zones.iter().flat_map(|zone| &zone.datasets);
        let placed: Vec<Placed> = all
            .map(|review| app.datasets.placed(&review.dataset))
            .collect::<Result<_>>()?;
        let found = aside(&app, move |host| async move {
            Ok(stored(&placed, &zones, now(), &host).await)
        });
        report.findings.extend(found.await?);
        worst_first(&mut report.findings);
    }
    Ok(Json(report))
}

/// What the stores say of datasets, beyond what is declared.
pub async fn stored(
    placed: &[Placed],
    zones: &[ZoneDecl],
    now: Time,
    host: &SharedHost,
) -> Vec<LintFinding> {
    let mut found = keys(placed, now).await;
    for one in placed {
        found.extend(named(one, zones, now).await);
        found.extend(budgets(one, now, host).await);
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::testing::TestApp;

    #[tokio::test]
    async fn the_zones_are_reviewed() {
        let folder = tempfile::TempDir::new().unwrap();
        for zone in ["raw", "other"] {
            std::fs::create_dir(folder.path().join(zone)).unwrap();
        }
        let place = folder.path().canonicalize().unwrap();
        let root = place.display();
        let text = format!(
            "[[zone]]\nname = \"raw\"\nurl = \"file://{root}/raw/\"\nreaders = [\"transform\"]\n\
             lifecycle = \"{root}/gone.json\"\n\
             [[zone]]\nname = \"other\"\nurl = \"file://{root}/other/\"\n\
             [[dataset]]\nname = \"learning.progress\"\nzone = \"raw\"\nprefix = \"learning/progress/\"\n\
             partition = [\"event_date\", \"hour\"]\n"
        );
        let app = TestApp::configured(folder, &text).await;
        let report = app.get("/api/zones").await.json();
        let zones = report["zones"].as_array().unwrap();
        assert_eq!(zones.len(), 2);
        assert_eq!(zones[0]["datasets"][0]["dataset"], "learning.progress");
        assert_eq!(zones[0]["readers"][0], "transform");
        let outcomes: Vec<&str> = zones[0]["checks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|check| check["outcome"].as_str().unwrap())
            .collect();
        assert_eq!(
            outcomes,
            ["broken", "not_checked", "not_checked", "not_checked"]
        );
        let rules: Vec<&str> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["rule"].as_str().unwrap())
            .collect();
        let missing = "retention_missing";
        assert_eq!(rules, [missing, missing, missing, missing, "unreadable"]);

        // What only the keys tell is asked for by itself.
        let key = "learning/progress/event_date=2126-11-30/hour=23/email=a/part.parquet";
        let path = place.join("raw").join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
        let again = app.get("/api/zones").await.json();
        assert_eq!(again["findings"], report["findings"]);
        let listed = app.get("/api/zones?keys=true").await.json();
        let mut found = listed["findings"].as_array().unwrap().iter();
        let banned = found.find(|finding| finding["rule"] == "banned_key");
        assert!(banned.unwrap()["location"].as_str().unwrap().ends_with(key));
    }
}
