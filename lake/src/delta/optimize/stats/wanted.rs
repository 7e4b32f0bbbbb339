//! Which columns have statistics.

use serde_json::Value;

use crate::delta::snapshot::State;

/// Leaf columns with statistics where the table does not say.
const FIRST: u64 = 32;

/// Decides it leaf by leaf, in the table's order.
#[derive(Clone, Debug)]
pub(in super::super) struct Wanted {
    rule: Rule,
    seen: u64,
    /// Physical paths of columns that a table is clustered by, which always have them.
    clustering: Vec<Vec<String>>,
}

#[derive(Clone, Debug)]
enum Rule {
    First(u64),
    /// Logical paths, of leaves or of structs.
    Named(Vec<Vec<String>>),
}

impl Wanted {
    /// What the table asks for.
    pub(super) fn of(state: &State) -> Self {
        let property = |key: &str| state.metadata.configuration.get(key);
        let rule = match property("delta.dataSkippingStatsColumns") {
            Some(names) => Rule::Named(paths(names)),
            None => {
                let first = property("delta.dataSkippingNumIndexedCols");
                match first.and_then(|n| n.trim().parse::<i64>().ok()) {
                    Some(n) => Rule::First(u64::try_from(n).unwrap_or(u64::MAX)),
                    None => Rule::First(FIRST),
                }
            }
        };
        Self {
            rule,
            seen: 0,
            clustering: clustering(state).unwrap_or_default(),
        }
    }

    /// Whether the next leaf has statistics; its path as logical and physical names.
    pub(super) fn takes(&mut self, path: &[(String, String)]) -> bool {
        self.seen += 1;
        let named = match &self.rule {
            Rule::First(first) => self.seen <= *first,
            Rule::Named(all) => all.iter().any(|named| {
                let logical = path.iter().map(|(logical, _)| logical);
                named.len() <= path.len()
                    && named
                        .iter()
                        .zip(logical)
                        .all(|(a, b)| a.eq_ignore_ascii_case(b))
            }),
        };
        named
            || self.clustering.iter().any(|own| {
                own.len() == path.len() && own.iter().zip(path).all(|(own, (_, p))| own == p)
            })
    }
}

/// Names with commas between them, each with points in it and maybe in backticks.
fn paths(text: &str) -> Vec<Vec<String>> {
    let mut all = vec![vec![String::new()]];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '`' => quoted = !quoted,
            ',' if !quoted => all.push(vec![String::new()]),
            '.' if !quoted => {
                if let Some(path) = all.last_mut() {
                    path.push(String::new());
                }
            }
            ' ' if !quoted => {}
            c => {
                if let Some(name) = all.last_mut().and_then(|path| path.last_mut()) {
                    name.push(c);
                }
            }
        }
    }
    all.retain(|path| path.iter().all(|name| !name.is_empty()));
    all
}

fn clustering(state: &State) -> Option<Vec<Vec<String>>> {
    let text = state.domains.get("delta.clustering")?;
    let value: Value = serde_json::from_str(text).ok()?;
    serde_json::from_value(value.get("clusteringColumns")?.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::paths;

    #[test]
    fn names_are_read_with_their_quotes() {
        assert_eq!(
            paths("a, b.c,`d.e,f`"),
            [vec!["a"], vec!["b", "c"], vec!["d.e,f"]]
        );
        assert!(paths("").is_empty());
    }
}
