//! What a checkpoint says besides files.

use serde_json::{Value, json};

use crate::delta::action::{Protocol, Transaction};
use crate::delta::snapshot::State;

/// Protocol, metaData, domains and transactions, as lines of a commit. Domains that were removed
/// and transactions last heard of before `before` are forgotten.
pub(super) fn other_actions(state: &State, before: Option<i64>) -> Vec<Value> {
    let mut actions = vec![
        json!({ "protocol": protocol(&state.protocol) }),
        json!({ "metaData": state.metadata }),
    ];
    actions.extend(domains(state).map(|domain| json!({ "domainMetadata": domain })));
    let kept = transactions(state, before);
    actions.extend(kept.map(|transaction| json!({ "txn": transaction })));
    actions
}

/// Transactions that are not forgotten. One that does not say when it was is forgotten as soon as
/// any is, as Spark has it.
pub(super) fn transactions(
    state: &State,
    before: Option<i64>,
) -> impl Iterator<Item = &Transaction> {
    let kept = move |transaction: &&Transaction| match before {
        None => true,
        Some(before) => transaction.last_updated.is_some_and(|at| at > before),
    };
    state.transactions.values().filter(kept)
}

/// Domains that are set.
pub(super) fn domains(state: &State) -> impl Iterator<Item = Value> {
    let domain = |(domain, configuration): (&String, &String)| json!({ "domain": domain, "configuration": configuration, "removed": false });
    state.domains.iter().map(domain)
}

/// A protocol with the lists that its versions demand, even where they are empty, and no others.
pub(super) fn protocol(protocol: &Protocol) -> Value {
    let mut value = json!({
        "minReaderVersion": protocol.min_reader_version,
        "minWriterVersion": protocol.min_writer_version,
    });
    if protocol.min_reader_version >= 3 {
        value["readerFeatures"] = json!(protocol.reader_features);
    }
    if protocol.min_writer_version >= 7 {
        value["writerFeatures"] = json!(protocol.writer_features);
    }
    value
}
