//! The values of an optimisation.

use super::plot::{Axis, Plot};

/// Stretches that many values are divided into; of each, four values are drawn at most.
const STRETCHES: usize = 1000;

/// The vertical axis is that of the logarithm, its numbers are powers of ten, or some of them; within one, 1, 2 and 5.
pub(super) fn draw(values: &[f64], title: &str, size: (u32, u32)) -> String {
    let above = |(_, value): &(usize, &f64)| value.is_finite() && **value > 0.0;
    let points: Vec<(f64, f64)> = values
        .iter()
        .enumerate()
        .filter(above)
        .map(|(at, value)| (at as f64, value.log10()))
        .collect();
    let low = points.iter().map(|point| point.1).fold(f64::MAX, f64::min);
    let high = points.iter().map(|point| point.1).fold(f64::MIN, f64::max).max(low + 0.1);
    let room = 0.04 * (high - low);
    let mut plot = Plot::new(title, size, &[]);
    let last = values.len().saturating_sub(1).max(1);
    let x = Axis::of_numbers("iteration", last as f64, plot.across.min(last));
    let (from, to) = (low - room, high + room);
    let powers = (from.ceil() as i32..=to.floor() as i32).collect::<Vec<i32>>();
    let numbers: Vec<(f64, String)> = if powers.len() >= 3 {
        let each = powers.len().div_ceil(plot.up().max(1));
        let number = |power: &i32| (f64::from(*power), format!("1e{power}"));
        powers.iter().step_by(each).map(number).collect()
    } else {
        let digits = (from.floor() as i32..=to.ceil() as i32)
            .flat_map(|power| [1, 2, 5].map(|digit| (digit, power)));
        let number = |(digit, power): (i32, i32)| {
            (f64::from(digit).log10() + f64::from(power), format!("{digit}e{power}"))
        };
        digits.map(number).filter(|number| (from..=to).contains(&number.0)).collect()
    };
    let numbers = if numbers.len() >= 2 { numbers } else { ends(low, high) };
    plot.axes(&x, &Axis { text: "value".to_owned(), from, to, numbers });
    let line: Vec<(f64, f64)> = thinned(&points).iter().map(|(x, y)| plot.at(*x, *y)).collect();
    plot.svg.path("value", line);
    let drawn = |point: Option<&(f64, f64)>| point.map_or(0.0, |point| values[point.0 as usize]);
    let (first, end) = (drawn(points.first()), drawn(points.last()));
    let left_out = match values.len() - points.len() {
        0 => String::new(),
        1 => " One value that is not finite or not above zero is left out.".to_owned(),
        count => format!(" {count} values that are not finite or not above zero are left out."),
    };
    let plural = if last == 1 { "" } else { "s" };
    let description =
        format!("From {first:.3e} to {end:.3e} in {last} iteration{plural}.{left_out}");
    plot.finish(&description)
}

/// Two numbers for an axis on which no round one lies. They are a tenth of a power of ten apart at least, so that two digits tell them apart.
fn ends(low: f64, high: f64) -> Vec<(f64, String)> {
    [low, high].map(|at| (at, format!("{:.1e}", 10_f64.powf(at)))).to_vec()
}

/// At most a few thousand points: the first, the least, the greatest and the last of each stretch.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= 4 * STRETCHES {
        return points.to_vec();
    }
    let stretches = points.chunks(points.len().div_ceil(STRETCHES));
    let few = stretches.flat_map(|stretch| {
        let by_height = |&a: &usize, &b: &usize| stretch[a].1.total_cmp(&stretch[b].1);
        let least = (0..stretch.len()).min_by(by_height).unwrap_or(0);
        let greatest = (0..stretch.len()).max_by(by_height).unwrap_or(0);
        let mut kept = vec![0, least, greatest, stretch.len() - 1];
        kept.sort_unstable();
        kept.dedup();
        kept.into_iter().map(|at| stretch[at])
    });
    few.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(values: &[f64]) -> String {
        let svg = draw(values, "A fit", (860, 340));
        let description = svg.split("<desc>").nth(1).and_then(|rest| rest.split('<').next());
        description.unwrap_or_default().to_owned()
    }

    #[test]
    fn many_values_are_thinned_out_and_extremes_are_kept() {
        let mut values: Vec<f64> =
            (0..1_000_000).map(|at| 2.0 + f64::from(at % 7) * 1e-3).collect();
        values[123_456] = 1e6;
        values[777_777] = 1e-6;
        let points: Vec<(f64, f64)> =
            values.iter().enumerate().map(|(at, value)| (at as f64, value.log10())).collect();
        let few = thinned(&points);
        assert!(few.len() <= 4 * STRETCHES && few.is_sorted_by(|a, b| a.0 < b.0));
        assert!(few.contains(&points[123_456]) && few.contains(&points[777_777]));
        assert_eq!((few.first(), few.last()), (points.first(), points.last()));
        assert!(draw(&values, "A fit", (860, 340)).len() < 100_000);
    }

    #[test]
    fn only_what_is_drawn_is_described() {
        let told = description(&[f64::INFINITY, 4.0, 2.0, f64::NAN]);
        assert!(told.starts_with("From 4.000e0 to 2.000e0 in 3 iterations. 2 values"), "{told}");
        assert_eq!(description(&[4.0, 2.0]), "From 4.000e0 to 2.000e0 in 1 iteration.");
    }

    #[test]
    fn an_axis_always_has_two_numbers() {
        for values in [[3.0, 3.0 + 1e-9], [3.0, 3.0], [3.0, 3.4], [0.9, 1.1], [1e-300, 1e300]] {
            let svg = draw(&values, "A fit", (240, 200));
            let numbers: Vec<&str> = svg
                .lines()
                .filter(|line| line.contains("class=\"number\"") && line.contains("\"end\""))
                .collect();
            assert!(numbers.len() >= 2, "{values:?}\n{numbers:?}");
        }
    }
}
