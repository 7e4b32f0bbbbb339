//! Exported settings of the buckets, for the lint. Raw's lifecycle is the one that somebody wrote
//! when there was one dataset.

use std::path::Path;

use lake::Result;
use lake::table::Time;
use serde_json::{Value, json};

use crate::demo::table::put;

pub(super) fn write(dir: &Path, now: Time) -> Result<()> {
    let at = Time(now.0 - 11 * 86_400_000);
    for (name, value) in files() {
        let text = format!("{value:#}\n");
        put(dir, &format!("settings/{name}.json"), text.as_bytes(), at)?;
    }
    Ok(())
}

fn files() -> [(&'static str, Value); 5] {
    let writers =
        ["sink", "compaction"].map(|role| format!("arn:aws:iam::120000000000:role/{role}"));
    [
        (
            "raw-lifecycle",
            json!({"Rules": [{
                "ID": "keep-it-tidy",
                "Status": "Enabled",
                "Filter": {"Prefix": ""},
                "Expiration": {"Days": 30},
            }]}),
        ),
        (
            "raw-policy",
            json!({"Version": "2012-10-17", "Statement": [{
                "Sid": "RunsStay",
                "Effect": "Deny",
                "Principal": {"AWS": writers},
                "Action": ["s3:DeleteObject", "s3:DeleteObjectVersion"],
                "Resource": "arn:aws:s3:::tlp-raw/*",
            }]}),
        ),
        (
            "raw-encryption",
            json!({"ServerSideEncryptionConfiguration": {"Rules": [{
                "ApplyServerSideEncryptionByDefault": {
                    "SSEAlgorithm": "aws:kms",
                    "KMSMasterKeyID": "arn:aws:kms:eu-central-1:120000000000:alias/tlp-raw",
                },
                "BucketKeyEnabled": true,
            }]}}),
        ),
        (
            "raw-public-access",
            json!({"PublicAccessBlockConfiguration": {
                "BlockPublicAcls": true,
                "IgnorePublicAcls": true,
                "BlockPublicPolicy": true,
                "RestrictPublicBuckets": true,
            }}),
        ),
        (
            "landing-lifecycle",
            json!({"Rules": [
                {
                    "ID": "uploads", "Status": "Enabled", "Filter": {"Prefix": ""},
                    "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1},
                },
                {
                    "ID": "window", "Status": "Enabled", "Filter": {"Prefix": ""},
                    "Expiration": {"Days": 7},
                },
            ]}),
        ),
    ]
}
