//! How the mart's schema, properties and features grow.

use indexmap::IndexMap;
use lake::Result;
use serde_json::{Value, json};

use super::Mart;
use crate::demo::action::{Action, DomainMetadata, Protocol};
use crate::demo::commit::Commit;

/// The column that was added, as data files name it.
const TIME_SPENT: &str = "col-2f6c1e0a-7b3d-4c55-9a41-d0c9b8e71f26";

impl Mart {
    pub(super) fn map_columns(&mut self) -> Result<()> {
        self.shape.mapped = true;
        let protocol = Protocol::legacy(2, 5);
        let columns = self.shape.columns().len() + 1;
        let properties = [
            ("delta.columnMapping.mode", "name"),
            ("delta.columnMapping.maxColumnId", &columns.to_string()),
        ];
        let given = json!({"properties": "{\"delta.columnMapping.mode\":\"name\"}"});
        self.change(
            "SET TBLPROPERTIES",
            given,
            &properties,
            Some(protocol),
            "ana@tlp",
        )
    }

    pub(super) fn add_time_spent(&mut self) -> Result<()> {
        self.shape.time_spent = Some(TIME_SPENT);
        let columns = (self.shape.columns().len() + 1).to_string();
        let column = json!([{"column": {
            "name": "time_spent_seconds", "type": "integer", "nullable": true, "metadata": {},
        }}]);
        let parameters = json!({ "columns": column.to_string() });
        let properties = [("delta.columnMapping.maxColumnId", columns.as_str())];
        self.change("ADD COLUMNS", parameters, &properties, None, "raj@tlp")
    }

    pub(super) fn rename_score(&mut self) -> Result<()> {
        self.shape.score_name = "score_percent";
        let parameters = json!({"oldColumnPath": "score", "newColumnPath": "score_percent"});
        self.change("RENAME COLUMN", parameters, &[], None, "raj@tlp")
    }

    pub(super) fn enable_vectors_and_widening(&mut self) -> Result<()> {
        self.features = vec!["columnMapping", "deletionVectors", "typeWidening"];
        let properties = [
            ("delta.enableDeletionVectors", "true"),
            ("delta.enableTypeWidening", "true"),
        ];
        self.set_properties(&properties, true, "ana@tlp")
    }

    pub(super) fn widen_attempts(&mut self) -> Result<()> {
        self.shape.attempt_is_long = true;
        let column = json!({
            "name": "attempt_number", "type": "long", "nullable": true, "metadata": {},
        });
        let parameters = json!({ "column": column.to_string() });
        self.change("CHANGE COLUMN", parameters, &[], None, "raj@tlp")
    }

    /// Notes in the table which definition its rows follow.
    pub(super) fn state_definition(&mut self) -> Result<()> {
        self.features.push("domainMetadata");
        let at = self.later(4);
        let properties = [("tlp.definition_version", self.definition)];
        let metadata = self.table.with_properties(&properties);
        let domain = DomainMetadata {
            domain: "tlp.completion".to_owned(),
            configuration: json!({"definition_version": self.definition, "days": 6}).to_string(),
            removed: false,
        };
        let commit = Commit::new(at, "SET TBLPROPERTIES", given(&properties))
            .by("job 7790")
            .blind()
            .with([
                Action::MetaData(metadata),
                Action::Protocol(self.protocol()),
                Action::DomainMetadata(domain),
            ]);
        self.commit(commit)
    }

    pub(super) fn enable_in_commit_timestamps(&mut self) -> Result<()> {
        self.features.push("inCommitTimestamp");
        let at = self.later(95);
        let metadata = self.table.with_properties(&[
            ("delta.enableInCommitTimestamps", "true"),
            (
                "delta.inCommitTimestampEnablementVersion",
                &self.table.next.to_string(),
            ),
            (
                "delta.inCommitTimestampEnablementTimestamp",
                &at.0.to_string(),
            ),
        ]);
        let given = given(&[("delta.enableInCommitTimestamps", "true")]);
        let commit = Commit::new(at, "SET TBLPROPERTIES", given)
            .by("ana@tlp")
            .because("times survive a copy of the table")
            .blind()
            .with([
                Action::MetaData(metadata),
                Action::Protocol(self.protocol()),
            ]);
        self.commit(commit)
    }

    pub(super) fn enable_change_data(&mut self) -> Result<()> {
        self.features.push("changeDataFeed");
        self.set_properties(&[("delta.enableChangeDataFeed", "true")], true, "raj@tlp")
    }

    pub(super) fn keep_log_longer(&mut self) -> Result<()> {
        let properties = [
            ("delta.logRetentionDuration", "interval 90 days"),
            ("delta.targetFileSize", "65536"),
        ];
        self.set_properties(&properties, false, "ana@tlp")
    }

    pub(super) fn set_properties(
        &mut self,
        properties: &[(&str, &str)],
        new_features: bool,
        user: &str,
    ) -> Result<()> {
        let protocol = new_features.then(|| self.protocol());
        self.change(
            "SET TBLPROPERTIES",
            given(properties),
            properties,
            protocol,
            user,
        )
    }

    /// A commit that changes the schema, the properties or the protocol.
    pub(super) fn change(
        &mut self,
        operation: &str,
        parameters: Value,
        properties: &[(&str, &str)],
        protocol: Option<Protocol>,
        user: &str,
    ) -> Result<()> {
        let at = self.later(25);
        let mut metadata = self.table.with_properties(properties);
        metadata.schema_string = self.shape.schema_string();
        let commit = Commit::new(at, operation, parameters)
            .by(user)
            .blind()
            .with([Action::MetaData(metadata)])
            .with(protocol.map(Action::Protocol));
        self.commit(commit)
    }

    /// The protocol with the features so far. Only some of them are a reader's business.
    pub(super) fn protocol(&self) -> Protocol {
        let reads = ["columnMapping", "deletionVectors", "typeWidening"];
        let readers: Vec<&str> = self
            .features
            .iter()
            .copied()
            .filter(|f| reads.contains(f))
            .collect();
        let mut writers = self.features.clone();
        writers.extend(["invariants", "appendOnly"]);
        Protocol::features(&readers, &writers)
    }
}

fn given(properties: &[(&str, &str)]) -> Value {
    let given: IndexMap<&str, &str> = properties.iter().copied().collect();
    json!({"properties": serde_json::to_string(&given).unwrap_or_default()})
}
