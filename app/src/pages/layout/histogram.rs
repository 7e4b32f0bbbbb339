//! Files by size, as bars.

use std::sync::Arc;

use lake::wire::{LayoutReport, SizeBucket};
use leptos::prelude::*;

use crate::format::{self, decimal};
use crate::geometry::bars;
use crate::markup::{Markup, view};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 112.0;

/// The bars; the figures stand in a table for those who cannot see them.
#[component]
pub fn Histogram(report: Arc<LayoutReport>) -> Markup {
    let buckets = report.histogram.clone();
    if buckets.is_empty() {
        return Markup::Nothing;
    }
    let counts: Vec<u64> = buckets.iter().map(|b| b.files).collect();
    let step = WIDTH / buckets.len() as f64;
    // Labels of many buckets would run into each other.
    let every = buckets.len().div_ceil(9);
    let threshold = report.small_bytes_threshold;
    let drawn = bars(&counts, WIDTH, HEIGHT, 4.0).into_iter().enumerate();
    let drawn = drawn.map(|(i, bar)| {
        let bucket = buckets.get(i);
        let small = bucket.is_some_and(|b| b.under_bytes.is_some_and(|under| under <= threshold));
        let title = bucket.map(|b| format!(
            "{}: {}, {}",
            name(b, i, &buckets),
            format::counted(b.files, "file"),
            format::bytes(b.bytes)
        ));
        let label = (i % every == 0).then(|| short(bucket, i, &buckets));
        view! {
            <g>
                <title>{title}</title>
                <rect x=decimal(i as f64 * step, 2) y="0" width=decimal(step, 2) height=decimal(HEIGHT + 24.0, 2) class="hover" />
                <rect x=decimal(bar.x, 2) y=decimal(bar.y + 10.0, 2) width=decimal(bar.w, 2)
                    height=decimal(bar.h, 2) rx="2" class=if small { "small" } else { "" } />
                <text x=decimal(i as f64 * step + step / 2.0, 2) y=decimal(HEIGHT + 28.0, 2)>{label}</text>
            </g>
        }
    });
    let rows = buckets.iter().enumerate().map(|(i, bucket)| {
        view! {
            <tr>
                <th scope="row">{name(bucket, i, &buckets)}</th>
                <td>{format::count(bucket.files)}</td>
                <td>{format::bytes(bucket.bytes)}</td>
            </tr>
        }
    });
    let line = decimal(HEIGHT + 10.5, 2);
    view! {
        <h2>"File sizes" <small>"files in each size"</small></h2>
        <svg class="histogram" viewBox="0 0 320 144" aria-hidden="true">
            {drawn.collect::<Markup>()}
            <line x1="0" x2="320" y1=line.clone() y2=line />
        </svg>
        <p class="soft s legend">
            <i class="heat-4"></i> {format!("under {}, small", format::bytes(threshold))}
        </p>
        <table class="unseen">
            <caption>"Files by size"</caption>
            <thead><tr><th scope="col">"Size"</th><th scope="col">"Files"</th><th scope="col">"Bytes"</th></tr></thead>
            <tbody>{rows.collect::<Markup>()}</tbody>
        </table>
    }
}

fn lower(i: usize, buckets: &[SizeBucket]) -> Option<u64> {
    buckets.get(i.checked_sub(1)?)?.under_bytes
}

/// `under 128 KiB`, `1 MiB to 2 MiB`, `from 1 GiB`.
fn name(bucket: &SizeBucket, i: usize, buckets: &[SizeBucket]) -> String {
    match (lower(i, buckets), bucket.under_bytes) {
        (None, Some(under)) => format!("under {}", round(under)),
        (Some(from), Some(under)) => format!("{} to {}", round(from), round(under)),
        (Some(from), None) => format!("from {}", round(from)),
        (None, None) => "all".to_owned(),
    }
}

/// The same under a bar: its lower bound, `<128K` for the first.
fn short(bucket: Option<&SizeBucket>, i: usize, buckets: &[SizeBucket]) -> String {
    let letter = |n: u64| {
        round(n)
            .replace(" B", "B")
            .replace(" ", "")
            .replace("iB", "")
    };
    match (lower(i, buckets), bucket.and_then(|b| b.under_bytes)) {
        (Some(from), _) => letter(from),
        (None, Some(under)) => format!("<{}", letter(under)),
        (None, None) => String::new(),
    }
}

/// Bounds are powers of two: no decimal says more.
fn round(n: u64) -> String {
    format::bytes(n).replace(".0 ", " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_named_by_their_bounds() {
        let bucket = |under| SizeBucket {
            under_bytes: under,
            files: 1,
            bytes: 1,
        };
        let buckets = [bucket(Some(128 << 10)), bucket(Some(1 << 20)), bucket(None)];
        let names: Vec<_> = (0..3).map(|i| name(&buckets[i], i, &buckets)).collect();
        assert_eq!(names, ["under 128 KiB", "128 KiB to 1 MiB", "from 1 MiB"]);
        let short: Vec<_> = (0..3).map(|i| short(buckets.get(i), i, &buckets)).collect();
        assert_eq!(short, ["<128K", "128K", "1M"]);
    }
}
