//! The Hive metastore that remembers closed hours. It commits nothing: a marker stands whatever
//! comes of its registration, and registering again is always safe.

mod failed;
#[cfg(test)]
mod tests;

use std::time::Duration;

use hive_metastore::{
    FieldSchema, GetTableRequest, Partition, StorageDescriptor, Table,
    ThriftHiveMetastoreAddPartitionException, ThriftHiveMetastoreClient,
    ThriftHiveMetastoreClientBuilder, ThriftHiveMetastoreGetPartitionException,
};
use lake::hours::dataset::Metastore;
use lake::hours::statement::{self, same_location, values_of};
use lake::hours::{Dataset, Marker, Slot, State};
use lake::plan::Published;
use lake::{Error, Kind, Result};
use pilota::FastStr;
use serde_json::Value;
use url::Url;
use volo::net::Address;
use volo_thrift::MaybeException;
use volo_thrift::codec::default::DefaultMakeCodec;

use self::failed::{failed, refused, unknown_method};

/// How long one registration may take, all of it. A metastore that was just started takes seconds to
/// find its words.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a registration did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// The partition is new.
    Added,
    /// It was read from another run, and is read from this one now.
    Moved,
    /// It was as it should be.
    Unchanged,
}

/// Registers the run of a marker at the dataset's table: adds the partition, or points it at the
/// run. Done only when the metastore has answered with that location.
pub async fn register(dataset: &Dataset, marker: &Marker) -> Result<Registered> {
    let metastore = declared(dataset)?;
    within(PATIENCE, metastore, async {
        let open = Open::new(metastore).await?;
        let slot = Slot {
            day: marker.event_date,
            hour: marker.hour,
        };
        let table = open.table().await?;
        let values = values(dataset, &table, slot)?;
        let run = marker.location(dataset);
        let run = run.as_deref().unwrap_or(&marker.prefix);
        let done = open.point(&table, &values, run).await?;
        match open.partition(&values).await? {
            Some(found) if same_location(location(&found), run) => Ok(done),
            _ => Err(Error::new(
                Kind::Conflict,
                "the metastore answered that it was done, and reads the partition from elsewhere",
            )),
        }
    })
    .await
}

/// Registers what a publish left, and says in its answer whether the catalog knows. Nothing fails
/// here: the marker stands, and the next publish of the hour, which changes nothing, registers it.
///
/// Whether somebody else told the catalog something else meanwhile.
pub async fn remember(dataset: &Dataset, published: &mut Published) -> bool {
    let closed = published.state.is_some_and(State::is_closed);
    let marker = published.marker.clone().filter(|_| closed);
    // Of an hour in which nothing happened there is nothing to know.
    if dataset.metastore.is_none() || published.state == Some(State::Empty) {
        return false;
    }
    let done = match marker.map(|marker| serde_json::from_value(Value::Object(marker))) {
        Some(Ok(marker)) => register(dataset, &marker).await.map(drop),
        Some(Err(e)) => Err(Error::damaged("the marker names no run").because(e)),
        None => Err(Error::invalid("the hour is not closed")),
    };
    published.registered = Some(done.is_ok());
    let error = done.err();
    let contradicted = error.as_ref().is_some_and(|e| e.kind() == Kind::Conflict);
    published.registration_error = error.map(|error| error.to_string());
    contradicted
}

/// The partitions that the dataset's table has.
pub async fn partitions(dataset: &Dataset) -> Result<Vec<statement::Registered>> {
    let metastore = declared(dataset)?;
    within(PATIENCE, metastore, async {
        let open = Open::new(metastore).await?;
        let (database, table) = open.name();
        let all = match open.client.get_partitions(database, table, -1).await {
            Ok(MaybeException::Ok(all)) => all,
            Ok(MaybeException::Exception(e)) => return Err(refused(&e)),
            Err(e) => return Err(failed(&e)),
        };
        let registered = all.into_iter().map(|partition| statement::Registered {
            location: location(&partition).to_owned(),
            values: partition
                .values
                .unwrap_or_default()
                .iter()
                .map(ToString::to_string)
                .collect(),
        });
        Ok(registered.collect())
    })
    .await
}

fn declared(dataset: &Dataset) -> Result<&Metastore> {
    dataset.metastore.as_ref().ok_or_else(|| {
        Error::invalid("the configuration names no metastore").at("dataset", &dataset.name)
    })
}

/// A conversation that ends in time, with errors that say with whom.
async fn within<T>(
    patience: Duration,
    metastore: &Metastore,
    talk: impl Future<Output = Result<T>>,
) -> Result<T> {
    let done = tokio::time::timeout(patience, talk).await;
    let done = done.unwrap_or_else(|_| {
        let message = format!(
            "the metastore did not answer within {} s",
            patience.as_secs()
        );
        Err(Error::new(Kind::Unreachable, message))
    });
    done.map_err(|e| {
        let uri = lake::error::redacted(&metastore.uri);
        e.at("metastore", uri).at("table", &metastore.table)
    })
}

/// A client and the table it is about.
struct Open<'a> {
    client: ThriftHiveMetastoreClient,
    metastore: &'a Metastore,
}

impl<'a> Open<'a> {
    async fn new(metastore: &'a Metastore) -> Result<Self> {
        let address = address(&metastore.uri).await?;
        let client = ThriftHiveMetastoreClientBuilder::new("metastore")
            .address(address)
            .make_codec(DefaultMakeCodec::buffered())
            // The whole conversation ends sooner.
            .connect_timeout(Some(2 * PATIENCE))
            .read_write_timeout(Some(2 * PATIENCE))
            .build();
        Ok(Self { client, metastore })
    }

    fn name(&self) -> (FastStr, FastStr) {
        let name = self.metastore.table.as_str();
        let (database, table) = name.rsplit_once('.').unwrap_or(("default", name));
        (text(database), text(table))
    }

    async fn table(&self) -> Result<Table> {
        let (db_name, tbl_name) = self.name();
        let request = GetTableRequest {
            db_name,
            tbl_name,
            capabilities: None,
        };
        match self.client.get_table_req(request).await {
            Ok(MaybeException::Ok(found)) => Ok(found.table),
            Ok(MaybeException::Exception(e)) => Err(refused(&e)),
            Err(e) if unknown_method(&e) => self.table_of_old().await,
            Err(e) => Err(failed(&e)),
        }
    }

    /// The table, from a metastore before Hive 3, which knows no requests. Since Hive 4 it knows
    /// nothing else.
    async fn table_of_old(&self) -> Result<Table> {
        let (database, table) = self.name();
        match self.client.get_table(database, table).await {
            Ok(MaybeException::Ok(table)) => Ok(table),
            Ok(MaybeException::Exception(e)) => Err(refused(&e)),
            Err(e) => Err(failed(&e)),
        }
    }

    async fn partition(&self, values: &[FastStr]) -> Result<Option<Partition>> {
        let (database, table) = self.name();
        let found = self.client.get_partition(database, table, values.to_vec());
        match found.await {
            Ok(MaybeException::Ok(found)) => Ok(Some(found)),
            Ok(MaybeException::Exception(ThriftHiveMetastoreGetPartitionException::O2(_))) => {
                Ok(None)
            }
            Ok(MaybeException::Exception(e)) => Err(refused(&e)),
            Err(e) => Err(failed(&e)),
        }
    }

    /// Sees to it that a partition is read from `prefix`.
    async fn point(&self, table: &Table, values: &[FastStr], prefix: &str) -> Result<Registered> {
        if let Some(found) = self.partition(values).await? {
            return self.move_to(found, prefix).await;
        }
        let (database, name) = self.name();
        let new = Partition {
            values: Some(values.to_vec()),
            db_name: Some(database),
            table_name: Some(name),
            sd: Some(StorageDescriptor {
                location: Some(text(prefix)),
                ..table.sd.clone().unwrap_or_default()
            }),
            parameters: Some(Default::default()),
            ..Partition::default()
        };
        match self.client.add_partition(new).await {
            Ok(MaybeException::Ok(_)) => Ok(Registered::Added),
            // Somebody else was faster, or our own first try came through after all.
            Ok(MaybeException::Exception(ThriftHiveMetastoreAddPartitionException::O2(_))) => {
                match self.partition(values).await? {
                    Some(found) => self.move_to(found, prefix).await,
                    None => Err(Error::new(
                        Kind::Conflict,
                        "the metastore has the partition and does not show it",
                    )),
                }
            }
            Ok(MaybeException::Exception(e)) => Err(refused(&e)),
            Err(e) => Err(failed(&e)),
        }
    }

    async fn move_to(&self, mut found: Partition, prefix: &str) -> Result<Registered> {
        if same_location(location(&found), prefix) {
            return Ok(Registered::Unchanged);
        }
        found.sd = Some(StorageDescriptor {
            location: Some(text(prefix)),
            ..found.sd.unwrap_or_default()
        });
        // What was counted was counted of the old run.
        if let Some(parameters) = &mut found.parameters {
            for stale in ["numRows", "numFiles", "totalSize", "rawDataSize", STATS] {
                parameters.remove(stale);
            }
        }
        let (database, table) = self.name();
        match self.client.alter_partition(database, table, found).await {
            Ok(MaybeException::Ok(())) => Ok(Registered::Moved),
            Ok(MaybeException::Exception(e)) => Err(refused(&e)),
            Err(e) => Err(failed(&e)),
        }
    }
}

/// The metastore's note that a partition's figures are true.
const STATS: &str = "COLUMN_STATS_ACCURATE";

fn text(text: &str) -> FastStr {
    FastStr::new(text)
}

fn location(partition: &Partition) -> &str {
    let stored = partition.sd.as_ref();
    stored
        .and_then(|stored| stored.location.as_deref())
        .unwrap_or_default()
}

/// `thrift://host:port`, its name resolved.
async fn address(uri: &str) -> Result<Address> {
    let invalid = || Error::invalid("a metastore's `uri` is thrift://host:port");
    let url = Url::parse(uri).map_err(|e| invalid().because(e))?;
    let host = url.host_str().filter(|_| url.scheme() == "thrift");
    let host = host.ok_or_else(invalid)?.trim_matches(['[', ']']);
    let mut found = tokio::net::lookup_host((host, url.port().unwrap_or(9083)))
        .await
        .map_err(|e| {
            Error::new(Kind::Unreachable, "the metastore's host is not known").because(e)
        })?;
    let first = found.next().ok_or_else(|| {
        Error::new(
            Kind::Unreachable,
            "the metastore's host is known and has no address",
        )
    })?;
    Ok(Address::from(first))
}

/// The slot's partition values as the table's columns write them: a column of numbers has no zero
/// before an hour.
fn values(dataset: &Dataset, table: &Table, slot: Slot) -> Result<Vec<FastStr>> {
    let keys: &[FieldSchema] = table.partition_keys.as_deref().unwrap_or_default();
    let names: Vec<&str> = keys
        .iter()
        .map(|key| key.name.as_deref().unwrap_or_default())
        .collect();
    let same = names.len() == dataset.partition.len()
        && names
            .iter()
            .zip(&dataset.partition)
            .all(|(name, column)| name.eq_ignore_ascii_case(column));
    if !same {
        return Err(Error::new(
            Kind::Damaged,
            format!(
                "the table is partitioned by {}, the dataset by {}",
                names.join(", "),
                dataset.partition.join(", ")
            ),
        ));
    }
    let values = values_of(dataset, slot);
    let written = values.iter().zip(keys).map(|(value, key)| {
        let kind = key.r#type.as_deref().unwrap_or_default();
        match kind {
            "int" | "integer" | "bigint" | "smallint" | "tinyint" => {
                match value.trim_start_matches('0') {
                    "" => text("0"),
                    value => text(value),
                }
            }
            _ => text(value),
        }
    });
    Ok(written.collect())
}
