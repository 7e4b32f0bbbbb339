//! The actions of a checkpoint that are not files.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StructArray};

use super::Small;
use super::columns::{long, map_of, present, strings, structure, text};
use crate::Result;
use crate::delta::action::{Format, Metadata, Protocol, Transaction};

pub(super) fn read_small(batch: &RecordBatch, small: &mut Small) -> Result<()> {
    if let Some(txn) = structure(batch, "txn")
        && let (Some(app), Some(version)) = (text(txn, "appId")?, long(txn, "version")?)
    {
        let updated = long(txn, "lastUpdated")?;
        for row in present(&app) {
            small.transactions.push(Transaction {
                app_id: app.value(row).to_owned(),
                version: version.value(row),
                last_updated: updated
                    .as_ref()
                    .filter(|u| u.is_valid(row))
                    .map(|u| u.value(row)),
            });
        }
    }
    if let Some(domain) = structure(batch, "domainMetadata")
        && let Some(name) = text(domain, "domain")?
    {
        let configuration = text(domain, "configuration")?;
        let removed = domain
            .column_by_name("removed")
            .and_then(|c| c.as_boolean_opt().cloned());
        for row in present(&name) {
            let text = configuration
                .as_ref()
                .filter(|c| c.is_valid(row))
                .map(|c| c.value(row).to_owned());
            let gone = removed
                .as_ref()
                .is_some_and(|r| r.is_valid(row) && r.value(row));
            small.domains.push((name.value(row).to_owned(), text, gone));
        }
    }
    if let Some(sidecar) = structure(batch, "sidecar")
        && let Some(path) = text(sidecar, "path")?
    {
        small
            .sidecars
            .extend(present(&path).map(|row| path.value(row).to_owned()));
    }
    if let Some(protocol) = structure(batch, "protocol")
        && let (Some(reader), Some(writer)) = (
            long(protocol, "minReaderVersion")?,
            long(protocol, "minWriterVersion")?,
        )
        && let Some(row) =
            (0..reader.len()).find(|row| reader.is_valid(*row) && writer.is_valid(*row))
    {
        small.protocol = Some(Protocol {
            min_reader_version: reader.value(row),
            min_writer_version: writer.value(row),
            reader_features: strings(protocol, "readerFeatures", row)?,
            writer_features: strings(protocol, "writerFeatures", row)?,
        });
    }
    read_metadata(batch, small)
}

fn read_metadata(batch: &RecordBatch, small: &mut Small) -> Result<()> {
    let Some(metadata) = structure(batch, "metaData") else {
        return Ok(());
    };
    let Some(id) = text(metadata, "id")? else {
        return Ok(());
    };
    let Some(row) = present(&id).next() else {
        return Ok(());
    };
    let one = |name| -> Result<Option<String>> {
        Ok(text(metadata, name)?
            .filter(|t| t.is_valid(row))
            .map(|t| t.value(row).to_owned()))
    };
    let created = long(metadata, "createdTime")?
        .filter(|t| t.is_valid(row))
        .map(|t| t.value(row));
    small.metadata = Some(Metadata {
        id: id.value(row).to_owned(),
        name: one("name")?,
        description: one("description")?,
        format: format(metadata, row)?,
        schema_string: one("schemaString")?.unwrap_or_default(),
        partition_columns: strings(metadata, "partitionColumns", row)?,
        configuration: map_of(metadata, "configuration", row)?
            .into_iter()
            .collect(),
        created_time: created,
    });
    Ok(())
}

fn format(metadata: &StructArray, row: usize) -> Result<Format> {
    let Some(format) = metadata
        .column_by_name("format")
        .and_then(|c| c.as_struct_opt())
    else {
        return Ok(Format::default());
    };
    let provider = text(format, "provider")?.filter(|t| t.is_valid(row));
    Ok(Format {
        provider: provider.map_or_else(|| Format::default().provider, |t| t.value(row).to_owned()),
        options: map_of(format, "options", row)?.into_iter().collect(),
    })
}
