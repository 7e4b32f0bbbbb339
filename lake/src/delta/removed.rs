//! Rows of removed files whose removes do not state them, from the adds that brought the files.
//! Some writers leave the statistics out of a remove.

use hashbrown::HashMap;

use super::commit::{Summary, lines, parse_line, rows};
use super::key::{Key, key};
use super::stats::num_records;
use crate::table::Version;

/// Removes that wait for their adds at most.
const MOST: usize = 20_000;

/// What was found out, commit by commit from the newest on.
#[derive(Default)]
pub(crate) struct Removed {
    /// Files whose rows are looked for, and the commit that removed each.
    waiting: HashMap<Key, Version>,
    /// Rows found, and removes of which nothing is known yet.
    sums: HashMap<Version, (u64, u64)>,
}

impl Removed {
    /// Takes the commit before the one taken last.
    pub(crate) fn take(&mut self, version: Version, summary: &Summary, bytes: &[u8]) {
        let unstated = summary.rows_removed.0.is_none() && summary.damaged.is_none();
        if self.waiting.is_empty() && !unstated {
            return;
        }
        let mut own = Vec::new();
        for (_, text) in lines(bytes) {
            let Ok(line) = parse_line(text) else {
                continue;
            };
            if let Some(add) = &line.add {
                let vector = add.deletion_vector.as_ref();
                let Some(removed_by) = self.waiting.remove(&key(&add.path, vector)) else {
                    continue;
                };
                let found = rows(add.stats.as_deref().and_then(num_records), vector);
                if let (Some(found), Some((sum, unknown))) = (found, self.sums.get_mut(&removed_by))
                {
                    *sum = sum.saturating_add(found);
                    *unknown -= 1;
                }
            }
            if let Some(remove) = line.remove.as_ref().filter(|_| unstated) {
                let vector = remove.deletion_vector.as_ref();
                let stated = rows(remove.stats.as_deref().and_then(num_records), vector);
                own.push((key(&remove.path, vector), stated));
            }
        }
        if self.waiting.len() + own.len() > MOST {
            return;
        }
        for (file, stated) in own {
            let (sum, unknown) = self.sums.entry(version).or_default();
            match stated {
                Some(stated) => *sum = sum.saturating_add(stated),
                None => {
                    *unknown += 1;
                    self.waiting.insert(file, version);
                }
            }
        }
    }

    /// Rows that a commit removed, where all of its removes are known now.
    pub(crate) fn rows(&self, version: Version) -> Option<u64> {
        let (sum, unknown) = self.sums.get(&version)?;
        (*unknown == 0).then_some(*sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(removed: &mut Removed, version: u64, text: &str) {
        removed.take(
            Version(version),
            &Summary::read(text.as_bytes()),
            text.as_bytes(),
        );
    }

    #[test]
    fn rows_come_from_the_add_of_the_file() {
        let mut removed = Removed::default();
        let add = |path: &str, rows: u64| {
            format!(
                "{{\"add\":{{\"path\":\"{path}\",\"partitionValues\":{{}},\"size\":1,\"stats\":\"{{\\\"numRecords\\\":{rows}}}\"}}}}\n"
            )
        };
        let remove = |path: &str| format!("{{\"remove\":{{\"path\":\"{path}\"}}}}\n");
        take(&mut removed, 3, &(remove("b") + &add("c", 5)));
        take(&mut removed, 2, &(remove("a") + &remove("older")));
        take(&mut removed, 1, &add("b", 20));
        assert_eq!(removed.rows(Version(3)), Some(20));
        assert_eq!(removed.rows(Version(2)), None);
        take(&mut removed, 0, &add("a", 10));
        assert_eq!(removed.rows(Version(2)), None);
        // What the log states is left to it.
        assert_eq!(removed.rows(Version(1)), None);
    }
}
