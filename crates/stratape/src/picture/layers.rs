//! What the layers of a tape held over time, one on the other.

use stratape_tape::Sample;

use super::plot::{Axis, Mark, Plot, unit_of_time};

/// The key, in the order from the bottom to the top of the picture. The guide uses the same words.
const KEY: [(&str, &str, Mark); 6] = [
    ("in memory only", "only", Mark::Area),
    ("in memory and on disk", "both", Mark::Area),
    ("on the way", "moving", Mark::Area),
    ("on disk only", "disk", Mark::Area),
    ("memory budget", "budget", Mark::Line),
    ("waiting", "waiting", Mark::Area),
];

/// Bytes up to and including each of the four layers.
fn heights(sample: &Sample) -> [u64; 4] {
    let only = sample.unsaved;
    let both = only + sample.saved;
    let moving = both + sample.writing + sample.reading;
    [only, both, moving, moving + sample.below]
}

fn total(sample: &Sample) -> u64 {
    heights(sample)[3]
}

/// The samples of several tapes as those of one: at each moment, the latest of all.
pub(super) fn merged(tapes: &[&[Sample]]) -> Vec<Sample> {
    if let [one] = tapes {
        return one.to_vec();
    }
    let mut all: Vec<(usize, Sample)> = Vec::new();
    for (tape, samples) in tapes.iter().enumerate() {
        all.extend(samples.iter().map(|sample| (tape, *sample)));
    }
    all.sort_by_key(|(_, sample)| sample.at);
    let mut latest = vec![Sample::default(); tapes.len()];
    let sums = all.into_iter().map(|(tape, sample)| {
        latest[tape] = sample;
        let mut sum = Sample { at: sample.at, ..Sample::default() };
        for one in &latest {
            sum.unsaved += one.unsaved;
            sum.saved += one.saved;
            sum.writing += one.writing;
            sum.reading += one.reading;
            sum.below += one.below;
            sum.waited += one.waited;
        }
        sum
    });
    sums.collect()
}

/// When the backward pass began: where the tape was longest, if it was filled once and emptied once.
fn turn(samples: &[Sample]) -> Option<usize> {
    let longest = samples.iter().map(total).max()?;
    let at = samples.iter().rposition(|sample| total(sample) == longest)?;
    let (up, down) = samples.split_at(at);
    let against = |samples: &[Sample], wrong: fn(u64, u64) -> u64| {
        samples.windows(2).map(|pair| wrong(total(&pair[0]), total(&pair[1]))).sum::<u64>()
    };
    let back_and_forth = against(up, u64::saturating_sub)
        + against(down, |before, after| after.saturating_sub(before));
    (back_and_forth <= longest / 10 && at > 0 && at + 1 < samples.len()).then_some(at)
}

pub(super) fn draw(samples: &[Sample], budget: u64, title: &str, size: (u32, u32)) -> String {
    let start = samples.first().map_or(0.0, |sample| sample.at.as_secs_f64());
    let end = samples.last().map_or(1.0, |sample| sample.at.as_secs_f64() - start).max(1e-9);
    let longest = samples.iter().map(total).max().unwrap_or(0);
    // A budget far above the tape would leave nothing to see of it.
    let shown = budget <= 3 * longest;
    let most = if shown { longest.max(budget) } else { longest }.max(1);
    let (unit, bytes) = match most {
        most if most < 4 << 20 => ("KiB", 1024.0),
        most if most < 4 << 30 => ("MiB", f64::from(1 << 20)),
        _ => ("GiB", f64::from(1 << 30)),
    };
    let (second, seconds) = unit_of_time(end);
    let (key, words) = if shown {
        (&KEY[..], String::new())
    } else {
        (&KEY[..4], ", far from reached".to_owned())
    };
    let mut plot = Plot::new(title, size, key);
    let x = Axis::of_numbers(format!("time, {second}"), end * seconds, plot.across);
    let y = Axis::of_numbers(format!("held, {unit}"), 1.04 * most as f64 / bytes, plot.up());
    plot.axes(&x, &y);
    let time = |sample: &Sample| (sample.at.as_secs_f64() - start) * seconds;
    let turn = turn(samples);
    let shown_samples = thinned(samples, turn, |sample| plot.at(time(sample), 0.0).0);
    // From the highest layer to the lowest, each down to the axis: what is not covered is the layer's own.
    for (layer, (_, class, _)) in KEY[..4].iter().enumerate().rev() {
        let top = shown_samples
            .iter()
            .map(|sample| plot.at(time(sample), heights(sample)[layer] as f64 / bytes));
        let ends = [plot.at(end * seconds, 0.0), plot.at(0.0, 0.0)];
        let outline: Vec<(f64, f64)> = top.chain(ends).collect();
        plot.svg.path(class, outline);
    }
    for pair in samples.windows(2).filter(|pair| pair[1].waited > pair[0].waited) {
        let until = time(&pair[1]);
        let took = (pair[1].waited - pair[0].waited).as_secs_f64() * seconds;
        plot.band("waiting", (until - took).max(0.0), until);
    }
    if shown {
        let up = budget as f64 / bytes;
        let line = [plot.at(0.0, up), plot.at(end * seconds, up)];
        plot.svg.lines("budget", &[line]);
    }
    if let Some(turn) = turn {
        plot.turn(time(&samples[turn]));
    }
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let waited = match samples {
        [first, .., last] => (last.waited - first.waited).as_secs_f64(),
        _ => 0.0,
    };
    let description = format!(
        "A stack of layers over {end:.3} s. At most {:.1} MiB were held, in whole slabs; the memory budget is {:.1} MiB{words}. Waited {waited:.3} s.",
        mib(longest),
        mib(budget),
    );
    plot.finish(&description)
}

/// One sample for each pixel across, the longest tape and the ends among them.
fn thinned(
    samples: &[Sample],
    turn: Option<usize>,
    across: impl Fn(&Sample) -> f64,
) -> Vec<&Sample> {
    let mut kept: Vec<&Sample> = Vec::new();
    let mut last = f64::NEG_INFINITY;
    for (at, sample) in samples.iter().enumerate() {
        let x = across(sample);
        if x - last >= 1.0 || Some(at) == turn || at + 1 == samples.len() {
            kept.push(sample);
            last = x;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A tape of so many slabs over time, those beyond three on disk.
    fn tape(slabs: &[u64]) -> Vec<Sample> {
        let of = |(at, slabs): (usize, &u64)| Sample {
            at: Duration::from_millis(at as u64),
            unsaved: slabs.min(&3) << 20,
            below: slabs.saturating_sub(3) << 20,
            ..Sample::default()
        };
        slabs.iter().enumerate().map(of).collect()
    }

    #[test]
    fn the_turn_is_where_the_tape_is_longest() {
        assert_eq!(turn(&tape(&[1, 2, 4, 6, 5, 3, 1])), Some(3));
        assert_eq!(turn(&tape(&[1, 3, 1, 3, 1])), None, "filled twice");
    }

    #[test]
    fn tapes_of_lanes_are_added_up() {
        let one = tape(&[1, 2, 3]);
        let sums: Vec<u64> = merged(&[&one, &one]).iter().map(total).collect();
        assert_eq!(sums.last(), Some(&(6 << 20)));
        assert!(sums.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn the_words_are_in_order_and_the_passes_are_named() {
        let svg = draw(&tape(&[1, 3, 6, 8, 6, 3, 1]), 4 << 20, "A tape", (860, 340));
        let places: Vec<Option<usize>> =
            KEY.iter().map(|(name, ..)| svg.find(&format!(">{name}<"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
        assert!(svg.contains("← forward pass") && svg.contains("backward pass →"));
        assert!(svg.contains("prefers-color-scheme:dark"));
        let far = draw(&tape(&[1, 3, 1]), 1 << 30, "A tape", (860, 340));
        assert!(!far.contains(">memory budget<") && far.contains("far from reached"));
    }
}
