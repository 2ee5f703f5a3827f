//! The values of an optimisation.

use super::plot::{Axis, Plot};

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
    let numbers = if powers.len() >= 3 {
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
    plot.axes(&x, &Axis { text: "value".to_owned(), from, to, numbers });
    let line: Vec<(f64, f64)> = points.iter().map(|(x, y)| plot.at(*x, *y)).collect();
    plot.svg.path("value", line);
    let (first, end) = (values.first().copied(), values.last().copied());
    let description = format!(
        "From {:.3e} to {:.3e} in {last} iterations.",
        first.unwrap_or(0.0),
        end.unwrap_or(0.0)
    );
    plot.finish(&description)
}
