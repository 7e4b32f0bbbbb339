//! Which commits are wanted: operation, person, text, partition; with or without maintenance.

use lake::wire::CommitRow;
use serde_json::Value;

use crate::format::lower;

/// A filter as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    words: Vec<Word>,
    /// Whether commits that changed no row and no metadata are left out.
    pub(super) hide_maintenance: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    /// Anywhere in what the commit says of itself.
    Text(String),
    /// `op:merge`
    Operation(String),
    /// `by:ana`
    Person(String),
    /// `region=UK`, without spaces and quotes.
    Partition(String),
}

impl Filter {
    /// Reads words: all of them must hold. `"two words"` is one.
    pub(super) fn parse(text: &str, hide_maintenance: bool) -> Self {
        let words = split(&lower(text))
            .into_iter()
            .map(|word| {
                if let Some(operation) = word.strip_prefix("op:") {
                    Word::Operation(operation.to_owned())
                } else if let Some(person) = word.strip_prefix("by:") {
                    Word::Person(person.to_owned())
                } else if word.contains('=') && !word.starts_with('=') {
                    Word::Partition(plain(&word))
                } else {
                    Word::Text(word)
                }
            })
            .collect();
        Self {
            words,
            hide_maintenance,
        }
    }

    /// Whether everything is wanted.
    pub(super) fn all(&self) -> bool {
        self.words.is_empty() && !self.hide_maintenance
    }

    /// Whether this commit is wanted.
    pub(super) fn takes(&self, commit: &CommitRow) -> bool {
        if self.hide_maintenance && maintenance(commit) {
            return false;
        }
        self.words.iter().all(|word| word.takes(commit))
    }
}

impl Word {
    fn takes(&self, commit: &CommitRow) -> bool {
        let within = |text: &Option<String>, wanted: &str| {
            text.as_ref().is_some_and(|t| lower(t).contains(wanted))
        };
        match self {
            Self::Operation(w) => within(&commit.operation, w),
            Self::Person(w) => within(&commit.user, w),
            Self::Partition(w) => plain(&parameters(commit)).contains(w),
            Self::Text(w) => {
                [
                    &commit.operation,
                    &commit.user,
                    &commit.engine,
                    &commit.reason,
                    &commit.damaged,
                ]
                .into_iter()
                .any(|text| within(text, w))
                    || commit.version.to_string() == *w
                    || parameters(commit).contains(w)
            }
        }
    }
}

/// Whether a commit changed no row and no metadata, or says that it is upkeep.
pub(super) fn maintenance(commit: &CommitRow) -> bool {
    let named = commit.operation.as_deref().is_some_and(|operation| {
        ["OPTIMIZE", "VACUUM", "REORG", "AUTO"]
            .iter()
            .any(|upkeep| operation.to_ascii_uppercase().starts_with(upkeep))
    });
    let changed = commit.data_change || commit.metadata_change || commit.damaged.is_some();
    named || !changed
}

fn parameters(commit: &CommitRow) -> String {
    match &commit.parameters {
        Value::Null => String::new(),
        other => lower(&other.to_string()),
    }
}

/// Without what engines put around names and values: spaces, quotes, backticks, parentheses.
fn plain(text: &str) -> String {
    let dressing = |c: char| c.is_whitespace() || "\"'`()\\".contains(c);
    text.chars().filter(|c| !dressing(*c)).collect()
}

fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|w| !w.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::super::sample::commit;
    use super::*;
    use serde_json::json;

    fn takes(text: &str, commit: &CommitRow) -> bool {
        Filter::parse(text, false).takes(commit)
    }

    #[test]
    fn words_are_looked_for_everywhere() {
        let mut c = commit(48, "DELETE");
        c.user = Some("Ana@tlp".to_owned());
        c.parameters = json!({"predicate": "[\"(region = 'US')\"]"});
        assert!(takes("", &c));
        assert!(takes("delete ana", &c));
        assert!(takes("48", &c));
        assert!(!takes("4", &c));
        assert!(takes("region=US", &c));
        assert!(!takes("region=UK", &c));
        assert!(takes("op:del by:ana", &c));
        assert!(!takes("op:ana", &c));
        assert!(takes("\"region = 'us'\"", &c));
        assert!(!takes("merge", &c));
    }

    #[test]
    fn upkeep_can_be_left_out() {
        let mut c = commit(40, "OPTIMIZE");
        c.data_change = false;
        assert!(maintenance(&c));
        assert!(!Filter::parse("", true).takes(&c));
        let mut set = commit(41, "SET TBLPROPERTIES");
        set.data_change = false;
        set.metadata_change = true;
        assert!(!maintenance(&set));
    }
}
