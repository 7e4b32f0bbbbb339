use lake::hours::State;

use super::*;
use crate::stores::Scheme;

fn parse(text: &str) -> Result<Config> {
    Config::parse("tidemark.toml", text, &|name| match name {
        "CATALOG_TOKEN" => Some("t0ken".to_owned()),
        "BUCKET" => Some("tlp".to_owned()),
        _ => None,
    })
}

/// The whole of the configuration's documentation, as one file.
const FULL: &str = include_str!("full.toml");

#[test]
fn the_full_file_is_accepted() {
    let config = parse(FULL).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:4800");
    assert!(!config.redirect);
    let names: Vec<&str> = config.zones.iter().map(|z| z.name.as_str()).collect();
    assert_eq!(names, ["raw", "curated"]);
    let raw = &config.zones[0];
    assert_eq!(raw.address.scheme(), Scheme::S3);
    assert_eq!(raw.address.to_string(), "s3://tlp-raw/");
    assert_eq!(raw.owner.as_deref(), Some("platform"));
    assert_eq!(raw.retention.keep.as_ref().unwrap().text, "400d");
    assert_eq!(raw.readers, ["transform", "compaction"]);
    assert_eq!(
        raw.lifecycle.as_deref(),
        Some(Path::new("lifecycle/raw.json"))
    );
    let curated = &config.zones[1];
    assert_eq!(curated.address.to_string(), "s3://tlp/curated/");
    assert_eq!(curated.store["endpoint"], "http://127.0.0.1:9000");
    assert_eq!(curated.store["aws_allow_http"], "true");
    assert_eq!(curated.store["aws_secret_access_key"], "t0ken");
    assert_eq!(config.tables[0].name, "users");
    assert_eq!(config.tables[0].prefix, "users");
    assert_eq!(config.tables[0].reads, ["learning.progress"]);
    assert_eq!(config.datasets[1].reads, ["learning.progress"]);
    assert_eq!(config.attention.rows_removed, 0.2);
    assert_eq!(config.discovery.depth, 4);
    assert_eq!(config.discovery.every.as_secs(), 300);
    assert_eq!(config.attention.hour, State::Late);
}

#[test]
fn datasets_are_declared() {
    let config = parse(FULL).unwrap();
    let [progress, lines] = config.datasets.as_slice() else {
        panic!("two datasets");
    };
    assert_eq!(progress.url, "s3://tlp-raw/");
    assert_eq!(progress.prefix, "learning/progress");
    assert_eq!((progress.grace, progress.every_hour), (15 * 60_000, true));
    assert_eq!(progress.first.unwrap().to_string(), "2026-11-01");
    assert_eq!(progress.budget.objects, Some(64));
    assert_eq!(progress.budget.median_bytes, Some(64 << 20));
    let columns: Vec<&String> = progress.columns.keys().collect();
    assert_eq!(columns, ["event_id", "learner_id", "event_time"]);
    // The dataset's own promises, and the zone's where it has none.
    let topic = progress.retention.topic.as_ref().unwrap();
    assert_eq!(topic.source.as_deref(), Some("topic learning.progress"));
    assert_eq!(topic.millis, 7 * 86_400_000);
    assert_eq!(
        progress.retention.replay_margin.as_ref().unwrap().text,
        "3d"
    );
    assert_eq!(progress.catalog_table(), "learning.progress_raw");
    assert_eq!(
        lines.banned_keys,
        ["learner_id", "email", "order_id", "event_id"]
    );
    assert_eq!(
        lines.marker.template,
        "_markers/event_date={event_date}/hour={hour}.json"
    );
    assert_eq!(lines.owner.as_deref(), Some("platform"));
    let gate = lines.complete.as_ref().unwrap();
    assert_eq!(
        gate.dead_letters.as_deref(),
        Some("commerce/purchase_line.dlq")
    );
    assert!(!gate.report);
}

#[test]
fn nothing_is_needed_and_two_keys_are_enough() {
    assert!(parse("").unwrap().zones.is_empty());
    let config = parse("[[zone]]\nname = \"raw\"\nurl = \"s3://b/p/\"\n").unwrap();
    assert_eq!(config.zones[0].address.to_string(), "s3://b/p/");
}

/// Each a file, the line that is wrong, and what the error says of it.
const WRONG: &[(&str, usize, &str)] = &[
    (
        "[server]\nlisten = \"127.0.0.1:4800\"\nport = 1\n",
        3,
        "port",
    ),
    ("[sever]\n", 1, "sever"),
    ("\n\n[server]\nlisten = \"nowhere\"\n", 4, "socket address"),
    ("[server]\nreads = \"both\"\n", 2, "both"),
    ("[server]\npublic_url = \"not a url\"\n", 2, "not a URL"),
    ("[server]\npublic_url = \"ftp://x/\"\n", 2, "http or https"),
    ("[server]\ncontrol = \"gopher://x\"\n", 2, "gopher"),
    (
        "[server]\ncontrol = \"s3://a/x/control/\"\n[[zone]]\nname = \"z\"\nurl = \"s3://a/x/\"\n",
        2,
        "overlaps the zone `z`",
    ),
    ("[server]\nlisten = \n", 2, ""),
    ("[server]\ncache = \"64 elephants\"\n", 2, "not a size"),
    ("[server]\ncache = -1\n", 2, "below zero"),
    ("[access]\nmode = \"tokens\"\n", 2, "not in this build"),
    ("[access]\nmode = \"open\"\n", 2, "not a mode"),
    ("[[zone]]\nurl = \"s3://b/\"\n", 1, "name"),
    ("[[zone]]\nname = \"raw\"\n", 1, "url"),
    (
        "[[zone]]\nname = \"\"\nurl = \"s3://b/\"\n",
        2,
        "not a name",
    ),
    (
        "[[zone]]\nname = \"a/b\"\nurl = \"s3://b/\"\n",
        2,
        "not a name",
    ),
    (
        "[[zone]]\nname = \"..\"\nurl = \"s3://b/\"\n",
        2,
        "not a name",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"http://b/\"\n",
        3,
        "not a store",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"s3://k:s@b/\"\n",
        3,
        "password",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"s3://b/${NOPE}\"\n",
        3,
        "`NOPE` is not set",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"s3://b/${NOPE\"\n",
        3,
        "not closed",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"s3://b/\"\n[[zone]]\nname = \"a\"\nurl = \"s3://c/\"\n",
        5,
        "two zones named",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"s3://b/x\"\n[[zone]]\nname = \"c\"\nurl = \"s3a://b/x/y/\"\n",
        6,
        "overlap",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"s3://b/x/y\"\n[[zone]]\nname = \"c\"\nurl = \"s3://b/\"\n",
        6,
        "overlap",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"s3://b/\"\n[zone.store]\nregoin = \"x\"\n",
        5,
        "regoin",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"s3://b/\"\n[zone.store]\naws_secret_access_key = \"AKIA\"\n",
        5,
        "must not stand here",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"s3://b/\"\n[zone.store]\nsecret_access_key = \"x${BUCKET}\"\n",
        5,
        "must not stand here",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"s3://b/\"\n[zone.store]\ntoken = { file = \"/nowhere/x\" }\n",
        5,
        "cannot be read",
    ),
    (
        "[[zone]]\nname = \"a\"\nurl = \"s3://b/\"\n[zone.retention]\nkeep = \"long\"\n",
        5,
        "duration",
    ),
    (
        "[[table]]\nname = \"t\"\nzone = \"z\"\nprefix = \"t\"\n",
        3,
        "no zone named",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[table]]\nname = \"t\"\nzone = \"z\"\nprefix = \"../t\"\n",
        7,
        "not a key",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[table]]\nname = \"t\"\nzone = \"z\"\nprefix = \"t\"\nformat = \"csv\"\n",
        8,
        "csv",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[table]]\nname = \"t\"\nzone = \"z\"\nprefix = \"t\"\nreads = [\"d\"]\n",
        8,
        "no dataset named",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[dataset]]\nname = \"d\"\nzone = \"z\"\nprefix = \"d\"\npartition = [\"p\"]\nreads = [\"e\"]\n",
        9,
        "no dataset named",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[table]]\nname = \"t\"\nzone = \"z\"\nprefix = \"t\"\n[[table]]\nname = \"t\"\nzone = \"z\"\nprefix = \"u\"\n",
        9,
        "given twice",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[dataset]]\nname = \"d\"\nzone = \"z\"\nprefix = \"d\"\npartition = []\n",
        8,
        "names the column of the date",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[dataset]]\nname = \"d\"\nzone = \"z\"\nprefix = \"d\"\npartition = [\"p\"]\nexpects = \"always\"\n",
        9,
        "always",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[dataset]]\nname = \"d\"\nzone = \"z\"\nprefix = \"d\"\npartition = [\"p\", \"h\"]\nmarker = \"_m/h={h}/p={p}.json\"\n",
        9,
        "each of {p} and {h} once, in this order",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[dataset]]\nname = \"d\"\nzone = \"z\"\nprefix = \"d\"\npartition = [\"p\", \"h\"]\nmarker_level = \"x\"\n",
        9,
        "no partition column",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[dataset]]\nname = \"d\"\nzone = \"z\"\nprefix = \"d\"\npartition = [\"p\", \"h\"]\nmarker_level = \"p\"\n",
        9,
        "our own markers close hours",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[dataset]]\nname = \"d\"\nzone = \"z\"\nprefix = \"d\"\npartition = [\"p\"]\nfirst = \"2026-11-31\"\n",
        9,
        "not a date",
    ),
    (
        "[[zone]]\nname = \"z\"\nurl = \"s3://b/\"\n[[dataset]]\nname = \"d\"\nzone = \"z\"\nprefix = \"d\"\npartition = [\"p\"]\n[dataset.metastore]\nuri = \"http://m/\"\ntable = \"a.b\"\n",
        10,
        "thrift://",
    ),
    (
        "[catalog.c]\ntype = \"rest\"\nuri = \"http://c/\"\nzone = \"z\"\n",
        4,
        "no zone named",
    ),
    (
        "[catalog.c]\ntype = \"rest\"\nuri = \"http://c/\"\nzone = \"z\"\ntoken = \"inline\"\n",
        5,
        "must not stand here",
    ),
    ("[attention]\nrows_removed = 1.5\n", 2, "not a share"),
    ("[attention]\nrows_removed = nan\n", 2, "not a share"),
    ("[attention]\nhour = \"tired\"\n", 2, "not a state"),
    ("[discover]\ndepth = -1\n", 2, ""),
    ("[discover]\ndepth = 99\n", 2, "at most 16"),
    ("[discover]\nevery = \"0s\"\n", 2, "at least 1s"),
    (
        "[optimize]\nmin = \"2GiB\"\ntarget = \"1GiB\"\n",
        2,
        "larger than",
    ),
    ("[vacuum]\nallow_short = \"yes\"\n", 2, "boolean"),
];

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for (text, line, says) in WRONG {
        let error = parse(text).expect_err(text);
        assert_eq!(error.kind(), lake::Kind::Invalid, "{text}\n{error}");
        let place = format!("tidemark.toml, line {line}");
        assert_eq!(
            error.location().as_deref(),
            Some(&*place),
            "{text}\n{error}"
        );
        assert!(error.to_string().contains(says), "{text}\n{error}");
    }
}

#[test]
fn a_secret_is_never_repeated() {
    let text =
        "[catalog.c]\ntype = \"rest\"\nuri = \"http://c/\"\nzone = \"z\"\ntoken = \"hunter2\"\n";
    assert!(!parse(text).unwrap_err().to_string().contains("hunter2"));
    for line in [
        "url = \"s3://user:hunter2@b/\"",
        "url = \"s3://b/?token=hunter2\"",
        "url = \"s3://b/\"\n[zone.store]\nendpoint = \"http://user:hunter2@h/\"",
    ] {
        let error = parse(&format!("[[zone]]\nname = \"a\"\n{line}\n")).unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{line}: {error}");
        assert!(error.to_string().contains("line"), "{line}: {error}");
    }
}

#[test]
fn secrets_are_read_from_files_beside_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), "s3cret\n").unwrap();
    let name = folder.path().join("tidemark.toml").display().to_string();
    let text = "[[zone]]\nname = \"a\"\nurl = \"s3://b/\"\n[zone.store]\nsecret_access_key = { file = \"key\" }\n";
    let config = Config::parse(&name, text, &|_| None).unwrap();
    assert_eq!(config.zones[0].store["secret_access_key"], "s3cret");
}

#[test]
fn one_bucket_at_two_endpoints_is_two_stores() {
    let text = "[[zone]]\nname = \"a\"\nurl = \"s3://b/\"\n[zone.store]\nendpoint = \"http://one/\"\n\
                [[zone]]\nname = \"c\"\nurl = \"s3://b/\"\n[zone.store]\nendpoint = \"http://two/\"\n";
    assert_eq!(parse(text).unwrap().zones.len(), 2);
}

/// A dataset with these lines more, and the error that they make.
fn refused(prefix: &str, lines: &str) -> String {
    let text = format!(
        "[[zone]]\nname = \"raw\"\nurl = \"s3://b/\"\n[[dataset]]\nname = \"a\"\nzone = \"raw\"\nprefix = \"x/a\"\npartition = [\"event_date\", \"hour\"]\n[[dataset]]\nname = \"b\"\nzone = \"raw\"\nprefix = \"{prefix}\"\n{lines}"
    );
    match parse(&text) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn dead_letters_lie_apart() {
    for (prefix, right) in [
        ("", "`dead_letter_prefix` is empty"),
        (
            "y",
            "`dead_letter_prefix` overlaps the dataset's own prefix",
        ),
        (
            "y/b/dlq/",
            "`dead_letter_prefix` overlaps the dataset's own prefix",
        ),
        (
            "y/b.dlq/event_date=2026-11-28/",
            "`dead_letter_prefix` is that of one day",
        ),
        ("y/b.dlq/", ""),
    ] {
        let lines = format!(
            "partition = [\"event_date\", \"hour\"]\n[dataset.complete]\nkey = \"k\"\nsequence = \"s\"\ndead_letter_prefix = \"{prefix}\"\n"
        );
        let told = refused("y/b", &lines);
        assert_eq!(told.is_empty(), right.is_empty(), "{prefix}: {told}");
        assert!(told.contains(right), "{prefix}: {told}");
    }
}

#[test]
fn datasets_of_a_zone_have_no_key_in_common() {
    let hours = "partition = [\"event_date\", \"hour\"]\n";
    for (prefix, right) in [
        ("x/a", "the datasets `a` and `b` overlap"),
        ("x", "the datasets `a` and `b` overlap"),
        ("x/a/b", "the datasets `a` and `b` overlap"),
        ("x/ab", ""),
        ("y/a", ""),
    ] {
        let found = refused(prefix, hours);
        assert!(found.contains(right), "{prefix}: {found}");
        assert_eq!(found.is_empty(), right.is_empty(), "{prefix}: {found}");
        assert!(right.is_empty() || found.contains("prefix"), "{found}");
    }
}

#[test]
fn what_a_dataset_cannot_be_is_an_error_that_names_it() {
    let hours = "partition = [\"event_date\", \"hour\"]\n";
    for (line, right) in [
        (
            "marker = \"event_date={event_date}/hour={hour}.json\"",
            "`marker` lies among the data",
        ),
        (
            "marker = \"event_date={event_date}/hour={hour}/m.json\"",
            "`marker` lies among the data",
        ),
        (
            "marker = \"event_date={event_date}/hour={hour}/run_id=x/m.json\"",
            "`marker` lies among the data",
        ),
        (
            "marker = \"_m/{event_date}/{hour}\"",
            "`marker` ends with an extension",
        ),
        (
            "marker = \"_m.d/{event_date}/{hour}\"",
            "`marker` ends with an extension",
        ),
        ("marker = \"_m/{event_date}/{hour}/m.json\"", ""),
        (
            "marker_kind = \"custom\"\nmarker = \"event_date={event_date}/hour={hour}/_DONE\"",
            "",
        ),
        ("close_after = \"99999999999d\"", "longer than 100 years"),
        (
            "close_after = \"-1s\"",
            "`close_after`: `-1s` is not a duration",
        ),
        ("first = 2026-11-28", ""),
        ("first = \"2026-11-28\"", ""),
        ("first = 2026-11-28T10:00:00Z", "`first`"),
        ("first = 7", "`first`: expected a date"),
        (
            "expects = \"every-hour\"\nexpects = \"some-hours\"",
            "`expects`: duplicate key",
        ),
        (
            "stream = { name = \"x\", url = \"javascript:alert(1)\" }",
            "`url` of `stream`",
        ),
        (
            "stream = { name = \"x\", url = \"https://example.org/\" }",
            "",
        ),
        (
            "columns = { a = \"widget\" }",
            "`widget` of column `a` is no type",
        ),
        (
            "columns = { a = \"decimal(10,2)) location (x\" }",
            "of column `a` is no type",
        ),
        ("columns = { a = \"decimal(\" }", "of column `a` is no type"),
        ("columns = { a = \"array<struct<b:decimal(10,2)>>\" }", ""),
    ] {
        let found = refused("y", &format!("{hours}{line}\n"));
        assert!(found.contains(right), "{line}: {found}");
        assert_eq!(found.is_empty(), right.is_empty(), "{line}: {found}");
    }
    let found = refused("y", "partition = [\"event_date\", \"run_id\"]\n");
    assert!(found.contains("`run_id` is that of their runs"), "{found}");
}
