//! The suite at a size that takes no time: every case runs, and every line is one that tools can read.

use super::*;

const TINY: Scale = Scale {
    side: 12,
    steps: 60,
    slots: 4,
    disk_slots: 6,
    rounds: 1,
    small_side: 8,
    small_steps: 50,
    small_slots: 6,
    actions: 10_000,
};

fn figures(only: Option<&str>) -> Vec<Figure> {
    let settings = Settings {
        quick: true,
        full: false,
        only: only.map(ToOwned::to_owned),
        spill_to: std::env::temp_dir(),
    };
    let mut figures = Vec::new();
    run_at(&settings, TINY, &mut |figure| figures.push(figure));
    figures
}

#[test]
fn every_case_gives_a_line_that_parses() {
    let figures = figures(None);
    assert_eq!(figures.len(), 14);
    for figure in &figures {
        let text = figure.line().json().to_string();
        let line: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(line["bench"], "checkpoint");
        for key in ["case", "ref", "unit"] {
            assert!(line[key].is_string(), "{key} in {text}");
        }
        for key in ["ours", "ref_value", "ratio"] {
            assert!(line[key].is_number(), "{key} in {text}");
        }
    }
}

#[test]
fn cases_can_be_chosen() {
    let figures = figures(Some("schedule_Revolve"));
    assert_eq!(figures.len(), 1);
    assert!(figures[0].ours > 0.0);
}
