//! The suite at a size that takes no time: every case runs, and every line is one that tools can read.

use super::*;
use crate::{Measurement, Settings};

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

fn figures(only: Option<&str>) -> Result<Vec<Measurement>, BenchError> {
    let settings = Settings {
        quick: true,
        only: only.map(ToOwned::to_owned),
        spill_to: std::env::temp_dir(),
        ..Settings::default()
    };
    let mut figures = Vec::new();
    run_at(&mut Runner::new(&settings, &mut figures), TINY)?;
    Ok(figures)
}

#[test]
fn every_case_gives_a_line_that_parses() -> Result<(), Box<dyn std::error::Error>> {
    let figures = figures(None)?;
    assert_eq!(figures.len(), 14);
    for figure in &figures {
        assert_eq!(figure.bench, "checkpoint");
        assert_eq!(Measurement::read(&figure.line())?, std::slice::from_ref(figure));
        assert_eq!(figure.goal().is_some(), figure.aim.is_some());
    }
    Ok(())
}

#[test]
fn cases_can_be_chosen_and_counted() -> Result<(), BenchError> {
    let figures = figures(Some("schedule_Revolve"))?;
    assert_eq!(figures.len(), 1);
    assert!(figures[0].ours > 0.0);
    let settings = Settings::default();
    assert_eq!(crate::count(crate::Suite::Checkpoint, &settings), 7);
    Ok(())
}
