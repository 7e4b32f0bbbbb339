//! `--partition column=value`, as often as there are partitions meant.

use lake::{Error, Result};

/// How hive spells null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Which partitions a command is about: all of them, unless some are named.
#[derive(Debug, clap::Args)]
pub(super) struct Partitions {
    /// Only files of this partition; several values of one column mean any of them
    #[arg(long = "partition", value_name = "K=V")]
    partitions: Vec<String>,
}

impl Partitions {
    /// Logical names and values, `None` for null.
    pub(super) fn read(&self) -> Result<Vec<(String, Option<String>)>> {
        self.partitions.iter().map(|text| partition(text)).collect()
    }
}

fn partition(text: &str) -> Result<(String, Option<String>)> {
    let Some((column, value)) = text.split_once('=') else {
        return Err(Error::invalid(format!(
            "`{text}` is not a partition: write column=value, and {NULL} for null"
        )));
    };
    let value = (value != NULL).then(|| value.to_owned());
    Ok((column.to_owned(), value))
}
