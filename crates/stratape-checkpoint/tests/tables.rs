//! Known optimal figures, row by row.

#![allow(clippy::unwrap_used, clippy::panic)]

use stratape_checkpoint::schedule::{
    HRevolve, Level, LevelCosts, Mixed, Multistage, Online, Periodic, Revolve, RunAhead, Schedule,
    check, count, extra_steps, repetitions, steps_without_waiting,
};

/// The rows of a table, each a closure from a column's name to its number; `None` where the cell is empty.
fn rows(text: &str) -> Vec<impl Fn(&str) -> Option<f64>> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut rows = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), names.len());
        let names = names.clone();
        rows.push(move |name: &str| {
            let at = names.iter().position(|known| *known == name).unwrap();
            (!cells[at].is_empty()).then(|| cells[at].parse().unwrap())
        });
    }
    assert!(!rows.is_empty());
    rows
}

fn whole(cell: Option<f64>) -> usize {
    cell.unwrap() as usize
}

#[test]
fn revolve() {
    for row in rows(include_str!("tables/revolve_min_steps.csv")) {
        let (n, s) = (whole(row("n_steps")), whole(row("s_snapshots")));
        assert_eq!(repetitions(n, s), whole(row("repetition_r")), "{n} {s}");
        assert_eq!(extra_steps(n, s), whole(row("extra_forward_steps")) as u128, "{n} {s}");
        let counts = check(Revolve::new(n, s).unwrap(), n).unwrap();
        assert_eq!(counts.forward(), whole(row("total_forward_steps")) as u64, "{n} {s}");
        if let Some(most) = row("snapshots_written_max_rule") {
            assert!(counts.writes[0] <= most as u64, "{n} {s}: {} writes", counts.writes[0]);
        }
    }
}

#[test]
fn multistage() {
    for row in rows(
        &include_str!("tables/multistage_counts.csv")
            .replace("revolve", "0")
            .replace("maximum", "1"),
    ) {
        let (n, m, d) =
            (whole(row("n_steps")), whole(row("m_ram_slots")), whole(row("d_disk_slots")));
        let counts = check(Multistage::new(n, m, d).unwrap(), n).unwrap();
        assert_eq!(counts.forward(), whole(row("forward_steps")) as u64, "{n} {m} {d}");
        let disk = counts.writes[1] + counts.reads[1];
        let known = whole(row("disk_writes")) + whole(row("disk_reads"));
        assert!(disk <= known as u64, "{n} {m} {d}: {counts:?}, known {known}");
    }
}

#[test]
fn online() {
    for row in rows(include_str!("tables/online_steps.csv")) {
        let (n, s) = (whole(row("n_steps")), whole(row("s_snapshots")));
        let total = check(Online::new(s).unwrap(), n).unwrap().forward();
        if let Some(best) = row("sw1_total") {
            assert_eq!(total, best as u64, "{n} {s}");
        }
        assert!(total <= whole(row("wmi_total")) as u64, "{n} {s}: {total}");
    }
}

#[test]
fn two_level_periodic() {
    for row in rows(include_str!("tables/two_level_periodic_counts.csv")) {
        let (n, period, s) = (whole(row("n_steps")), whole(row("period")), whole(row("s_ram")));
        for steps in [Some(n), None] {
            let schedule = Periodic::new(steps, period, Level::DISK, s).unwrap();
            let counts = check(schedule, n).unwrap();
            assert_eq!(counts.forward(), whole(row("formula")) as u64, "{n} {period} {s}");
            assert_eq!(counts.writes[1], whole(row("disk_writes")) as u64);
            assert!(counts.reads[1] <= whole(row("disk_reads")) as u64, "{counts:?}");
            assert!(counts.writes[0] <= whole(row("ram_writes")) as u64, "{counts:?}");
        }
    }
}

#[test]
fn mixed() {
    for row in rows(include_str!("tables/mixed_min_steps.csv")) {
        let (n, s) = (whole(row("n_steps")), whole(row("s_units")));
        let counts = check(Mixed::new(n, s).unwrap(), n).unwrap();
        assert_eq!(counts.forward(), whole(row("mixed_total")) as u64, "{n} {s}");
        let revolve = count(Revolve::new(n, s).unwrap(), n).forward();
        assert_eq!(revolve, whole(row("revolve_total")) as u64, "{n} {s}");
    }
}

fn costs_of(
    counts: &stratape_checkpoint::schedule::Counts,
    levels: &[LevelCosts],
    uf: f64,
    ub: f64,
) -> f64 {
    let mut time = counts.forward() as f64 * uf + counts.reversed as f64 * ub;
    for (level, costs) in levels.iter().enumerate() {
        time += counts.writes[level] as f64 * costs.write + counts.reads[level] as f64 * costs.read;
    }
    time
}

fn h_revolve(n: usize, levels: &[LevelCosts], uf: f64, ub: f64, optimum: f64) {
    let schedule = HRevolve::new(n, levels, uf, ub).unwrap();
    let what = format!("{n} {levels:?}");
    assert!(
        (schedule.makespan() - optimum).abs() < 1e-9 * optimum,
        "{what}: {}",
        schedule.makespan()
    );
    let counts = check(schedule, n).unwrap();
    let time = costs_of(&counts, levels, uf, ub);
    assert!((time - optimum).abs() < 1e-9 * optimum, "{what}: {time}, and {optimum} is possible");
}

#[test]
fn h_revolve_on_two_levels() {
    for row in rows(include_str!("tables/hrevolve_two_level_makespan.csv")) {
        let level = |slots: &str, write, read| LevelCosts { slots: whole(row(slots)), write, read };
        let levels = [
            level("m_ram_slots", 0.0, 0.0),
            level("d_disk_slots", row("wd").unwrap(), row("rd").unwrap()),
        ];
        let (uf, ub) = (row("uf").unwrap(), row("ub").unwrap());
        h_revolve(whole(row("n_steps")), &levels, uf, ub, row("optimal_makespan").unwrap());
        if let Some(exact) = row("exact_search") {
            assert_eq!(exact, row("optimal_makespan").unwrap());
        }
    }
}

#[test]
fn h_revolve_on_three_levels() {
    for row in rows(include_str!("tables/hrevolve_three_level_makespan.csv")) {
        let level = |k: usize| LevelCosts {
            slots: whole(row(&format!("c{k}"))),
            write: row(&format!("w{k}")).unwrap(),
            read: row(&format!("r{k}")).unwrap(),
        };
        let (uf, ub) = (row("uf").unwrap(), row("ub").unwrap());
        let levels = [level(0), level(1), level(2)];
        h_revolve(whole(row("n_steps")), &levels, uf, ub, row("optimal_makespan").unwrap());
    }
}

#[test]
fn disk_revolve() {
    for row in rows(include_str!("tables/disk_revolve_makespan.csv")) {
        let memory = LevelCosts { slots: whole(row("m_ram_slots")), write: 0.0, read: 0.0 };
        let (write, read) = (row("wd").unwrap(), row("rd").unwrap());
        let disk = LevelCosts { slots: usize::MAX, write, read };
        let (uf, ub) = (row("uf").unwrap(), row("ub").unwrap());
        h_revolve(whole(row("n_steps")), &[memory, disk], uf, ub, row("opt_any_reads").unwrap());
    }
}

#[test]
fn a_schedule_describes_itself_and_knows_its_limits() {
    let schedule = Revolve::new(10, 3).unwrap();
    assert_eq!(schedule.slots(Level::MEMORY), 3);
    assert_eq!(schedule.slots(Level::DISK), 0);
    assert_eq!(schedule.describe(), "Revolve, 3 slots in memory");
    assert!(
        HRevolve::new(1_000_000, &[LevelCosts { slots: 100, write: 0.0, read: 0.0 }], 1.0, 1.0)
            .is_err()
    );
    assert!(Mixed::new(1_000_000, 100).is_err());
    assert!(Revolve::new(2, 0).is_err());
    assert!(Revolve::new(1, 0).is_ok());
}

#[test]
fn parallel_reversal() {
    let text = include_str!("tables/parallel_reversal_max_steps.csv");
    for row in rows(&text.replace("exhaustive", "0").replace("recurrence", "1")) {
        let most = steps_without_waiting(whole(row("resources_rho")) as u32);
        assert_eq!(most, whole(row("max_steps")) as u64);
    }
}

#[test]
fn run_ahead() {
    for row in rows(include_str!("tables/parallel_runahead_model.csv")) {
        let number = |name: &str| row(name).unwrap();
        let run = RunAhead {
            forward: number("uf"),
            record: number("ut"),
            reverse: number("ub"),
            steps: whole(row("n_steps")),
            segments: whole(row("K_segments")),
            workers: whole(row("cores_P")) - 1,
            lanes: whole(row("M_tapes")),
        };
        assert_eq!(run.serial(), number("serial"));
        assert_eq!(run.parallel(), number("parallel"), "{run:?}");
        assert!((run.serial() / run.parallel() - number("speedup")).abs() < 1e-3);
        assert!((run.limit() - number("limit")).abs() < 1e-3);
        let tight = extra_steps(run.steps, 8) as f64 * run.forward
            + run.steps as f64 * (run.record + run.reverse);
        assert_eq!(tight, number("tight_serial"));
    }
}
