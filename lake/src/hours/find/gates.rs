//! Asking the gate of completeness, where nobody knows its answer.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, StreamExt};

use super::Finder;
use super::Gate;
use super::memory::{Known, Standing};
use crate::Result;
use crate::hours::complete;
use crate::hours::dataset::MarkerKind;
use crate::hours::day::Slot;
use crate::hours::foreign;
use crate::hours::listing::Object;
use crate::hours::state::State;

/// Hours that the gate is asked about in one answer about many, at most; all at once.
const SUSPECTS: usize = 8;

/// Bytes of their objects, at most: a month is not to wait for more, nor to hold more.
const SUSPECT_BYTES: u64 = 1 << 30;

/// Hours whose lines are read at once where all are asked for.
const AT_ONCE: usize = 4;

/// What the gate is asked about a slot, and what its answer is true of.
struct Question {
    slot: Slot,
    run: Vec<Object>,
    letters: Vec<Object>,
    key: u64,
}

/// Those of the first questions that can be asked while a person waits for something else.
fn few(questions: impl Iterator<Item = Question>) -> Vec<Question> {
    let mut bytes = 0u64;
    let small = |question: &Question| {
        let run = question.run.iter().chain(&question.letters);
        bytes = run.fold(bytes, |sum, object| sum.saturating_add(object.bytes));
        bytes <= SUSPECT_BYTES
    };
    questions.take(SUSPECTS).take_while(small).collect()
}

impl Finder {
    /// Asks the gate about slots of which it must be asked; their answers are remembered.
    pub(super) async fn gates(&self, slots: &[Slot], gate: Gate) -> Result<()> {
        let declared = self.dataset.complete.as_ref();
        if declared.is_none_or(|gate| gate.dead_letters.is_none()) {
            return Ok(());
        }
        let questions: Vec<Question> = {
            let known = self.memory.lock();
            let newest_first = slots.iter().rev();
            let questions = newest_first.filter_map(|slot| self.question(&known, *slot, gate));
            match gate {
                Gate::Suspect => few(questions),
                Gate::Doubt | Gate::All => questions.collect(),
            }
        };
        let at_once = match gate {
            Gate::Suspect => SUSPECTS,
            Gate::Doubt | Gate::All => AT_ONCE,
        };
        let answers: Vec<BoxFuture<'_, Result<()>>> = questions
            .into_iter()
            .map(|question| self.ask(question).boxed())
            .collect();
        let mut answers = stream::iter(answers).buffer_unordered(at_once);
        while let Some(answer) = answers.next().await {
            answer?;
        }
        Ok(())
    }

    async fn ask(&self, question: Question) -> Result<()> {
        let found = complete::gate(
            &self.dataset,
            &self.store,
            &question.run,
            Some(&question.letters),
            &self.host,
        );
        let found = found.await?;
        self.memory.lock().gated(question.slot, question.key, found);
        Ok(())
    }

    /// What must be asked about a slot: nothing where no run can be scanned anyway.
    fn question(&self, known: &Known, slot: Slot, gate: Gate) -> Option<Question> {
        let standing = known.standing(&self.dataset, slot, self.now)?;
        let Standing {
            markers, objects, ..
        } = &standing;
        let dataset = &self.dataset;
        let state = standing.verdict.state;
        let ours = dataset.marker.kind == MarkerKind::Tidemark;
        let scan = markers.marker().and_then(|marker| marker.scan(dataset));
        let scans = match ours {
            true => {
                let broken = [State::Lost, State::Mutated, State::Invalid];
                scan.is_some() && !broken.contains(&state)
            }
            false => state.is_closed() || state == State::Incomplete,
        };
        if !scans || known.refused() {
            return None;
        }
        let key = known.gate_key(slot, markers, objects);
        let unknown = standing.completeness.is_none();
        let wanted = match gate {
            Gate::Suspect | Gate::Doubt => unknown,
            Gate::All => !known.has_gated(slot, key),
        };
        wanted.then(|| Question {
            slot,
            run: match scan {
                Some(scan) => objects.below(&scan).cloned().collect(),
                None => {
                    let evidence = known.foreign(dataset, slot, objects, self.now);
                    let run = foreign::run(dataset, evidence);
                    run.into_iter().cloned().collect()
                }
            },
            letters: known.letters_of(slot).to_vec(),
            key,
        })
    }

    /// How a slot stands, with the gate's answer where there is a gate.
    pub(super) async fn gated(&self, slot: Slot) -> Result<Arc<Standing>> {
        self.gates(&[slot], Gate::All).await?;
        let known = self.memory.lock();
        Ok(Arc::new(known.standing_or_empty(
            &self.dataset,
            slot,
            self.now,
        )))
    }
}
