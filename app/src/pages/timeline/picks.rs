//! Versions taken for a diff.

use lake::table::Version;

use crate::order::sorted;

use super::Timeline;

/// Reads `47,48`: at most two versions, older first.
pub(super) fn read(text: Option<&str>) -> Vec<u64> {
    let versions = text.unwrap_or_default().split(',');
    let versions = versions.filter_map(|v| v.parse::<Version>().ok());
    let mut picks = sorted(versions.map(|v| v.0).take(2).collect(), u64::cmp);
    picks.dedup();
    picks
}

impl Timeline {
    /// Takes a version as one end of a diff, or lets it go. A third one replaces the older.
    pub(super) fn toggle_pick(self, version: u64) {
        let mut picks = self.picks.get_untracked();
        match picks.iter().position(|p| *p == version) {
            Some(i) => drop(picks.remove(i)),
            None => {
                if picks.len() == 2 {
                    picks.remove(0);
                }
                picks.push(version);
            }
        }
        self.set_picks(picks);
    }

    /// Takes both ends.
    pub(super) fn pick_range(self, a: u64, b: u64) {
        self.set_picks(vec![a, b]);
    }

    fn set_picks(self, picks: Vec<u64>) {
        let picks = sorted(picks, u64::cmp);
        let text = picks.iter().map(u64::to_string).collect::<Vec<_>>();
        let text = (!text.is_empty()).then(|| text.join(","));
        self.session.nav.set("pick", text);
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn picks_are_two_versions_in_order() {
        assert_eq!(read(Some("48,47")), [47, 48]);
        assert_eq!(read(Some("48,48,1")), [48]);
        assert_eq!(read(Some("x,,-1,7")), [7]);
        assert!(read(None).is_empty());
    }
}
