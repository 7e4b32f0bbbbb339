//! Each rule with the finding it gives, and that the lifecycle written for a zone passes.

use super::*;
use crate::hours::dataset::{Complete, Metastore, Promise};
use crate::hours::day::DAY;
use crate::hours::judge::tests::dataset;
use crate::hours::listing::Object;
use crate::table::Time;
use crate::wire::zones::Outcome;

fn promise(days: i64, source: &str) -> Option<Promise> {
    Some(Promise {
        text: format!("{days}d"),
        millis: days * DAY,
        source: (!source.is_empty()).then(|| source.to_owned()),
    })
}

fn kept() -> Retention {
    Retention {
        topic: promise(7, "topic"),
        replay_margin: promise(3, "runbook"),
        audit: promise(90, "finance"),
        keep: promise(400, ""),
    }
}

fn zone(name: &str, url: &str) -> ZoneDecl {
    ZoneDecl {
        name: name.into(),
        url: url.into(),
        owner: Some("platform".into()),
        writers: vec!["sink".into(), "compaction".into(), "maintenance".into()],
        retention: kept(),
        ..ZoneDecl::default()
    }
}

fn raw() -> ZoneDecl {
    zone("raw", "s3://tlp-raw/")
}

fn progress() -> Dataset {
    Dataset {
        retention: kept(),
        ..dataset()
    }
}

fn lines() -> Dataset {
    Dataset {
        name: "commerce.purchase_line".into(),
        prefix: "commerce/purchase_line".into(),
        complete: Some(Complete {
            key: "order_id".into(),
            sequence: "line_seq".into(),
            report: false,
            dead_letters: Some("commerce/purchase_line.dlq".into()),
        }),
        ..progress()
    }
}

fn export(file: &str, text: &str) -> Option<Export> {
    Some(Export {
        file: file.into(),
        text: Ok(text.into()),
    })
}

/// Severity, rule, location and message of each finding.
fn said(found: &[LintFinding]) -> Vec<(Severity, &str, &str, &str)> {
    let found = found.iter();
    found
        .map(|f| {
            (
                f.severity,
                f.rule.as_str(),
                f.location.as_deref().unwrap_or(""),
                f.message.as_str(),
            )
        })
        .collect()
}

use Severity::{Error as E, Warning as W};

#[test]
fn a_zone_that_keeps_its_promises_has_no_findings() {
    let (progress, lines) = (progress(), lines());
    assert_eq!(lint(&[raw()], &[&progress, &lines]), []);
}

#[test]
fn raw_states_three_numbers_with_their_sources() {
    let zone = ZoneDecl {
        retention: Retention {
            topic: promise(7, ""),
            replay_margin: None,
            audit: promise(90, "finance"),
            keep: None,
        },
        ..raw()
    };
    let expected = [
        (
            E,
            "retention_source",
            "zone.retention.topic",
            "nothing says where the topic retention of 7d comes from: topic = { keep = \"7d\", source = \"…\" }",
        ),
        (
            E,
            "retention_missing",
            "zone.retention.replay_margin",
            "the replay margin is not stated: raw states topic retention, replay margin and audit window",
        ),
        (
            E,
            "retention_missing",
            "zone.retention.keep",
            "nothing says how long raw objects are kept",
        ),
    ];
    assert_eq!(said(&lint(std::slice::from_ref(&zone), &[])), expected);
    // Of other zones nothing is asked.
    let other = ZoneDecl {
        name: "curated".into(),
        ..zone
    };
    assert_eq!(lint(&[other], &[]), []);
}

#[test]
fn raw_keeps_the_sum_and_a_dataset_may_override_its_zone() {
    let short = Dataset {
        retention: Retention {
            keep: promise(99, ""),
            ..kept()
        },
        ..progress()
    };
    let found = lint(&[raw()], &[&short, &lines()]);
    assert_eq!(
        said(&found),
        [(
            E,
            "retention_short",
            "dataset.retention.keep",
            "objects are kept 99d, less than the 100d that were promised (7d + 3d + 90d)"
        )]
    );
    assert_eq!(found[0].dataset.as_deref(), Some("learning.progress"));
    assert_eq!(found[0].zone.as_deref(), Some("raw"));
}

#[test]
fn landing_is_for_ingestion_and_raw_is_not_for_reports() {
    let landing = ZoneDecl {
        name: "tlp-landing".into(),
        readers: vec!["ingestion".into(), "analyst".into()],
        ..zone("landing", "s3://tlp-landing/")
    };
    let raw = ZoneDecl {
        readers: vec!["transform".into(), "bi".into()],
        ..raw()
    };
    let table = Dataset {
        zone: "tlp-landing".into(),
        metastore: Some(Metastore {
            uri: "thrift://h:1".into(),
            table: "partner.users".into(),
        }),
        ..progress()
    };
    assert_eq!(
        said(&lint(&[landing, raw], &[&table])),
        [
            (
                E,
                "readers",
                "zone.readers",
                "`analyst` may read landing, which holds partner files as received: only ingestion may"
            ),
            (
                E,
                "catalog_in_landing",
                "dataset.metastore.table",
                "the catalog's table partner.users lies in landing, which holds files as received"
            ),
            (
                E,
                "readers",
                "zone.readers",
                "`bi` may read raw: a report would sum hours that are not closed; it reads curated"
            ),
        ]
    );
}

#[test]
fn one_rule_for_a_whole_bucket_is_an_error() {
    let zone = ZoneDecl {
        lifecycle: export(
            "raw.json",
            r#"{"Rules": [
  {"ID": "off", "Status": "Disabled", "Filter": {}, "Expiration": {"Days": 1}},
  {"ID": "old", "Status": "Enabled", "Filter": {"Prefix": ""},
   "Expiration": {"Days": 30}}
]}"#,
        ),
        ..raw()
    };
    let found = lint(&[zone], &[&progress(), &lines()]);
    let early = "rule `old` for the whole bucket expires a run after 30d, which a current marker may still name: it is kept 400d, and the audit window is 90d";
    assert_eq!(
        said(&found),
        [
            (
                E,
                "shared_rule",
                "raw.json:3",
                "rule `old` for the whole bucket expires objects of the datasets learning.progress, commerce.purchase_line: each has a retention of its own and needs a rule of its own"
            ),
            (E, "expires_published", "raw.json:3", early),
            (E, "expires_published", "raw.json:3", early),
            (
                W,
                "abort_uploads",
                "raw.json",
                "no rule aborts incomplete multipart uploads: their parts are paid for and never listed"
            ),
        ]
    );
    assert_eq!(found[2].dataset.as_deref(), Some("commerce.purchase_line"));
}

#[test]
fn two_zones_of_one_bucket_need_two_rules() {
    let rules = r#"{"Rules": [
  {"ID": "all", "Status": "Enabled", "Filter": {}, "Expiration": {"Days": 500},
   "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}]}"#;
    let zones = [
        ZoneDecl {
            lifecycle: export("bucket.json", rules),
            ..zone("raw", "s3://tlp/raw/")
        },
        zone("curated", "s3://tlp/curated/"),
        zone("other", "s3://tlp-other/"),
    ];
    assert_eq!(
        said(&lint(&zones, &[])),
        [(
            E,
            "shared_rule",
            "bucket.json:2",
            "rule `all` for the whole bucket expires objects of the zones raw, curated: each has a retention of its own and needs a rule of its own"
        )]
    );
}

#[test]
fn a_filter_that_covers_markers_and_runs_is_an_error() {
    let rules = |prefix: &str| {
        format!(
            r#"{{"Rules": [
  {{"ID": "p", "Status": "Enabled", "Filter": {{"And": {{"Prefix": "{prefix}", "Tags": []}}}},
    "Expiration": {{"Days": 400}},
    "AbortIncompleteMultipartUpload": {{"DaysAfterInitiation": 1}}}}]}}"#
        )
    };
    let said_of = |prefix: &str| {
        let zone = ZoneDecl {
            lifecycle: export("raw.json", &rules(prefix)),
            ..raw()
        };
        let found = lint(&[zone], &[&progress()]);
        let found = found.into_iter().map(|f| (f.rule, f.message));
        found.collect::<Vec<_>>()
    };
    let both = |prefix: &str| {
        vec![(
            "markers_and_runs".to_owned(),
            format!(
                "rule `p` for keys from `{prefix}` on expires markers and runs together: runs lie from `learning/progress/event_date=` on, markers from `learning/progress/_markers/` on"
            ),
        )]
    };
    assert_eq!(said_of("learning/progress/"), both("learning/progress/"));
    assert_eq!(said_of("learn"), both("learn"));
    assert_eq!(said_of("learning/progress/event_date="), []);
    let elsewhere = said_of("other/");
    assert_eq!(elsewhere.len(), 1, "{elsewhere:?}");
    assert_eq!(elsewhere[0].0, "abort_uploads");
}

#[test]
fn a_rule_may_not_outrun_markers_dead_letters_or_promises() {
    let zone = |rule: &str| ZoneDecl {
        lifecycle: export(
            "raw.json",
            &format!(
                r#"{{"Rules": [{{"Status": "Enabled", "Prefix": "", "AbortIncompleteMultipartUpload": {{}}}}, {{"Status": "Enabled", {rule}}}]}}"#
            ),
        ),
        ..raw()
    };
    let said_of = |rule: &str, dataset: &Dataset| {
        let found = lint(&[zone(rule)], &[dataset]);
        found.into_iter().map(|f| f.message).collect::<Vec<_>>()
    };
    assert_eq!(
        said_of(
            r#""Prefix": "learning/progress/_markers/", "Expiration": {"Days": 90}"#,
            &progress()
        ),
        [
            "rule `#2` for keys from `learning/progress/_markers/` on expires a marker after 90d, without which its hour is not closed: it is kept 400d"
        ]
    );
    assert_eq!(
        said_of(
            r#""Filter": {"Prefix": "commerce/purchase_line.dlq/"}, "Expiration": {"Days": 14}"#,
            &lines()
        ),
        [
            "rule `#2` for keys from `commerce/purchase_line.dlq/` on expires dead letters after 14d, which the completeness gate of a kept run reads: it is kept 400d, and the audit window is 90d"
        ]
    );
    assert_eq!(
        said_of(
            r#""Filter": {"Prefix": "learning/progress/event_date="}, "Expiration": {"Date": "2027-01-01"}"#,
            &progress()
        ),
        [
            "rule `#2` for keys from `learning/progress/event_date=` on expires a run of any age on 2027-01-01, which a current marker may still name"
        ]
    );
    let unpromised = Dataset {
        retention: Retention::default(),
        zone: "raw".into(),
        ..dataset()
    };
    let quiet = ZoneDecl {
        name: "conformed".into(),
        ..zone(
            r#""Filter": {"Prefix": "learning/progress/event_date="}, "Expiration": {"Days": 9000}"#,
        )
    };
    let unpromised = Dataset {
        zone: "conformed".into(),
        ..unpromised
    };
    assert_eq!(
        said(&lint(&[quiet], &[&unpromised])),
        [(
            E,
            "expires_published",
            "raw.json:1",
            "rule `#2` for keys from `learning/progress/event_date=` on expires a run after 9000d, which a current marker may still name: nothing says how long it is kept"
        )]
    );
}

#[test]
fn markers_that_are_there_say_what_a_rule_can_delete() {
    let with = |markers: &str| {
        let rules = format!(
            r#"{{"Rules": [{{"ID": "runs", "Status": "Enabled", "Filter": {{"Prefix": "learning/progress/event_date="}},
                "Expiration": {{"Days": 400}}}}{markers}]}}"#
        );
        ZoneDecl {
            lifecycle: export("raw.json", &rules),
            ..raw()
        }
    };
    let slot = |hour| crate::hours::Slot::hour("2026-11-10".parse().unwrap(), hour);
    let run = |hour, superseded, put| Named {
        slot: slot(hour),
        superseded,
        put,
    };
    let put = slot(0).end();
    let later = |days: i64| crate::table::Time(put.0 + days * 86_400_000);
    let runs = [
        run(9, true, put),
        run(8, false, put),
        run(10, false, later(1)),
    ];
    let raw = with("");
    let dataset = progress();
    assert!(expires_runs(&raw, &dataset));
    assert_eq!(named(&raw, &dataset, &runs, later(399)), []);
    let found = named(&raw, &dataset, &runs, later(400));
    assert_eq!(
        said(&found),
        [(
            Severity::Error,
            "expires_named",
            "raw.json:1",
            "rule `runs` for keys from `learning/progress/event_date=` on expires runs after 400d, and 2 runs are older and markers still name them, 1 of them superseded and within the audit window: 2026-11-10 08:00 first"
        )]
    );
    let found = named(&raw, &dataset, &runs[2..], later(401));
    assert!(
        found[0]
            .message
            .contains("1 run is older and a marker still names it: ")
    );
    // Markers that go as soon as their runs name nothing that is gone.
    for (days, some) in [(400, false), (401, true)] {
        let markers = format!(
            r#", {{"ID": "markers", "Status": "Enabled", "Filter": {{"Prefix": "learning/progress/_markers/"}},
                "Expiration": {{"Days": {days}}}}}"#
        );
        let raw = with(&markers);
        assert_eq!(expires_runs(&raw, &dataset), some, "{days}");
        assert_eq!(
            named(&raw, &dataset, &runs, later(500)).len(),
            usize::from(some)
        );
    }
    assert!(!expires_runs(&super::tests::raw(), &dataset));
}

#[test]
fn what_cannot_be_read_is_a_finding_with_its_line() {
    let said_of = |text: &str| {
        let zone = ZoneDecl {
            lifecycle: export("raw.json", text),
            ..raw()
        };
        let found = lint(&[zone], &[&progress()]);
        let found = found.into_iter();
        found
            .map(|f| (f.rule, f.location.unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let unreadable = |line: &str| vec![("unreadable".to_owned(), line.to_owned())];
    assert_eq!(said_of(""), unreadable("raw.json:1"));
    assert_eq!(
        said_of("{\n \"Rules\": [\n  {]\n"),
        unreadable("raw.json:3")
    );
    assert_eq!(said_of("[1, 2]"), unreadable("raw.json:1"));
    assert_eq!(said_of("{\"Rule\": []}"), unreadable("raw.json:1"));
    assert_eq!(
        said_of(
            "{\"Rules\": [\n {\"Status\": \"Enabled\",\n  \"Expiration\": {\n\"Days\": \"x\"}}]}"
        ),
        unreadable("raw.json:4")
    );
    let gone = ZoneDecl {
        lifecycle: Some(Export {
            file: "raw.json".into(),
            text: Err("no such file".into()),
        }),
        policy: export("policy.json", "{\n"),
        encryption: export("encryption.json", "nope"),
        public_access: export("public.json", "\n\nnope"),
        ..raw()
    };
    let found = lint(&[gone], &[&progress()]);
    let places: Vec<&str> = found
        .iter()
        .map(|f| f.location.as_deref().unwrap())
        .collect();
    assert_eq!(
        places,
        [
            "raw.json",
            "encryption.json:1",
            "public.json:3",
            "policy.json:2"
        ]
    );
}

#[test]
fn landing_expires_after_its_window() {
    let landing = |keep, rules: &str| ZoneDecl {
        retention: Retention {
            keep,
            ..Retention::default()
        },
        lifecycle: export("landing.json", rules),
        ..zone("landing", "s3://tlp-landing/")
    };
    let abort = r#"{"ID": "u", "Status": "Enabled", "Filter": {}, "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}"#;
    let never = format!(r#"{{"Rules": [{abort}]}}"#);
    let days = |days: u32| {
        format!(
            r#"{{"Rules": [{abort}, {{"ID": "w", "Status": "Enabled", "Filter": {{}}, "Expiration": {{"Days": {days}}}}}]}}"#
        )
    };
    let said_of = |keep, rules: &str| {
        let found = lint(&[landing(keep, rules)], &[]);
        found.into_iter().map(|f| f.message).collect::<Vec<_>>()
    };
    assert_eq!(
        said_of(None, &never),
        ["no rule expires landing, which keeps partner files as received for 7d"]
    );
    assert_eq!(
        said_of(None, &days(30)),
        ["landing expires after 30d; its window is 7d"]
    );
    assert_eq!(said_of(promise(30, ""), &days(30)), [""; 0]);
    assert_eq!(said_of(None, &days(7)), [""; 0]);
    // One rule for all that a partner sends is right.
    let partner = |name: &str| Dataset {
        name: name.into(),
        zone: "landing".into(),
        prefix: name.into(),
        ..dataset()
    };
    let (one, other) = (partner("one"), partner("other"));
    assert_eq!(lint(&[landing(None, &days(7))], &[&one, &other]), []);
}

#[test]
fn the_lifecycle_that_is_written_passes_the_lint() {
    let landing = ZoneDecl {
        retention: Retention::default(),
        ..zone("landing", "s3://tlp/landing/")
    };
    let raw = zone("raw", "s3://tlp/raw/");
    let (progress, lines) = (progress(), lines());
    let datasets = [&progress, &lines];
    let wanted = lifecycle(&raw, &[landing.clone(), raw.clone()], &datasets);
    assert_eq!(wanted.notes, [""; 0]);
    let expected = serde_json::json!({"Rules": [
        {"ID": "landing-uploads", "Filter": {"Prefix": "landing/"}, "Status": "Enabled",
         "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}},
        {"ID": "landing-window", "Filter": {"Prefix": "landing/"}, "Status": "Enabled",
         "Expiration": {"Days": 7}},
        {"ID": "raw-uploads", "Filter": {"Prefix": "raw/"}, "Status": "Enabled",
         "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}},
        {"ID": "raw-learning.progress-runs", "Status": "Enabled",
         "Filter": {"Prefix": "raw/learning/progress/event_date="}, "Expiration": {"Days": 400}},
        {"ID": "raw-learning.progress-markers", "Status": "Enabled",
         "Filter": {"Prefix": "raw/learning/progress/_markers/"}, "Expiration": {"Days": 400}},
        {"ID": "raw-commerce.purchase_line-runs", "Status": "Enabled",
         "Filter": {"Prefix": "raw/commerce/purchase_line/event_date="}, "Expiration": {"Days": 400}},
        {"ID": "raw-commerce.purchase_line-markers", "Status": "Enabled",
         "Filter": {"Prefix": "raw/commerce/purchase_line/_markers/"}, "Expiration": {"Days": 400}},
        {"ID": "raw-commerce.purchase_line-dead-letters", "Status": "Enabled",
         "Filter": {"Prefix": "raw/commerce/purchase_line.dlq/"}, "Expiration": {"Days": 400}},
    ]});
    assert_eq!(wanted.configuration, expected);
    let written = export("lifecycle.json", &wanted.configuration.to_string());
    let zones = [landing, raw].map(|zone| ZoneDecl {
        lifecycle: written.clone(),
        ..zone
    });
    assert_eq!(lint(&zones, &datasets), []);
    // What nobody promised to keep does not expire.
    let unpromised = Dataset {
        retention: Retention::default(),
        ..dataset()
    };
    let wanted = lifecycle(&zones[1], &zones[1..], &[&unpromised]);
    assert_eq!(
        wanted.configuration["Rules"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(
        wanted.notes,
        ["learning.progress: nothing says how long it is kept, so nothing expires"]
    );
}

/// A policy that denies `role` to delete below `path`.
fn policy(principal: &str, path: &str, condition: &str) -> String {
    format!(
        r#"{{"Policy": "{}"}}"#,
        format!(
            r#"{{"Version": "2012-10-17", "Statement": [{{"Effect": "Deny", "Principal": {principal},
            "Action": ["s3:DeleteObject*"], "Resource": "arn:aws:s3:::tlp-raw/{path}"{condition}}}]}}"#
        )
        .replace('"', "\\\"")
        .replace('\n', " ")
    )
}

#[test]
fn delete_is_denied_to_whoever_writes() {
    let progress = progress();
    let outcome = |policy: &str| {
        let zone = ZoneDecl {
            policy: export("policy.json", policy),
            ..raw()
        };
        let mut found = Vec::new();
        let check = access::delete(&zone, &[&progress], &mut found);
        assert_eq!(
            found.is_empty(),
            check.outcome == Outcome::Holds,
            "{found:?}"
        );
        (check.outcome, check.message)
    };
    let holds = |policy: &str| outcome(policy).0 == Outcome::Holds;
    assert!(holds(&policy("\"*\"", "*", "")));
    assert!(holds(&policy(
        "{\"AWS\": [\"arn:aws:iam::1:role/tlp-sink\", \"arn:aws:iam::1:role/compaction\"]}",
        "learning/progress/*run_id=*",
        ""
    )));
    assert!(!holds(&policy(
        "\"*\"",
        "learning/progress/event_date=2026-*",
        ""
    )));
    assert!(holds(&policy(
        "{\"AWS\": [\"arn:aws:iam::1:role/tlp-sink\", \"arn:aws:iam::1:role/compaction\"]}",
        "learning/progress/event_date=*",
        ""
    )));
    let but_maintenance =
        r#", "Condition": {"ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::1:role/maintenance"}}"#;
    assert!(holds(&policy("\"*\"", "*", but_maintenance)));
    let only_plain = r#", "Condition": {"Bool": {"aws:SecureTransport": "false"}}"#;
    assert!(!holds(&policy("\"*\"", "*", only_plain)));
    let but_sink =
        r#", "Condition": {"ArnNotEquals": {"aws:PrincipalArn": "arn:aws:iam::1:role/sink"}}"#;
    assert_eq!(
        outcome(&policy("\"*\"", "*", but_sink)),
        (
            Outcome::Broken,
            "delete of published runs is not denied to `sink` on learning.progress".to_owned()
        )
    );
    assert_eq!(
        outcome(&policy("\"*\"", "other/*", "")).1,
        "delete of published runs is not denied to `sink` on learning.progress, `compaction` on learning.progress"
    );
    assert_eq!(outcome("{}").0, Outcome::NotChecked);
}

#[test]
fn one_key_a_zone_and_no_public_access() {
    let encryption = |key: &str| {
        export(
            "encryption.json",
            &format!(
                r#"{{"ServerSideEncryptionConfiguration": {{"Rules": [{{"ApplyServerSideEncryptionByDefault": {{"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "{key}"}}}}]}}}}"#
            ),
        )
    };
    let public = r#"{"PublicAccessBlockConfiguration": {"BlockPublicAcls": true, "IgnorePublicAcls": true, "BlockPublicPolicy": true, "RestrictPublicBuckets": false}}"#;
    let zones = [
        ZoneDecl {
            encryption: encryption("k1"),
            public_access: export("public.json", public),
            ..raw()
        },
        ZoneDecl {
            encryption: encryption("k1"),
            ..zone("curated", "s3://tlp-curated/")
        },
        ZoneDecl {
            encryption: export(
                "encryption.json",
                r#"{"ServerSideEncryptionConfiguration": {"Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}}"#,
            ),
            public_access: export("public.json", &public.replace("false", "true")),
            ..zone("conformed", "s3://tlp-conformed/")
        },
    ];
    let found = lint(&zones, &[]);
    assert_eq!(
        said(&found),
        [
            (
                E,
                "encryption",
                "encryption.json",
                "the zone `curated` has the same key: k1"
            ),
            (
                E,
                "public_access",
                "public.json",
                "public access is not blocked: RestrictPublicBuckets is not set"
            ),
            (
                E,
                "encryption",
                "encryption.json",
                "the zone `raw` has the same key: k1"
            ),
            (
                E,
                "encryption",
                "encryption.json",
                "the bucket is encrypted with no key of the zone's own"
            ),
        ]
    );
    let report = super::zones(&zones, &[]);
    let outcomes: Vec<(&str, Outcome)> = report.zones[2]
        .checks
        .iter()
        .map(|check| (check.rule.as_str(), check.outcome))
        .collect();
    assert_eq!(
        outcomes,
        [
            ("lifecycle", Outcome::NotChecked),
            ("encryption", Outcome::Broken),
            ("public_access", Outcome::Holds),
            ("delete", Outcome::NotChecked),
        ]
    );
}

#[test]
fn copies_are_found() {
    let objects = |prefix: &str, names: &[&str], tag: Option<&str>| -> Vec<Object> {
        let object = |name: &&str| Object {
            key: format!("{prefix}{name}"),
            bytes: 5,
            put: Time(0),
            etag: tag.map(str::to_owned),
        };
        names.iter().map(object).collect()
    };
    let one = objects("a/", &["x", "y"], Some("t"));
    let same = objects("b/", &["x", "y", "z"], Some("t"));
    let part = objects("c/", &["x", "q"], Some("t"));
    let untagged = objects("d/", &["x", "y"], None);
    let listed = |prefix, objects| Listed {
        zone: "raw",
        prefix,
        objects,
    };
    let found = copies(&[
        listed("a/", &one),
        listed("b/", &same),
        listed("c/", &part),
        listed("d/", &untagged),
    ]);
    assert_eq!(
        said(&found),
        [(
            W,
            "copies",
            "raw/a/",
            "raw/b/ holds the same 2 objects, with equal names, sizes and entity tags: a second copy needs a restore procedure and an expiry"
        )]
    );
}

#[test]
fn a_key_is_judged_without_a_store() {
    let (progress, lines) = (progress(), lines());
    let other = dataset();
    let rules = |key_: &str| {
        let found = key(&[&progress, &lines], &other, key_);
        found
            .into_iter()
            .map(|f| (f.rule, f.dataset.unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    let one = |rule: &str, dataset: &str| vec![(rule.to_owned(), dataset.to_owned())];
    assert_eq!(
        rules("learning/progress/event_date=2026-11-10/hour=08/a.parquet"),
        []
    );
    assert_eq!(
        rules(
            "s3://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/learner_id=5/a.parquet"
        ),
        one("banned_key", "learning.progress")
    );
    assert_eq!(
        rules("commerce/purchase_line/event_date=2026-11-10/shop=1/a"),
        one("undeclared_partition", "commerce.purchase_line")
    );
    // A prefix that shares letters is another dataset's.
    assert_eq!(
        rules("learning/progress2/event_date=2026-11-10/hour=08/x_EMAIL%3D1/a"),
        one("banned_key", "")
    );
    assert_eq!(
        rules("s3://b/topics/p/event_date=2026-11-10/hour=25/a"),
        one("partition_value", "")
    );
    for nowhere in [
        "just-a-file",
        "learning/progress2/event_date=2026-11-10/hour=08/a",
        "s3://other/learning/progress/event_date=2026-11-10/hour=08/a",
    ] {
        assert_eq!(rules(nowhere), one("no_dataset", ""), "{nowhere}");
    }
    assert_eq!(
        rules("s3a://tlp-raw/learning/progress/event_date=2026-11-10/hour=08/a.parquet"),
        []
    );
    for missing in [
        "learning/progress/part-0.parquet",
        "learning/progress/event_date=2026-11-10/a.parquet",
        "learning/progress/2026/11/10/08/a.parquet",
    ] {
        let found = one("missing_partition", "learning.progress");
        assert_eq!(rules(missing), found, "{missing}");
    }
    let marker = "learning/progress/_markers/event_date=2026-11-10/hour=08.json";
    assert_eq!(rules(marker), []);
}

#[test]
fn the_review_answers_every_question() {
    let lines = Dataset {
        publisher: Some("airflow:publish".into()),
        compaction_owner: Some("platform-compaction".into()),
        columns: [
            ("order_id".to_owned(), "string".to_owned()),
            ("line_seq".to_owned(), "int".to_owned()),
        ]
        .into_iter()
        .collect(),
        ..lines()
    };
    let report = super::zones(&[raw()], &[&lines]);
    let review = &report.zones[0].datasets[0];
    assert_eq!(review.location, "s3://tlp-raw/commerce/purchase_line/");
    assert_eq!(
        review.marker,
        "commerce/purchase_line/_markers/event_date={event_date}/hour={hour}.json"
    );
    assert_eq!(
        review.unmarked,
        "the hour that runs, until 15 min after its end; and those before 2026-11-10"
    );
    assert_eq!(
        review.dead_letters,
        "s3://tlp-raw/commerce/purchase_line.dlq/; they block the publish"
    );
    assert_eq!(
        review.deletes,
        "maintenance alone, below a run that a marker has superseded, after the audit window of 90d; denied: sink, compaction"
    );
    assert_eq!(review.retention.needed, Some(100 * DAY));
    for line in [
        "Prefix: s3://tlp-raw/commerce/purchase_line/",
        "Schema: order_id string, line_seq int",
        "Dead letters: s3://tlp-raw/commerce/purchase_line.dlq/; they block the publish",
        "Two clocks:",
    ] {
        assert!(review.handover.contains(line), "{}", review.handover);
    }
}

#[test]
fn hours_over_budget_are_their_compactors() {
    use crate::hours::{Reason, State};
    use crate::wire::hours::HourRow;

    let dataset = Dataset {
        compaction_owner: Some("compactors".into()),
        ..progress()
    };
    let row = |hour: u8, state: State, objects: u64| HourRow {
        date: "2026-11-10".parse().unwrap(),
        hour: Some(hour),
        state,
        reasons: vec![Reason::new(state, "")],
        marker: None,
        objects,
        bytes: 9 * objects,
        median_bytes: Some(9),
        newest_object: None,
        completeness: None,
        listed_at: None,
        deadline: None,
        owner: None,
    };
    assert_eq!(hours(&dataset, &[row(7, State::Closed, 4)]), []);
    let over: Vec<HourRow> = (8..13)
        .map(|hour| row(hour, State::OverBudget, u64::from(hour)))
        .collect();
    let found = hours(&dataset, &over);
    assert_eq!(
        said(&found),
        [(
            W,
            "over_budget",
            "2026-11-10 08:00",
            "5 closed hours are over budget (2026-11-10 08:00, 2026-11-10 09:00, 2026-11-10 10:00 and 2 more); the most has 12 objects"
        )]
    );
    assert_eq!(found[0].owner.as_deref(), Some("compactors"));
    // A day of hours with one small file each, against one quiet night.
    let day: Vec<HourRow> = (0..24).map(|hour| row(hour, State::Closed, 1)).collect();
    assert_eq!(
        said(&hours(&dataset, &day)),
        [(
            W,
            "over_partitioned",
            "2026-11-10 00:00",
            "24 of 24 closed hours hold one small file each: a partition a day would do"
        )]
    );
    assert_eq!(hours(&dataset, &day[..8]), []);
}
