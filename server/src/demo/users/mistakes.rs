//! What people did to `users` by hand, and what they took back.

use lake::Result;
use lake::table::Time;
use serde_json::json;

use super::{HOUR, Users};
use crate::demo::action::{Action, Add};
use crate::demo::commit::Commit;
use crate::demo::metrics::{bytes, deleted};

impl Users {
    pub(super) fn wrong_update(&mut self, at: Time) -> Result<()> {
        self.good = Some((self.table.next - 1, self.table.live.clone()));
        let old: Vec<Add> = self.files_of("DE");
        let (mut adds, mut removes, mut updated) = (Vec::new(), Vec::new(), 0);
        for file in &old {
            let mut rows = self.rows.get(&file.path).cloned().unwrap_or_default();
            updated += rows.len();
            for user in &mut rows {
                user.plan = "free";
            }
            adds.push(self.file("DE", rows, at)?);
            removes.push(file.removed(at.0 - 700, true));
        }
        let metrics = json!({
            "numUpdatedRows": updated.to_string(), "numCopiedRows": "0",
            "numAddedFiles": adds.len().to_string(), "numRemovedFiles": removes.len().to_string(),
            "numAddedBytes": bytes(adds.iter().map(|a| a.size)),
            "numRemovedBytes": bytes(removes.iter().map(|r| r.size)),
            "numAddedChangeFiles": "0", "executionTimeMs": "3127", "scanTimeMs": "1210",
            "rewriteTimeMs": "1893",
        });
        let parameters = json!({"predicate": "[\"(region#8 = DE)\"]"});
        let commit = Commit::new(at, "UPDATE", parameters)
            .by("raj@tlp")
            .counting(metrics)
            .with(adds.into_iter().map(Action::Add))
            .with(removes.into_iter().map(Action::Remove));
        self.table.commit(commit).map(drop)
    }

    pub(super) fn restore(&mut self, at: Time) -> Result<()> {
        let Some((version, good)) = self.good.take() else {
            return Ok(());
        };
        let live = self.table.live.clone();
        let back = good.iter().filter(|(key, _)| !live.contains_key(*key));
        let adds: Vec<Add> = back.map(|(_, add)| add.clone()).collect();
        let gone = live.iter().filter(|(key, _)| !good.contains_key(*key));
        let removes: Vec<_> = gone.map(|(_, add)| add.removed(at.0 + 40, true)).collect();
        let metrics = json!({
            "numRestoredFiles": adds.len().to_string(),
            "restoredFilesSize": bytes(adds.iter().map(|a| a.size)),
            "numRemovedFiles": removes.len().to_string(),
            "removedFilesSize": bytes(removes.iter().map(|r| r.size)),
            "numOfFilesAfterRestore": good.len().to_string(),
            "tableSizeAfterRestore": bytes(good.values().map(|a| a.size)),
        });
        let parameters = json!({"version": version, "timestamp": null});
        let commit = Commit::new(at, "RESTORE", parameters)
            .by("ana@tlp")
            .because("the update set every plan in DE to free")
            .counting(metrics)
            .with([Action::MetaData(self.table.metadata.clone())])
            .with(adds.into_iter().map(Action::Add))
            .with(removes.into_iter().map(Action::Remove));
        self.table.commit(commit).map(drop)
    }

    /// Three people asked to be forgotten.
    pub(super) fn erase(&mut self, at: Time) -> Result<()> {
        let Some(old) = self.files_of("UK").into_iter().next() else {
            return Ok(());
        };
        let mut rows = self.rows.get(&old.path).cloned().unwrap_or_default();
        let ids: Vec<i64> = rows.iter().step_by(97).take(3).map(|u| u.id).collect();
        rows.retain(|user| !ids.contains(&user.id));
        let copied = rows.len();
        let add = self.file("UK", rows, at)?;
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let predicate = format!("[\"user_id#12L IN ({})\"]", ids.join(","));
        let (gone, came) = (std::slice::from_ref(&old), std::slice::from_ref(&add));
        let metrics = deleted(gone, came, 3, copied);
        let commit = Commit::new(at, "DELETE", json!({ "predicate": predicate }))
            .by("raj@tlp")
            .because("erasure requests of this week")
            .counting(metrics)
            .with([
                Action::Remove(old.removed(at.0 - 600, true)),
                Action::Add(add),
            ]);
        self.table.commit(commit).map(drop)
    }

    /// The DELETE that was meant for the UK.
    pub(super) fn accident(&mut self) -> Result<()> {
        let at = Time(self.now.0 - 3 * HOUR - 7 * 60_000);
        let gone = self.files_of("US");
        let rows = self.count(&gone);
        let commit = Commit::new(at, "DELETE", json!({"predicate": "[\"(region#1 = US)\"]"}))
            .by("ana@tlp")
            .because("closing the UK site: its accounts moved to the partner")
            .counting(deleted(&gone, &[], rows, 0))
            .with(
                gone.iter()
                    .map(|f| Action::Remove(f.removed(at.0 - 800, true))),
            );
        self.table.commit(commit).map(drop)
    }
}
