//! The configuration of the sample lake.

use std::path::Path;

use lake::Result;
use lake::hours::Day;
use lake::table::Time;

use super::WrittenTable;
use crate::stores::Address;

/// Days that the datasets go back.
pub(super) const DAYS: i32 = 3;

/// `tidemark.toml` of a sample lake that was written into `dir`, an absolute path.
pub(super) fn configuration(dir: &Path, tables: &[WrittenTable], now: Time) -> Result<String> {
    let url = |folder: &str| Address::from_disk(&dir.join(folder)).map(|url| url.to_string());
    let first = Day::of(now).plus(-DAYS);
    let mut out = format!(
        "# The sample lake of `tidemark demo`.\n\n[server]\ncontrol = \"{}\"\n",
        url("control")?
    );
    let zones = [
        ("curated", "curated", CURATED),
        ("landing", "tlp-landing", LANDING),
        ("raw", "tlp-raw", RAW),
        ("conformed", "tlp-conformed", CONFORMED),
    ];
    for (name, folder, rest) in zones {
        let url = url(folder)?;
        out.push_str(&format!(
            "\n[[zone]]\nname = \"{name}\"\nurl = \"{url}\"\n{rest}"
        ));
    }
    for dataset in [PROGRESS, PURCHASE_LINE, PROGRESS_EVENTS, DAILY, ENROLLMENT] {
        out.push_str("\n[[dataset]]\n");
        out.push_str(&dataset.replace("{first}", &first.to_string()));
    }
    for table in tables {
        out.push_str(&format!(
            "\n[[table]]\nname = \"{0}\"\nzone = \"curated\"\nprefix = \"{0}/\"\nformat = \"delta\"\n",
            table.name
        ));
        if table.name == "completion" {
            out.push_str("reads = [\"learning.progress_event\"]\n");
        }
    }
    Ok(out)
}

const CURATED: &str = r#"owner = "analytics"
format = "delta"
readers = ["bi", "serving"]
writers = ["publishing"]
[zone.retention]
keep = "400d"
"#;

const LANDING: &str = r#"owner = "partnerships"
format = "csv"
readers = ["ingestion"]
writers = ["ingestion"]
lifecycle = "settings/landing-lifecycle.json"
[zone.retention]
keep = "7d"
"#;

const RAW: &str = r#"owner = "platform"
format = "parquet"
readers = ["transform", "compaction"]
writers = ["sink", "compaction"]
lifecycle = "settings/raw-lifecycle.json"
policy = "settings/raw-policy.json"
encryption = "settings/raw-encryption.json"
public_access = "settings/raw-public-access.json"
[zone.retention]
topic = { keep = "7d", source = "topic settings of the stream team" }
replay_margin = { keep = "3d", source = "runbook: replay of a weekend" }
audit = { keep = "90d", source = "finance restatement window" }
keep = "400d"
"#;

const CONFORMED: &str = r#"owner = "analytics"
format = "parquet"
readers = ["transform"]
writers = ["conform"]
[zone.retention]
audit = { keep = "90d", source = "finance restatement window" }
keep = "400d"
"#;

const PROGRESS: &str = r#"name = "learning.progress"
zone = "raw"
prefix = "learning/progress/"
partition = ["event_date", "hour"]
close_after = "15m"
expects = "every-hour"
first = "{first}"
event_time = "event_time"
grain = ["event_id"]
prohibited_columns = ["email"]
columns = { event_id = "string", learner_id = "string", course_id = "string", lesson_id = "string", event_time = "timestamp", event_type = "string" }
owner = "platform"
publisher = "airflow:publish_progress"
compaction_owner = "platform-compaction"
stream = { name = "progress live", url = "https://stream.tlp.example/progress" }
definition_version = "progress-raw-1"
[dataset.budget]
objects_per_hour = 12
median_bytes = "4KiB"
"#;

const PURCHASE_LINE: &str = r#"name = "commerce.purchase_line"
zone = "raw"
prefix = "commerce/purchase_line/"
partition = ["event_date", "hour"]
close_after = "15m"
expects = "some-hours"
first = "{first}"
event_time = "event_time"
prohibited_columns = ["email"]
columns = { order_id = "string", line_id = "string", course_id = "string", amount_cents = "long", event_time = "timestamp", line_seq = "int" }
owner = "commerce"
publisher = "airflow:publish_purchase_line"
compaction_owner = "platform-compaction"
definition_version = "purchase-line-raw-2"
[dataset.budget]
objects_per_hour = 12
[dataset.retention]
keep = "60d"
[dataset.complete]
key = "order_id"
sequence = "line_seq"
dead_letters = "block"
dead_letter_prefix = "commerce/purchase_line.dlq/"
"#;

const PROGRESS_EVENTS: &str = r#"name = "learning.progress_event"
zone = "conformed"
prefix = "learning/progress_event/"
partition = ["event_date", "hour"]
close_after = "45m"
expects = "every-hour"
first = "{first}"
event_time = "event_time"
grain = ["event_id"]
columns = { event_id = "string", learner_id = "string", course_id = "string", lesson_id = "string", event_time = "timestamp", event_type = "string" }
owner = "analytics"
publisher = "airflow:conform_progress"
reads = ["learning.progress"]
definition_version = "progress-event-2"
"#;

const DAILY: &str = r#"name = "learning.progress_daily"
zone = "curated"
prefix = "learning/progress_daily/"
partition = ["event_date"]
close_after = "30h"
expects = "every-hour"
first = "{first}"
grain = ["course_id"]
columns = { course_id = "string", learners = "long", lessons_finished = "long" }
owner = "analytics"
publisher = "airflow:publish_progress_daily"
definition_version = "progress-daily-3"
"#;

const ENROLLMENT: &str = r#"name = "partner.enrollment"
zone = "landing"
prefix = "partner/enrollment/"
partition = ["event_date"]
marker_kind = "success"
close_after = "12h"
expects = "some-hours"
first = "{first}"
prohibited_columns = ["email"]
owner = "partnerships"
"#;
