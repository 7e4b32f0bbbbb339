//! Delta tables in a named log state, put into any store. They have logs and no data files.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use lake::answer::Root;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use server::demo::action::{Action, Add, Format, Metadata, Protocol};
use server::demo::checkpoint::{self, Form, Object, State};
use server::demo::random::Random;
use server::demo::table::json_lines;

/// When version 0 was committed, in milliseconds since 1970. Each later one follows a minute after.
pub const START: i64 = 1_772_964_000_000;

/// Builds a table of `commits` versions, each of which adds one file of its own.
///
/// What a version holds can be computed by hand: version `v` has `v` files (less the removed
/// ones), file `n` has `1000 + n` bytes and 10 rows and lies in partition `date=n % 7`.
#[derive(Clone, Debug)]
pub struct TableBuilder {
    commits: u64,
    remove_every: Option<u64>,
    checkpoints: Vec<(u64, Layout)>,
    hint: Hint,
    compacted: Vec<(u64, u64)>,
    cleaned_before: u64,
    gaps: Vec<u64>,
    incomplete: bool,
    protocol: Protocol,
    properties: Vec<(String, String)>,
    extra: Vec<(u64, Vec<Action>)>,
}

/// How a checkpoint is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One Parquet file.
    Classic,
    /// So many Parquet files.
    MultiPart(usize),
    /// Named by UUID, upper file in JSON, files in so many sidecars.
    V2Json(usize),
    /// Named by UUID, upper file in Parquet, files in so many sidecars.
    V2Parquet(usize),
}

/// What `_last_checkpoint` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Hint {
    /// The newest checkpoint.
    #[default]
    Correct,
    /// There is none.
    Missing,
    /// The oldest checkpoint, although there is a newer one.
    Stale,
    /// A version that has no checkpoint, past the end where it is large.
    Dangling(u64),
    /// These bytes.
    Garbage(Vec<u8>),
}

/// A table that was built.
#[derive(Clone, Debug)]
pub struct Built {
    /// Where it is.
    pub root: Root,
    /// Its newest version.
    pub latest: u64,
    /// Active files of the newest version, by path.
    pub paths: Vec<String>,
}

impl TableBuilder {
    /// A table of versions 0 to `commits - 1`, with commits only.
    pub fn new(commits: u64) -> Self {
        Self {
            commits,
            remove_every: None,
            checkpoints: Vec::new(),
            hint: Hint::default(),
            compacted: Vec::new(),
            cleaned_before: 0,
            gaps: Vec::new(),
            incomplete: false,
            protocol: Protocol::legacy(1, 2),
            properties: Vec::new(),
            extra: Vec::new(),
        }
    }

    /// Every so many commits, the file of the commit before goes again.
    #[must_use]
    pub fn removing_every(mut self, commits: u64) -> Self {
        self.remove_every = Some(commits);
        self
    }

    /// A checkpoint of this version. A V2 one makes the table say that it may have them.
    #[must_use]
    pub fn checkpoint(mut self, version: u64, layout: Layout) -> Self {
        if matches!(layout, Layout::V2Json(_) | Layout::V2Parquet(_)) {
            self.protocol = Protocol::features(&["v2Checkpoint"], &["v2Checkpoint"]);
        }
        self.checkpoints.push((version, layout));
        self
    }

    /// What `_last_checkpoint` says.
    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Self {
        self.hint = hint;
        self
    }

    /// A log compaction file over these versions.
    #[must_use]
    pub fn compacted(mut self, from: u64, to: u64) -> Self {
        self.compacted.push((from, to));
        self
    }

    /// Commits below this version were cleaned away.
    #[must_use]
    pub fn cleaned_before(mut self, version: u64) -> Self {
        self.cleaned_before = version;
        self
    }

    /// This version's commit is missing.
    #[must_use]
    pub fn gap(mut self, version: u64) -> Self {
        self.gaps.push(version);
        self
    }

    /// The last file of the newest checkpoint is missing.
    #[must_use]
    pub fn incomplete(mut self) -> Self {
        self.incomplete = true;
        self
    }

    /// The table's protocol.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// A property.
    #[must_use]
    pub fn property(mut self, key: &str, value: &str) -> Self {
        self.properties.push((key.to_owned(), value.to_owned()));
        self
    }

    /// More actions in this version's commit.
    #[must_use]
    pub fn with(mut self, version: u64, actions: Vec<Action>) -> Self {
        self.extra.push((version, actions));
        self
    }

    /// Puts the table at `path` of a store.
    pub async fn build(&self, store: Arc<dyn ObjectStore>, path: &str) -> Built {
        let path = Path::parse(path).unwrap();
        let (objects, live) = self.objects();
        let put = |object: Object| {
            let store = Arc::clone(&store);
            let key = Path::parse(format!("{path}/{}", object.key)).unwrap();
            async move { store.put(&key, object.bytes.into()).await }
        };
        let puts = stream::iter(objects).map(put).buffer_unordered(64);
        puts.try_for_each(|_| async { Ok(()) }).await.unwrap();
        Built {
            root: Root {
                store,
                location: format!("memory:///{path}"),
                path,
            },
            latest: self.commits - 1,
            paths: live.into_iter().map(|add| add.path).collect(),
        }
    }

    /// A version's own actions, `commitInfo` first.
    fn commit(&self, version: u64) -> Vec<Action> {
        let operation = if version == 0 {
            "CREATE TABLE"
        } else {
            "WRITE"
        };
        let info = [
            ("timestamp", (START + version as i64 * 60_000).into()),
            ("operation", operation.into()),
            ("operationParameters", serde_json::json!({"mode": "Append"})),
            ("engineInfo", "tests".into()),
        ];
        let info = info.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        let mut actions = vec![Action::CommitInfo(info)];
        if version == 0 {
            actions.push(Action::Protocol(self.protocol.clone()));
            actions.push(Action::MetaData(self.metadata()));
        } else {
            actions.push(Action::Add(file(version)));
            if self
                .remove_every
                .is_some_and(|every| version > 1 && version.is_multiple_of(every))
            {
                let at = START + version as i64 * 60_000;
                actions.push(Action::Remove(file(version - 1).removed(at, true)));
            }
        }
        let extra = self.extra.iter().filter(|(v, _)| *v == version);
        actions.extend(extra.flat_map(|(_, actions)| actions.clone()));
        actions
    }

    fn metadata(&self) -> Metadata {
        let field = |name, kind| serde_json::json!({"name": name, "type": kind, "nullable": true, "metadata": {}});
        let fields = [field("id", "long"), field("date", "string")];
        Metadata {
            id: "5f1d0c5e-0000-4000-8000-000000000001".to_owned(),
            name: None,
            description: None,
            format: Format::default(),
            schema_string: serde_json::json!({"type": "struct", "fields": fields}).to_string(),
            partition_columns: vec!["date".to_owned()],
            configuration: self.properties.iter().cloned().collect(),
            created_time: START,
        }
    }

    /// Everything to be put, and the active files of the newest version.
    fn objects(&self) -> (Vec<Object>, Vec<Add>) {
        let mut objects = Vec::new();
        let mut live: indexmap::IndexMap<String, Add> = indexmap::IndexMap::new();
        let mut random = Random::new(self.commits);
        let mut states: Vec<(State, Vec<Object>)> = Vec::new();
        let mut written: Vec<Vec<Action>> = Vec::new();
        for version in 0..self.commits {
            let actions = self.commit(version);
            for action in &actions {
                match action {
                    Action::Add(add) => drop(live.insert(add.path.clone(), add.clone())),
                    Action::Remove(remove) => drop(live.shift_remove(&remove.path)),
                    _ => {}
                }
            }
            if version >= self.cleaned_before && !self.gaps.contains(&version) {
                objects.push(Object {
                    key: format!("_delta_log/{version:020}.json"),
                    bytes: json_lines(&actions).unwrap().into_bytes(),
                });
            }
            if !self.compacted.is_empty() {
                written.push(actions);
            }
            for (_, layout) in self.checkpoints.iter().filter(|(v, _)| *v == version) {
                let state = State {
                    version,
                    other: vec![
                        Action::Protocol(self.protocol.clone()),
                        Action::MetaData(self.metadata()),
                    ],
                    files: live.values().cloned().map(Action::Add).collect(),
                };
                let files = layout.objects(&state, &mut random);
                states.push((state, files));
            }
        }
        objects.extend(self.compactions(&written));
        objects.extend(self.hint_object(&states));
        if self.incomplete
            && let Some((_, files)) = states.last_mut()
        {
            files.pop();
        }
        objects.extend(states.into_iter().flat_map(|(_, files)| files));
        (objects, live.into_values().collect())
    }

    fn compactions(&self, written: &[Vec<Action>]) -> Vec<Object> {
        let compaction = |(from, to): &(u64, u64)| {
            let mut kept: indexmap::IndexMap<String, Action> = indexmap::IndexMap::new();
            for action in written[*from as usize..=*to as usize].iter().flatten() {
                let key = match action {
                    Action::Add(add) => add.path.clone(),
                    Action::Remove(remove) => remove.path.clone(),
                    Action::CommitInfo(_) => continue,
                    other => serde_json::to_string(other).unwrap(),
                };
                kept.insert(key, action.clone());
            }
            let actions: Vec<Action> = kept.into_values().collect();
            Object {
                key: format!("_delta_log/{from:020}.{to:020}.compacted.json"),
                bytes: json_lines(&actions).unwrap().into_bytes(),
            }
        };
        self.compacted.iter().map(compaction).collect()
    }

    fn hint_object(&self, states: &[(State, Vec<Object>)]) -> Option<Object> {
        let of =
            |(state, files): &(State, Vec<Object>)| checkpoint::hint(state, files, START).unwrap();
        let bytes = match &self.hint {
            Hint::Correct => of(states.last()?).bytes,
            Hint::Stale => of(states.first()?).bytes,
            Hint::Missing => return None,
            Hint::Dangling(version) => format!("{{\"version\":{version},\"size\":3}}").into_bytes(),
            Hint::Garbage(bytes) => bytes.clone(),
        };
        Some(Object {
            key: "_delta_log/_last_checkpoint".to_owned(),
            bytes,
        })
    }
}

impl Layout {
    fn objects(self, state: &State, random: &mut Random) -> Vec<Object> {
        let objects = match self {
            Self::Classic => checkpoint::classic(state),
            Self::MultiPart(parts) => checkpoint::multi_part(state, parts),
            Self::V2Json(sidecars) => checkpoint::v2(state, Form::Json, sidecars, random, START),
            Self::V2Parquet(sidecars) => {
                checkpoint::v2(state, Form::Parquet, sidecars, random, START)
            }
        };
        objects.unwrap()
    }
}

/// The file that a version adds.
pub fn file(version: u64) -> Add {
    let date = (version % 7).to_string();
    Add {
        path: format!("date={date}/part-{version:05}.parquet"),
        partition_values: [("date".to_owned(), Some(date))].into(),
        size: 1_000 + version as i64,
        modification_time: START + version as i64 * 60_000,
        data_change: true,
        stats: Some(format!(
            "{{\"numRecords\":10,\"minValues\":{{\"id\":{0}}},\"maxValues\":{{\"id\":{1}}},\
             \"nullCount\":{{\"id\":0}}}}",
            version * 10,
            version * 10 + 9
        )),
        tags: None,
        deletion_vector: None,
    }
}
