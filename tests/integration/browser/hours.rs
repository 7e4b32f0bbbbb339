//! The hours of datasets as a manager, an engineer and an on-call person meet them.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use lake::hours::Day;
use lake::table::Time;
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::chromium::{Chromium, Look};
use tests::closed_hours::{self, Meter};
use tests::place;
use tests::served::Served;

use super::explorer::Explorer;

/// Every state with its sign, as cells of a grid have it.
const SIGNS: [(&str, &str); 11] = [
    ("lost", "∅"),
    ("mutated", "✕"),
    ("racing", "≠"),
    ("invalid", "?"),
    ("incomplete", ""),
    ("late", "!"),
    ("budget", ""),
    ("closed", ""),
    ("open", ""),
    ("future", ""),
    ("empty", ""),
];

/// Runs a command as the page shows it, over the lake that is served.
fn shell(line: &str, config: &Path) -> Output {
    let words = line.split_whitespace().skip(1);
    let words = words.map(|word| word.trim_matches('\''));
    let mut command = Command::new(place::tidemark());
    let command = command.args(words).arg("--config").arg(config);
    command.output().unwrap()
}

/// The line of the page that starts so.
async fn line(page: &Chromium, start: &str) -> String {
    let text = page.text().await;
    let found = text.lines().find(|line| line.starts_with(start));
    found
        .unwrap_or_else(|| panic!("no `{start}` in\n{text}"))
        .to_owned()
}

async fn press_key(page: &Chromium, key: &str, shift: bool) {
    let modifiers = if shift { 8 } else { 0 };
    for kind in ["rawKeyDown", "keyUp"] {
        let event = json!({ "type": kind, "key": key, "modifiers": modifiers });
        page.web().cdp("Input.dispatchKeyEvent", event).await;
    }
}

#[tokio::test]
async fn the_grid_tells_every_state_with_its_sign_and_its_reason() {
    let explorer = Explorer::open(Look::WIDE, "/d/learning.progress").await;
    let page = &explorer.chromium;
    let day = explorer.day(1).await;
    let before = explorer.day(2).await;

    // What the page counts is what the server counts.
    let report = explorer
        .asks(&format!(
            "/api/datasets/learning.progress/hours?from={}&to={}",
            explorer.day(3).await,
            explorer.day(0).await
        ))
        .await;
    page.reads("What needs a person").await;
    let of_month = explorer.day(3).await.date().1 == explorer.day(0).await.date().1;
    if of_month {
        for (state, count) in report["counts"].as_object().unwrap() {
            let words = state.replace('_', " ");
            // What has not begun is no hour yet.
            if words != "future" {
                page.reads(&format!("{count} {words}")).await;
            }
        }
    }
    let mut seen: Vec<String> = Vec::new();
    for dataset in ["learning.progress", "commerce.purchase_line"] {
        explorer
            .go(&format!("/d/{dataset}?at={}", &day.to_string()[..4]))
            .await;
        page.reads("What needs a person").await;
        let cells = page
            .web()
            .run(
                "return [...document.querySelectorAll('.hours-body .cell')]\
                 .filter(c => getComputedStyle(c).gridColumnEnd === 'span 1' || c.classList.length)\
                 .map(c => c.classList[1] + c.textContent)",
                &[],
            )
            .await;
        let cells = cells.as_array().unwrap().iter();
        seen.extend(cells.map(|cell| cell.as_str().unwrap().to_owned()));
    }
    for (class, sign) in SIGNS {
        let cell = format!("{class}{sign}");
        assert!(seen.contains(&cell), "no {cell} in {seen:?}");
    }

    explorer.go("/d/learning.progress").await;
    for why in [
        "Nothing is left below learning/progress/",
        "1 object more than the marker says: 4 listed, the marker says 3",
        "Two markers claim the hour",
        "The marker cannot be read",
        "4 objects without a marker",
        "40 objects; the budget is 12 an hour",
        "`learner_id` is an identifier and may not stand in a key",
    ] {
        page.reads(why).await;
    }
    let order = page
        .web()
        .run(
            "return [...document.querySelectorAll('.exceptions .hour-state')].map(s => s.innerText.trim().split('\\n').pop())",
            &[],
        )
        .await;
    let order: Vec<&str> = order
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s.as_str().unwrap())
        .collect();
    let rank = |state: &&str| {
        let all = [
            "lost",
            "mutated",
            "racing",
            "invalid",
            "late",
            "over budget",
            "closed, late data",
        ];
        all.iter().position(|known| known == state).unwrap()
    };
    // The one that holds the others back comes first, whatever it is.
    page.reads("Holds the rest back").await;
    assert!(order[1..].is_sorted_by_key(rank), "{order:?}");

    // The link leads to the hour, and back is back.
    page.press("link", &format!("{day} 10:00")).await;
    page.arrives(&format!("/d/learning.progress/{day}/10"))
        .await;
    page.web().back().await;
    page.arrives("/d/learning.progress").await;

    // A reader of it waits for what it is built from.
    explorer.go("/d/learning.progress_event").await;
    page.sees("link", &format!("learning.progress {day} 10:00"))
        .await;
    page.reads("which is mutated").await;
    page.sees("link", &format!("learning.progress {before} 06:00"))
        .await;
    explorer.close().await;
}

#[tokio::test]
async fn a_selection_is_made_by_keys_lives_in_the_address_and_is_acted_on() {
    let explorer = Explorer::open(Look::WIDE, "/d/learning.progress").await;
    let page = &explorer.chromium;
    let day = explorer.day(1).await;
    let config = explorer.served.demo_folder().unwrap().join("tidemark.toml");
    page.reads("What needs a person").await;
    page.web()
        .run("document.querySelector('.hours').focus()", &[])
        .await;
    // The newest day is on top; the first arrow finds the grid.
    for (key, shift) in [
        ("ArrowDown", false),
        ("ArrowDown", false),
        ("ArrowRight", false),
        ("ArrowRight", true),
        ("ArrowRight", true),
    ] {
        press_key(page, key, shift).await;
    }
    let spoken = "return document.querySelector('.hours [aria-live]').textContent";
    let spoken = page.web().run(spoken, &[]).await;
    assert_eq!(spoken, format!("{day} 03:00, closed"));
    page.arrives(&format!("/d/learning.progress?sel={day}T01..{day}T03"))
        .await;
    page.reads("3 hours: 3 closed").await;
    page.reads("A reader may scan all of it").await;
    let check = line(page, "tidemark check").await;
    assert!(shell(&check, &config).status.success(), "{check}");
    page.key("Enter").await;
    page.arrives(&format!("/d/learning.progress/{day}/03"))
        .await;

    explorer
        .go(&format!("/d/learning.progress?sel={day}T09..{day}T17"))
        .await;
    page.reads("9 hours: 1 mutated, 1 racing, 1 late, 6 closed")
        .await;
    page.reads("A reader must wait").await;
    // The frame goes around whole cells.
    let framed = "const frame = document.querySelector('.cells > .picked'); \
                  return frame.offsetHeight === frame.parentElement.offsetHeight";
    assert_eq!(page.web().run(framed, &[]).await, json!(true));
    let check = line(page, "tidemark check").await;
    assert_eq!(shell(&check, &config).status.code(), Some(1), "{check}");
    // A catalog is told of closed hours alone.
    page.reads("no statement for 3 hours").await;
    let partitions = line(page, "tidemark partitions").await;
    let told = shell(&partitions, &config);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let statement = |hour: &str| {
        let mut lines = told.lines();
        lines
            .any(|line| line.starts_with("ALTER TABLE") && line.contains(&format!("hour='{hour}'")))
    };
    assert!(statement("09") && statement("11"), "{told}");
    assert!(
        !statement("10") && !statement("13") && !statement("17"),
        "{told}"
    );
    page.sees("link", &format!("What can be done with {day} 10:00"))
        .await;
    page.sees("link", &format!("Compact {day} 17:00")).await;

    // What is exported is what is selected, or all of it.
    let keep = "const own = URL.createObjectURL.bind(URL); \
                URL.createObjectURL = blob => { blob.text().then(t => { window.kept = t; }); return own(blob); }";
    page.web().run(keep, &[]).await;
    page.press("button", "CSV of these").await;
    let kept = kept(page).await;
    assert_eq!(kept.lines().count(), 10, "{kept}");
    assert!(kept.contains(&format!("{day},10,mutated,4,")), "{kept}");

    page.press("button", "List again now").await;
    page.reads("Listed again").await;
    page.press("button", "Clear selection").await;
    page.arrives("/d/learning.progress").await;

    // On paper there is no button and no path to anywhere, every hour, and when it was printed.
    let print = json!({ "media": "print" });
    page.web().cdp("Emulation.setEmulatedMedia", print).await;
    let paper = page.text().await;
    assert!(
        paper.contains("Closed up to") && paper.contains("mutated"),
        "{paper}"
    );
    for gone in ["Copy link", "tidemark hours", "Closed hours"] {
        assert!(!paper.contains(gone), "{gone} in {paper}");
    }
    let printed = "const clock = getComputedStyle(document.querySelector('.clock')); \
                   return clock.display != 'none'";
    assert_eq!(page.web().run(printed, &[]).await, json!(true));
    explorer.close().await;
}

async fn kept(page: &Chromium) -> String {
    for _ in 0..100 {
        if let Value::String(text) = page.web().run("return window.kept", &[]).await {
            return text;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("nothing was exported");
}

#[tokio::test]
async fn the_manager_sees_how_far_each_dataset_is_and_the_lake_calls_the_worst_out() {
    let explorer = Explorer::open(Look::WIDE, "/hours").await;
    let page = &explorer.chromium;
    for dataset in [
        "learning.progress",
        "commerce.purchase_line",
        "learning.progress_event",
        "learning.progress_daily",
        "partner.enrollment",
    ] {
        let from = explorer.day(3).await;
        let path = format!("/api/datasets/{dataset}/hours?from={from}");
        let report = explorer.asks(&path).await;
        let up_to = report["closed_up_to"].as_str().unwrap();
        let blocked = &report["blocked_by"];
        page.sees("link", dataset).await;
        // `28 Nov 06:00 UTC`
        let clock = &up_to[11..16];
        let day: u32 = up_to[8..10].parse().unwrap();
        page.reads(&format!("{clock} UTC")).await;
        let place = format!("section a[href='/d/{dataset}']");
        let script = format!(
            "return document.querySelector(\"{place}\").closest('section').querySelector('.closed-up-to').innerText"
        );
        let said = page.web().run(&script, &[]).await;
        let said = said.as_str().unwrap();
        assert!(
            said.contains(&format!("{day} ")) && said.contains(clock),
            "{dataset}: {said}"
        );
        let state = blocked["state"].as_str().unwrap_or("closed");
        assert!(
            said.contains(&format!("is {state}")),
            "{dataset}: {said} {blocked}"
        );
    }
    let buttons = "return [...document.querySelectorAll('main section button, main .head button')].map(b => b.innerText)";
    let buttons = page.web().run(buttons, &[]).await;
    assert_eq!(buttons, json!(["Copy link", "Print", "CSV"]));

    explorer.go("/").await;
    let before = explorer.day(2).await;
    page.reads(&format!("learning.progress: {before} 06:00 is lost"))
        .await;
    page.reads("learning.progress_event waits for").await;
    page.press("link", "Look closer").await;
    page.settles().await;
    explorer.close().await;
}

#[tokio::test]
async fn the_evidence_of_an_hour_is_on_its_page() {
    let explorer = Explorer::open(Look::WIDE, "/zones").await;
    let page = &explorer.chromium;
    page.reads("expires a run after 30d, which a current marker may still name")
        .await;
    let (day, before, third) = (
        explorer.day(1).await,
        explorer.day(2).await,
        explorer.day(3).await,
    );
    let progress = "learning.progress";
    let pages: [(&str, Day, &str, &[&str]); 9] = [
        (
            progress,
            day,
            "10",
            &[
                "Mutated.",
                "This key was put 14 min 2 s after the marker",
                "after the marker",
                "exits with 1: it is mutated",
                "No statement: the hour is mutated",
                "Who waits for it",
                "The topic can be replayed until",
                "4 of 3",
            ],
        ),
        (
            progress,
            day,
            "13",
            &[
                "Racing.",
                "neither supersedes the other",
                "Keep ",
                "Choose ",
            ],
        ),
        (
            progress,
            day,
            "17",
            &["Late.", "4 objects without a marker", "Compact…"],
        ),
        (
            progress,
            before,
            "6",
            &["Lost.", "Nothing is left below", "current, gone"],
        ),
        (
            progress,
            before,
            "11",
            &["Invalid.", "The marker cannot be read"],
        ),
        (
            progress,
            before,
            "2",
            &["Empty.", "planned maintenance of the event broker"],
        ),
        (
            progress,
            third,
            "14",
            &[
                "Closed.",
                "Late data: this key was put 3 h 12 min after the marker",
                "progress+1+0009120044.snappy.parquet",
                "exits with 0",
            ],
        ),
        (
            progress,
            third,
            "8",
            &["Closed.", "superseded, whole", "ALTER TABLE"],
        ),
        (
            "commerce.purchase_line",
            before,
            "15",
            &[
                "Incomplete.",
                "1 line only among the dead letters",
                "60 orders checked",
            ],
        ),
    ];
    for (dataset, day, hour, texts) in pages {
        explorer.go(&format!("/d/{dataset}/{day}/{hour}")).await;
        for text in texts {
            page.reads(text).await;
        }
    }
    // What may not be done is said before it is tried, and refused where it is tried all the same.
    explorer
        .go(&format!("/d/{progress}/{day}/10?act=compact"))
        .await;
    page.reads("tidemark publish learning.progress").await;
    assert!(!page.has("button", "Compact…").await);
    page.reads("The hour is mutated: 1 object more than the marker says")
        .await;
    assert!(!page.has("textbox", "Why? It may stay empty").await);
    explorer.go("/d/learning.progress/layout").await;
    page.reads("LISTs over the runs alone").await;
    explorer.close().await;
}

#[tokio::test]
async fn what_an_address_names_wrongly_is_said() {
    let explorer = Explorer::open(Look::WIDE, "/d/nothing").await;
    let page = &explorer.chromium;
    let day = explorer.day(1).await;
    for path in [
        "/d/nothing",
        "/d/nothing/layout",
        &format!("/d/nothing/{day}/3"),
    ] {
        explorer.go(path).await;
        page.reads("No such dataset").await;
        page.reads("The lake's page lists the datasets that there are")
            .await;
    }
    let hour = format!("/d/learning.progress/{day}/24");
    for path in [
        hour.as_str(),
        "/d/learning.progress/2026-02-30/1",
        "/d/learning.progress/x",
    ] {
        explorer.go(path).await;
        page.sees("heading", "No such page").await;
        page.reads("hours at").await;
    }
    // A day of a dataset by hours, an hour of a dataset by days.
    explorer.go(&format!("/d/learning.progress/{day}")).await;
    page.reads("Not understood").await;
    explorer
        .go(&format!("/d/learning.progress_daily/{day}/3"))
        .await;
    page.reads("Not understood").await;
    // What a parameter garbles is as if it were not there.
    explorer.go("/d/learning.progress?at=2026-13&sel=..").await;
    page.reads("Closed up to").await;
    explorer.go("/d/learning.progress?at=1971").await;
    page.reads("nothing was expected before").await;
    // The browser itself remarks on the answers of 404.
    let said = page.complaints().await;
    assert!(said.iter().all(|line| line.contains("404")), "{said:?}");
    explorer.close().await;
}

/// The month until now: a whole one, but for the first days of one.
#[tokio::test]
async fn a_month_is_forty_requests_and_a_refresh_is_four() {
    let folder = TempDir::new().unwrap();
    let now = Time(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64);
    let (year, month, _) = Day::of(now).date();
    let first = Day::from_date(year, month, 1).unwrap();
    let (config, hours) = closed_hours::write(folder.path(), first, now, 12);
    let served = Arc::new(Served::config(&config, []));
    let explorer = Explorer::over(Arc::clone(&served), Look::WIDE, "/audit").await;
    let page = &explorer.chromium;
    let mut meter = Meter::start(&served).await;
    // The page looks again when this says so, not a minute later.
    let hold = "const own = window.setInterval.bind(window); \
                window.setInterval = (run, after) => after < 60000 ? own(run, after) : (window.again = run, 0)";
    page.web().run(hold, &[]).await;
    let open = format!(
        "document.querySelector('a[href=\"/d/{}\"]').click()",
        closed_hours::NAME
    );
    page.web().run(&open, &[]).await;
    page.reads(&format!("{hours} closed")).await;
    page.reads("Closed up to").await;
    let cold = meter.more().await;
    page.web().run("window.again()", &[]).await;
    let refresh = meter.more().await;
    println!("hours: {hours} of them, cold {cold} requests of the browser, a refresh {refresh}");
    assert!(cold <= 40, "{cold}");
    // The markers, the open day, and the one listed in turn.
    assert!((1..=5).contains(&refresh), "{refresh}");
    explorer.close().await;
}
