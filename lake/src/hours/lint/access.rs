//! The bucket's own settings: encryption, public access, and who may not delete.

use serde_json::Value;

use super::bucket::{Bucket, Places};
use super::{Export, ZoneDecl, of, words};
use crate::hours::dataset::Dataset;
use crate::hours::key::RUN;
use crate::wire::Severity;
use crate::wire::hours::LintFinding;
use crate::wire::zones::{Check, Outcome};

/// What a zone's file says of one rule.
enum Said {
    Holds(String),
    Broken(String),
    /// There is a finding already.
    Unreadable,
}

/// One check of one file: not checked without it, a finding where it does not hold.
fn judged(
    zone: &ZoneDecl,
    (rule, key): (&str, &str),
    export: Option<&Export>,
    found: &mut Vec<LintFinding>,
    judge: impl FnOnce(&Value, &mut Vec<LintFinding>) -> Said,
) -> Check {
    let check = |outcome, message: String| Check {
        rule: rule.to_owned(),
        outcome,
        message,
    };
    let Some(export) = export else {
        let message = format!("not checked: `{key}` of the zone names no file");
        return check(Outcome::NotChecked, message);
    };
    let said = match export.text(zone, found) {
        None => Said::Unreadable,
        Some(text) => match serde_json::from_str(text) {
            Ok(value) => judge(&value, found),
            Err(e) => {
                found.push(export.damaged(zone, e.line().max(1), e));
                Said::Unreadable
            }
        },
    };
    match said {
        Said::Holds(message) => check(Outcome::Holds, message),
        Said::Unreadable => check(
            Outcome::NotChecked,
            format!("not checked: {} cannot be read", export.file),
        ),
        Said::Broken(message) => {
            found.push(LintFinding {
                location: Some(export.file.clone()),
                ..zone.finding(Severity::Error, rule, message.clone())
            });
            check(Outcome::Broken, message)
        }
    }
}

/// A value that may stand alone or in a list.
fn list(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(values) => values.iter().collect(),
        Value::Null => Vec::new(),
        value => vec![value],
    }
}

fn texts(value: &Value) -> Vec<&str> {
    list(value).into_iter().filter_map(Value::as_str).collect()
}

/// The keys that a bucket is encrypted with.
fn keys(value: &Value) -> Vec<&str> {
    let inner = &value["ServerSideEncryptionConfiguration"];
    let configuration = if inner.is_null() { value } else { inner };
    let rules = list(&configuration["Rules"]);
    let by_default = rules
        .iter()
        .map(|rule| &rule["ApplyServerSideEncryptionByDefault"]);
    by_default
        .filter_map(|rule| rule["KMSMasterKeyID"].as_str())
        .collect()
}

/// One encryption key a zone.
pub(super) fn encryption(
    zone: &ZoneDecl,
    zones: &[ZoneDecl],
    found: &mut Vec<LintFinding>,
) -> Check {
    let export = zone.encryption.as_ref();
    judged(
        zone,
        ("encryption", "encryption"),
        export,
        found,
        |value, _| {
            let [key] = keys(value)[..] else {
                return Said::Broken(match keys(value).len() {
                    0 => "the bucket is encrypted with no key of the zone's own".to_owned(),
                    n => format!("the bucket has {n} encryption keys, not one"),
                });
            };
            let shared = zones.iter().find(|other| {
                let text = other.encryption.as_ref().map(|e| e.text.as_deref());
                let theirs = text.and_then(|text| serde_json::from_str::<Value>(text.ok()?).ok());
                other.name != zone.name && theirs.is_some_and(|value| keys(&value).contains(&key))
            });
            match shared {
                Some(other) => {
                    Said::Broken(format!("the zone `{}` has the same key: {key}", other.name))
                }
                None => Said::Holds(format!("one key: {key}")),
            }
        },
    )
}

/// Public access is blocked, all four ways.
pub(super) fn public(zone: &ZoneDecl, found: &mut Vec<LintFinding>) -> Check {
    const WAYS: [&str; 4] = [
        "BlockPublicAcls",
        "IgnorePublicAcls",
        "BlockPublicPolicy",
        "RestrictPublicBuckets",
    ];
    let export = zone.public_access.as_ref();
    let names = ("public_access", "public_access");
    judged(zone, names, export, found, |value, _| {
        let inner = &value["PublicAccessBlockConfiguration"];
        let configuration = if inner.is_null() { value } else { inner };
        let open: Vec<&str> = WAYS
            .into_iter()
            .filter(|way| configuration[*way].as_bool() != Some(true))
            .collect();
        match open.is_empty() {
            true => Said::Holds("public access is blocked".to_owned()),
            false => Said::Broken(format!(
                "public access is not blocked: {} {} not set",
                open.join(", "),
                if open.len() == 1 { "is" } else { "are" }
            )),
        }
    })
}

/// Whoever writes may not delete what is published.
pub(super) fn delete(
    zone: &ZoneDecl,
    datasets: &[&Dataset],
    found: &mut Vec<LintFinding>,
) -> Check {
    let export = zone.policy.as_ref();
    judged(zone, ("delete", "policy"), export, found, |value, found| {
        let Some(statements) = statements(value) else {
            return match export {
                Some(export) => {
                    found.push(export.damaged(zone, 1, "there is no `Statement` in it"));
                    Said::Unreadable
                }
                None => Said::Unreadable,
            };
        };
        let bucket = Bucket::of(zone);
        let mut free: Vec<String> = Vec::new();
        let roles = zone.writers.iter().filter(|role| !is_maintenance(role));
        for role in roles.clone() {
            for dataset in of(zone, datasets) {
                // Whatever the date: a pattern of some dates leaves the others free.
                let hour = dataset.hour_column().map(|column| format!("{column}=x/"));
                let runs = Places::of(&bucket, dataset).runs;
                let key = format!("{runs}x/{}{RUN}=x/x", hour.unwrap_or_default());
                let denied = statements
                    .iter()
                    .any(|statement| denies(statement, &bucket, &key, role));
                if !denied {
                    free.push(format!("`{role}` on {}", dataset.name));
                }
            }
        }
        let denied: Vec<&str> = roles.map(String::as_str).collect();
        match (free.is_empty(), denied.is_empty()) {
            (true, false) => Said::Holds(format!(
                "delete is denied to {} on published runs",
                denied.join(", ")
            )),
            (true, true) => Said::Holds("no role but maintenance writes".to_owned()),
            (false, _) => Said::Broken(format!(
                "delete of published runs is not denied to {}",
                free.join(", ")
            )),
        }
    })
}

/// The one role that deletes.
fn is_maintenance(role: &str) -> bool {
    words(role).iter().any(|word| word == "maintenance")
}

/// The statements of a policy; `get-bucket-policy` wraps them in a text.
fn statements(value: &Value) -> Option<Vec<Value>> {
    let parsed;
    let document = match value["Policy"].as_str() {
        Some(text) => {
            parsed = serde_json::from_str::<Value>(text).ok()?;
            &parsed
        }
        None if value["Policy"].is_object() => &value["Policy"],
        None => value,
    };
    let statements = &document["Statement"];
    (!statements.is_null()).then(|| list(statements).into_iter().cloned().collect())
}

/// Whether a statement surely denies a role to delete a key. What is not understood denies nothing.
fn denies(statement: &Value, bucket: &Bucket, key: &str, role: &str) -> bool {
    let action = texts(&statement["Action"])
        .iter()
        .any(|pattern| glob(&pattern.to_lowercase(), "s3:deleteobject"));
    let resource = texts(&statement["Resource"]).iter().any(|pattern| {
        let path = pattern.rsplit(":::").next().unwrap_or(pattern);
        glob(path, &format!("{}/{key}", bucket.name))
    });
    let principal = match &statement["Principal"] {
        Value::String(all) => all == "*",
        principal => texts(&principal["AWS"])
            .iter()
            .any(|arn| *arn == "*" || names(arn, role)),
    };
    statement["Effect"] == "Deny"
        && action
        && resource
        && principal
        && applies(&statement["Condition"], role)
}

/// Whether a statement's condition holds for a role, whatever else is so.
fn applies(condition: &Value, role: &str) -> bool {
    let Some(operators) = condition.as_object() else {
        return true;
    };
    operators.iter().all(|(operator, keys)| {
        let Some(keys) = keys.as_object() else {
            return false;
        };
        let negated = operator.contains("Not");
        keys.iter().all(|(key, values)| {
            let named = texts(values)
                .iter()
                .any(|arn| *arn == "*" || names(arn, role));
            key.eq_ignore_ascii_case("aws:PrincipalArn") && named != negated
        })
    })
}

/// Whether an ARN is of a role: `arn:aws:iam::1:role/tlp-sink` is of `sink`.
fn names(arn: &str, role: &str) -> bool {
    let last = arn.rsplit(['/', ':']).next().unwrap_or_default();
    let (all, wanted) = (words(last), words(role));
    !wanted.is_empty() && wanted.iter().all(|word| all.contains(word))
}

/// Whether a text is of a pattern with `*` and `?`.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    // Where the last star stands, and how much of the text it takes.
    let (mut p, mut t, mut star) = (0, 0, None::<(usize, usize)>);
    while let Some(c) = text.get(t) {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(wanted) if *wanted == '?' || wanted == c => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, t) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}
