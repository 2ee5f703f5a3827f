//! Timing two or more things in turn.

use std::thread;
use std::time::{Duration, Instant};

/// The least time a single measurement should take, so that the clock does not show.
const LEAST: Duration = Duration::from_millis(2);

/// Seconds a call, the best of several rounds; the candidates take turns within each round.
///
/// The best round is the one least disturbed by neighbours on a shared machine. Each candidate is
/// repeated within a round until it takes long enough to be timed.
pub(crate) fn best_of<const N: usize>(
    rounds: usize,
    mut candidates: [&mut dyn FnMut(); N],
) -> [f64; N] {
    let repeats: Vec<u32> =
        candidates.iter_mut().map(|candidate| repeats_for(&mut **candidate)).collect();
    let mut best = [f64::INFINITY; N];
    for _ in 0..rounds {
        for (index, candidate) in candidates.iter_mut().enumerate() {
            let start = Instant::now();
            for _ in 0..repeats[index] {
                candidate();
            }
            let seconds = start.elapsed().as_secs_f64() / f64::from(repeats[index]);
            best[index] = best[index].min(seconds);
        }
    }
    best
}

/// How often to call within one measurement. Also warms the candidate up.
fn repeats_for(candidate: &mut dyn FnMut()) -> u32 {
    candidate();
    let start = Instant::now();
    candidate();
    let once = start.elapsed().max(Duration::from_nanos(20));
    (LEAST.as_nanos() / once.as_nanos()).clamp(1, 1_000_000) as u32
}

/// Uses a result, so that the work behind it is not optimised away.
pub(crate) fn sink<T>(result: T) {
    std::hint::black_box(result);
}

/// Seconds that `work` takes, once.
pub(crate) fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Seconds that work takes that can fail, once.
pub(crate) fn try_time<E>(work: impl FnOnce() -> Result<(), E>) -> Result<f64, E> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

/// The least of the figures.
pub(crate) fn least(figures: Vec<f64>) -> f64 {
    figures.into_iter().fold(f64::INFINITY, f64::min)
}

/// Peak resident memory of this process since the last [`reset_peak_memory`], where Linux tells.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

/// CPU time of this process, all threads together, where Linux tells.
pub(crate) fn cpu_time() -> Option<Duration> {
    let all = std::fs::read_dir("/proc/self/task").ok()?;
    // Nanoseconds on a core, the first number: of all threads that still run.
    let of_thread = |entry: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(entry.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    all.map(of_thread).sum::<Option<u64>>().map(Duration::from_nanos)
}

pub(crate) fn reset_peak_memory() {
    // Refused in some containers; the peak then covers the whole run, which errs on the safe side.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Waits until the spill files of tapes that are gone are closed and their space is free again, so
/// that one measurement does not pay for the cleaning up of another.
///
/// The file system goes on freeing blocks for a while after the file is closed; `bytes` is what the
/// files held.
pub(crate) fn settle(open_files: usize, bytes: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while count_open_files() > open_files && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(Duration::from_millis(300 + (bytes >> 22) as u64));
}

pub(crate) fn count_open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}
