//! What keeps `users` in shape: a backfill, properties, OPTIMIZE and VACUUM.

use indexmap::IndexMap;
use lake::Result;
use lake::table::Time;
use serde_json::json;

use super::{HOUR, REGIONS, Users};
use crate::demo::action::{Action, Add};
use crate::demo::commit::Commit;
use crate::demo::metrics::{bytes, written};
use crate::demo::people::User;

impl Users {
    pub(super) fn backfill(&mut self, at: Time) -> Result<()> {
        let rows: Vec<User> = (0..300).map(|_| self.account("IN", at)).collect();
        let add = self.file("IN", rows, at)?;
        let adds = vec![add];
        let commit = Commit::new(at, "WRITE", json!({"mode": "Append", "partitionBy": "[]"}))
            .by("raj@tlp")
            .because("accounts of the Pune pilot, exported from the old site")
            .blind()
            .counting(written(&adds, 300))
            .with(adds.into_iter().map(Action::Add));
        self.table.commit(commit).map(drop)
    }

    pub(super) fn shorten_retention(&mut self, at: Time) -> Result<()> {
        let properties = [
            ("delta.deletedFileRetentionDuration", "interval 1 days"),
            ("delta.logRetentionDuration", "interval 30 days"),
            ("delta.targetFileSize", "131072"),
        ];
        let metadata = self.table.with_properties(&properties);
        let given: IndexMap<&str, &str> = properties.into_iter().collect();
        let text = serde_json::to_string(&given).unwrap_or_default();
        let commit = Commit::new(at, "SET TBLPROPERTIES", json!({ "properties": text }))
            .by("ana@tlp")
            .blind()
            .with([Action::MetaData(metadata)]);
        self.table.commit(commit).map(drop)
    }

    /// Packs the small files that upserts left.
    pub(super) fn optimize(&mut self, at: Time) -> Result<()> {
        let (mut adds, mut removes) = (Vec::new(), Vec::new());
        for (region, _) in REGIONS {
            let small: Vec<Add> = self.files_of(region);
            let small: Vec<Add> = small.into_iter().filter(|f| f.size < 40_000).collect();
            if small.len() < 2 {
                continue;
            }
            let rows = small
                .iter()
                .filter_map(|f| self.rows.get(&f.path))
                .flatten();
            let rows: Vec<User> = rows.cloned().collect();
            let mut add = self.packed(region, rows, at)?;
            add.data_change = false;
            adds.push(add);
            removes.extend(small.iter().map(|f| f.removed(at.0 - 500, false)));
        }
        let mut sizes: Vec<i64> = adds.iter().map(|a| a.size).collect();
        sizes.sort_unstable();
        let size = |share: usize| sizes.get((sizes.len().max(1) - 1) * share / 100);
        let size = |share| size(share).copied().unwrap_or_default().to_string();
        let metrics = json!({
            "numAddedFiles": adds.len().to_string(),
            "numRemovedFiles": removes.len().to_string(),
            "numAddedBytes": bytes(adds.iter().map(|a| a.size)),
            "numRemovedBytes": bytes(removes.iter().map(|r| r.size)),
            "minFileSize": size(0), "p25FileSize": size(25), "p50FileSize": size(50),
            "p75FileSize": size(75), "maxFileSize": size(100), "numDeletionVectorsRemoved": "0",
        });
        let parameters =
            json!({"predicate": "[]", "zOrderBy": "[]", "clusterBy": "[]", "auto": false});
        let commit = Commit::new(at, "OPTIMIZE", parameters)
            .by("job 8830")
            .snapshot_isolation()
            .counting(metrics)
            .with(adds.into_iter().map(Action::Add))
            .with(removes.into_iter().map(Action::Remove));
        self.table.commit(commit).map(drop)
    }

    pub(super) fn vacuum_start(&mut self, at: Time) -> Result<()> {
        self.vacuumed = self.table.removed_before(Time(at.0 - 24 * HOUR));
        let metrics = json!({
            "numFilesToDelete": self.vacuumed.len().to_string(),
            "sizeOfDataToDelete": bytes(self.vacuumed.iter().map(|r| r.size)),
        });
        let parameters =
            json!({"retentionCheckEnabled": true, "defaultRetentionMillis": 24 * HOUR});
        let commit = Commit::new(at, "VACUUM START", parameters)
            .by("job 8830")
            .snapshot_isolation()
            .blind()
            .counting(metrics);
        self.table.commit(commit).map(drop)
    }

    /// Deletes the files for good: versions that had them cannot come back.
    pub(super) fn vacuum_end(&mut self, at: Time) -> Result<()> {
        let vacuumed = std::mem::take(&mut self.vacuumed);
        for remove in &vacuumed {
            self.table.delete(&remove.path)?;
        }
        self.table.forget(&vacuumed);
        let metrics = json!({
            "numDeletedFiles": vacuumed.len().to_string(),
            "numVacuumedDirectories": (REGIONS.len() + 1).to_string(),
        });
        let commit = Commit::new(at, "VACUUM END", json!({"status": "COMPLETED"}))
            .by("job 8830")
            .snapshot_isolation()
            .blind()
            .counting(metrics);
        self.table.commit(commit).map(drop)
    }
}
