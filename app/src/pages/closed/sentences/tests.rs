//! Who is called out, in which order, and who only waits.

use lake::hours::{Day, Reason};
use lake::wire::Format;
use lake::wire::hours::{ClosedReport, DatasetReport, GridDay, HourSizes};
use lake::wire::http::{DatasetEntry, TableEntry};

use super::*;

fn day() -> Day {
    "2026-11-10".parse().unwrap()
}

fn report(states: &str) -> Arc<GridReport> {
    let found = states.chars().filter_map(State::of_letter).zip(0_u8..);
    let mut attention: Vec<HourRow> = found
        .filter(|(state, _)| state.needs_attention())
        .map(|(state, hour)| HourRow {
            date: day(),
            hour: Some(hour),
            state,
            reasons: vec![Reason::new(state, "why")],
            marker: None,
            objects: 0,
            bytes: 0,
            median_bytes: None,
            newest_object: None,
            completeness: None,
            listed_at: None,
            deadline: None,
            owner: None,
        })
        .collect();
    attention.sort_by_key(|row| (row.state, std::cmp::Reverse(row.hour)));
    let count = |state: State| states.matches(state.letter()).count() as u64;
    let counts = State::ALL.into_iter().map(|state| (state, count(state)));
    Arc::new(GridReport {
        dataset: DatasetReport {
            compaction_owner: Some("packers".to_owned()),
            ..DatasetReport::default()
        },
        from: day(),
        to: day(),
        now: day().plus(1).start(),
        days: vec![GridDay {
            date: day(),
            remarks: String::new(),
            states: states.to_owned(),
            objects: Vec::new(),
            bytes: Vec::new(),
            listed_at: None,
        }],
        counts: counts.filter(|(_, count)| *count > 0).collect(),
        declared_empty: 0,
        closed: ClosedReport::default(),
        attention_total: attention.len() as u64,
        attention,
        sizes: HourSizes::default(),
        findings: Vec::new(),
    })
}

fn entry(name: &str, reads: &[&str]) -> DatasetEntry {
    DatasetEntry {
        name: name.to_owned(),
        zone: "z".to_owned(),
        prefix: name.to_owned(),
        hourly: true,
        first: None,
        reads: reads.iter().map(|read| (*read).to_owned()).collect(),
    }
}

fn lake() -> LakeReport {
    LakeReport {
        datasets: vec![
            entry("late", &["bad"]),
            entry("bad", &[]),
            entry("fine", &[]),
        ],
        tables: vec![TableEntry {
            name: "mart".to_owned(),
            zone: "z".to_owned(),
            prefix: "mart".to_owned(),
            format: Format::Delta,
            configured: true,
            reads: vec!["bad".to_owned()],
        }],
        ..LakeReport::default()
    }
}

fn names(all: &[Sentence]) -> Vec<String> {
    let name = |sentence: &Sentence| match sentence {
        Sentence::Hours {
            dataset,
            slot,
            state,
            more,
            ..
        } => format!("{dataset} {:?} {} +{more}", slot.hour, state.words()),
        Sentence::Budget {
            dataset,
            hours,
            owner,
            ..
        } => format!("{dataset} budget {hours} {owner:?}"),
        Sentence::Waits { reader, input, .. } => {
            format!(
                "{reader} waits {} {:?} +{}",
                input.dataset, input.slot.hour, input.more
            )
        }
    };
    all.iter().map(name).collect()
}

#[test]
fn the_worst_comes_first_and_who_waits_after_it() {
    let late = report("CTTCCCCCCCCCCCCCCCCCOFFF");
    let bad = report("CMCCCLCCCBBBCCCCCCCCOFFF");
    let fine = report("CCCCCCCCCCCCCCCCCCCCOFFF");
    let all = sentences(&lake(), &[Some(late), Some(bad), Some(fine)]);
    // Hour 2 of `late` has its input: that one is its own fault.
    assert_eq!(
        names(&all),
        [
            "bad Some(5) lost +1",
            "late Some(2) late +0",
            "late waits bad Some(1) +0",
            "mart waits bad Some(5) +1",
            "bad budget 3 Some(\"packers\")",
        ]
    );
}

#[test]
fn an_open_hour_and_what_has_not_come_say_nothing() {
    let open = report("CCCCCCCCCCCCCCCCCCCCOFFF");
    assert_eq!(sentences(&lake(), &[Some(open), None, None]), []);
    assert_eq!(sentences(&lake(), &[None, None, None]), []);
}

#[test]
fn the_configuration_says_from_which_state_on() {
    let mut lake = lake();
    lake.attention.hour = State::Lost;
    lake.tables.clear();
    let bad = report("CMCCCCCCCCCCCCCCCCCCOFFF");
    assert_eq!(sentences(&lake, &[None, Some(bad), None]), []);
}
