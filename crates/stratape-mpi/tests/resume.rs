//! A rank dies at any moment, the job with it; the next job comes to the same bits.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The example beside this test.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join("examples/durable")
}

fn job(ranks: usize, directory: Option<&Path>, settings: &[(&str, String)]) -> Output {
    let mut command = Command::new("mpirun");
    command.arg("-n").arg(ranks.to_string()).arg(program());
    command.args(directory);
    command.env_remove("DIE_AT").env_remove("STEPS");
    for (name, value) in settings {
        command.env(name, value);
    }
    command.output().unwrap()
}

/// What the ranks print, in order.
fn results(output: &Output) -> Vec<String> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn any_rank_at_any_moment() {
    let root = std::env::temp_dir().join(format!("stratape-mpi-resume-{}", std::process::id()));
    for (ranks, steps) in [(1, Some(130)), (3, Some(130)), (4, None)] {
        let steps: Vec<(&str, String)> =
            steps.iter().map(|n: &usize| ("STEPS", n.to_string())).collect();
        let whole = results(&job(ranks, None, &steps));
        assert_eq!(whole.len(), ranks);
        let directory = root.join(ranks.to_string());
        assert_eq!(results(&job(ranks, Some(&directory), &steps)), whole);
        assert!(!directory.exists(), "a complete run leaves nothing");
        let mut died = 0;
        for (at, rank) in
            [(1, 0), (26, 1), (77, 0), (131, 2), (160, 1), (222, 0), (301, 2), (420, 1)]
        {
            let mut settings = steps.clone();
            settings.push(("DIE_AT", at.to_string()));
            settings.push(("DIE_RANK", (rank % ranks).to_string()));
            let output = job(ranks, Some(&directory), &settings);
            if output.status.success() {
                assert_eq!(results(&output), whole);
            } else {
                died += 1;
            }
        }
        assert!(died >= 4, "only {died} jobs died");
        let last = job(ranks, Some(&directory), &steps);
        assert_eq!(results(&last), whole);
        assert!(!directory.exists());
    }
    let _ = std::fs::remove_dir_all(root);
}

#[test]
fn a_file_that_is_lost_or_damaged_costs_steps_and_no_bits() {
    let root = std::env::temp_dir().join(format!("stratape-mpi-lost-{}", std::process::id()));
    let steps = [("STEPS", "130".to_owned())];
    let whole = results(&job(2, None, &steps));
    for name in ["state-0", "state-2", "end", "adjoint-4"] {
        for damage in [false, true] {
            let _ = std::fs::remove_dir_all(&root);
            let mut settings = steps.to_vec();
            settings.push(("DIE_AT", "230".to_owned()));
            assert!(!job(2, Some(&root), &settings).status.success());
            let file = root.join("rank-1-of-2").join(name);
            if damage && file.exists() {
                let mut bytes = std::fs::read(&file).unwrap();
                let last = bytes.len() - 1;
                bytes[last] ^= 1;
                std::fs::write(&file, bytes).unwrap();
            } else {
                let _ = std::fs::remove_file(&file);
            }
            assert_eq!(results(&job(2, Some(&root), &steps)), whole, "{name}, damaged: {damage}");
        }
    }
    let _ = std::fs::remove_dir_all(root);
}

#[test]
fn the_directory_of_another_run_is_an_error_on_all_ranks() {
    let root = std::env::temp_dir().join(format!("stratape-mpi-other-{}", std::process::id()));
    let dying = [("STEPS", "130".to_owned()), ("DIE_AT", "60".to_owned())];
    assert!(!job(2, Some(&root), &dying).status.success());
    let output = job(2, Some(&root), &[("STEPS", "131".to_owned())]);
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("another run"), "{text}");
    let _ = std::fs::remove_dir_all(root);
}
