//! Completeness: whether every line of every order became a row, or is known to be a dead letter.
//!
//! A count of objects that matches says nothing of records that never became objects. Orders number
//! their lines from 1, so a hole shows: for each order, the lines that landed and those that were
//! dead-lettered must cover 1 to the largest number seen.

mod letters;
mod lines;
mod orders;

use std::sync::Arc;

use futures::StreamExt;
use object_store::ObjectStore;

use super::columns::{of_file, parts};
use super::dataset::{Complete, Dataset};
use super::judge::Completeness;
use super::listing::Object;
use crate::host::{Progress, SharedHost};
use crate::{Error, Kind, Result};
use letters::{Form, form};
use lines::lines;
use orders::{Orders, Side};

/// Asks the gate about a run. `dead_letters` are the objects that landed under the dead-letter
/// prefix for the same hour; `None` where there is no such prefix, or it cannot be listed: then the
/// gate fails, and says so.
///
/// Only the columns of key and sequence are fetched. A row that landed twice is one line, and one
/// that landed and is a dead letter too has landed. Keys are compared as text, whether a file has
/// them as text, bytes or whole numbers. A row without a key, or whose sequence is no whole number
/// from 1 on, is a line nobody can account for: whichever side it is on, it makes the gate fail, by
/// [`Completeness::unreadable`], which names the file and the row, and never a value.
///
/// An error means that the store could not be asked. What a file holds, or that it is gone, is an
/// answer.
pub async fn gate(
    dataset: &Dataset,
    store: &Arc<dyn ObjectStore>,
    run: &[Object],
    dead_letters: Option<&[Object]>,
    host: &SharedHost,
) -> Result<Completeness> {
    let Some(rule) = &dataset.complete else {
        return Err(Error::invalid(format!(
            "`{}` declares no sequence of lines, so nothing can be said of its completeness",
            dataset.name
        )));
    };
    let of = run.len() + dead_letters.map_or(0, <[Object]>::len);
    let mut reading = Reading {
        rule,
        store,
        host,
        orders: Orders::default(),
        bad: [Bad::default(), Bad::default()],
        done: 0,
        of: of as u64,
    };
    reading.files(run, Side::Landed).await?;
    let mut reasons = Vec::new();
    match dead_letters {
        Some(objects) => reading.letters(objects).await?,
        None => reasons.push(match &rule.dead_letters {
            None => "no prefix is configured where dead letters land, so a line that is missing cannot be told from one that was dead-lettered".to_owned(),
            Some(prefix) => format!("the dead letters below {prefix}/ cannot be listed"),
        }),
    }
    let [landed, dead] = reading.bad;
    reasons.extend(landed.sentence("row of the run", "rows of the run", rule));
    reasons.extend(dead.sentence("dead letter", "dead letters", rule));
    let mut found = reading.orders.completeness();
    found.unreadable = (!reasons.is_empty()).then(|| reasons.join("; "));
    Ok(found)
}

/// Lines that cannot be accounted for.
#[derive(Default)]
struct Bad {
    count: u64,
    /// The first of them: file and place in it, or the file and what is wrong with it.
    first: Option<String>,
    /// Files that could not be read at all.
    files: u64,
    file: Option<String>,
}

impl Bad {
    fn line(&mut self, object: &Object, place: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(format!("{}, {}", object.key, place()));
        }
    }

    fn file(&mut self, object: &Object, why: &str) {
        self.files += 1;
        let first = || format!("{}: {why}", object.key);
        self.file.get_or_insert_with(first);
    }

    fn sentence(&self, one: &str, many: &str, rule: &Complete) -> Option<String> {
        let Complete { key, sequence, .. } = rule;
        let of = format!("from which `{key}` and `{sequence}` cannot be read");
        let lines = self.first.as_ref().map(|first| match self.count {
            1 => format!("a {one} {of} ({first})"),
            n => format!("{n} {many} {of} (the first: {first})"),
        });
        let files = self.file.as_ref().map(|first| match self.files {
            1 => format!("a file of {many} that cannot be read ({first})"),
            n => format!("{n} files of {many} that cannot be read (the first: {first})"),
        });
        match (lines, files) {
            (Some(lines), Some(files)) => Some(format!("{lines}; {files}")),
            (lines, files) => lines.or(files),
        }
    }
}

struct Reading<'a> {
    rule: &'a Complete,
    store: &'a Arc<dyn ObjectStore>,
    host: &'a SharedHost,
    orders: Orders,
    bad: [Bad; 2],
    done: u64,
    of: u64,
}

impl Reading<'_> {
    /// Takes Parquet files in.
    async fn files(&mut self, objects: &[Object], side: Side) -> Result<()> {
        let names = [self.rule.key.as_str(), self.rule.sequence.as_str()];
        let mut parts = std::pin::pin!(parts(self.store, objects, &names));
        while let Some(part) = parts.next().await {
            let part = match part {
                Ok(part) => part,
                Err(unread) if of_file(&unread.error) => {
                    self.bad(side).file(unread.object, &unread.error.sentence());
                    self.read()?;
                    continue;
                }
                Err(unread) => return Err(unread.error.at("key", &unread.object.key)),
            };
            let (mut row, object, last) = (part.first, part.object, part.last);
            for batch in part.batches {
                let own = batch.and_then(|batch| {
                    let columns = batch.columns();
                    let column = |at: usize| part.places.get(at).and_then(|at| columns.get(*at));
                    let (Some(keys), Some(sequences)) = (column(0), column(1)) else {
                        return Err(Error::new(Kind::Internal, "a column that was not read"));
                    };
                    let bad = &mut self.bad[usize::from(side == Side::Dead)];
                    let orders = &mut self.orders;
                    lines(keys, sequences, orders, side, |at| {
                        bad.line(object, || format!("row {}", row + at + 1));
                    })?;
                    Ok(batch.num_rows() as u64)
                });
                match own {
                    Ok(rows) => row += rows,
                    Err(error) if of_file(&error) => {
                        self.bad(side).file(object, &error.sentence());
                        break;
                    }
                    Err(error) => return Err(error.at("key", &object.key)),
                }
                self.host.pause().await;
            }
            if last {
                self.read()?;
            }
        }
        Ok(())
    }

    /// Takes dead letters in, whatever form they landed in.
    async fn letters(&mut self, objects: &[Object]) -> Result<()> {
        let (mut parquet, mut other) = (Vec::new(), Vec::new());
        for object in objects {
            match form(self.store, object).await {
                Ok(Form::Parquet) => parquet.push(object.clone()),
                Ok(Form::Json(bytes)) => other.push((object, bytes)),
                Err(error) if of_file(&error) => {
                    self.bad(Side::Dead).file(object, &error.sentence());
                    self.read()?;
                }
                Err(error) => return Err(error.at("key", &object.key)),
            }
            for (object, bytes) in other.drain(..) {
                let bad = &mut self.bad[1];
                let found = letters::read(&bytes, self.rule, &mut self.orders, |place| {
                    bad.line(object, || place.to_string());
                });
                if let Err(error) = found {
                    self.bad(Side::Dead).file(object, &error.sentence());
                }
                self.read()?;
                self.host.pause().await;
            }
        }
        self.files(&parquet, Side::Dead).await
    }

    fn bad(&mut self, side: Side) -> &mut Bad {
        &mut self.bad[usize::from(side == Side::Dead)]
    }

    /// Tells of one file more.
    fn read(&mut self) -> Result<()> {
        self.done += 1;
        self.host.progress(Progress {
            step: "checking completeness".to_owned(),
            done: self.done,
            of: Some(self.of),
        });
        match self.host.cancelled() {
            true => Err(Error::new(
                Kind::Cancelled,
                "the gate was not asked to its end",
            )),
            false => Ok(()),
        }
    }
}
