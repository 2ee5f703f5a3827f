//! Compares a gradient with finite differences of its function.
//!
//! [`gradient`] takes a point, the function and its gradient, as closures over the point's parts, and compares them along random
//! directions. Use it in a test of any function you differentiate:
//!
//! ```
//! use stratape::{check, gradient};
//!
//! #[gradient]
//! fn energy(x: &[f64], k: f64, n: usize) -> f64 {
//!     let mut sum = 0.0;
//!     for i in 1..n {
//!         sum += 0.5 * k * (x[i] - x[i - 1]).powi(2);
//!     }
//!     sum
//! }
//!
//! let (x, k) = ([0.0, 1.0, 3.0, 2.5], 2.0);
//! let report = check::gradient(
//!     [("x", &x), ("k", &[k])],
//!     |[x, k]| energy(x, k[0], x.len()),
//!     |[x, k], [dx, dk]| {
//!         let (value, d) = energy_grad(x, dx, k[0], x.len(), 1.0);
//!         dk[0] += d;
//!         value
//!     },
//! )?;
//! println!("{report}");
//! # Ok::<(), check::Mismatch>(())
//! ```
//!
//! A function that writes to `&mut` arguments is checked through a weighted sum of its results, with the weights
//! as seeds:
//!
//! ```
//! use stratape::{check, gradient};
//!
//! #[gradient]
//! fn squares(x: &[f64], y: &mut [f64]) {
//!     for i in 0..x.len() {
//!         y[i] = x[i] * x[i] + 0.5 * y[i];
//!     }
//! }
//!
//! let weights = [0.3, -1.0, 0.7];
//! check::gradient(
//!     [("x", &[1.0, 2.0, 3.0]), ("y", &[0.1, 0.2, 0.3])],
//!     |[x, y]| {
//!         let mut y = y.to_vec();
//!         squares(x, &mut y);
//!         y.iter().zip(weights).map(|(y, weight)| y * weight).sum()
//!     },
//!     |[x, y], [dx, dy]| {
//!         let mut y = y.to_vec();
//!         dy.copy_from_slice(&weights);
//!         squares_grad(x, dx, &mut y, dy);
//!         y.iter().zip(weights).map(|(y, weight)| y * weight).sum()
//!     },
//! )?;
//! # Ok::<(), check::Mismatch>(())
//! ```
//!
//! # How it compares
//!
//! For every argument, and for all together, the derivative along a few random directions is taken from central differences at
//! shrinking steps, extrapolated to a step of zero (Ridders' method), which also estimates its error. The
//! gradient must agree within a multiple of that error, or within a tolerance relative to the size of its terms. If differences cannot
//! decide, because the function has a kink nearby or is too noisy, the report says so and the check does not fail.

use std::fmt;

/// A type of floats: `f64` and `f32`.
pub trait Real: Copy + sealed::Sealed {}

impl Real for f64 {}
impl Real for f32 {}

mod sealed {
    pub trait Sealed {
        const ZERO: Self;
        const EPSILON: f64;
        fn wide(self) -> f64;
        fn narrow(number: f64) -> Self;
        fn same_bits(self, other: Self) -> bool;
    }

    impl Sealed for f64 {
        const ZERO: Self = 0.0;
        const EPSILON: f64 = f64::EPSILON;

        fn wide(self) -> f64 {
            self
        }

        fn narrow(number: f64) -> Self {
            number
        }

        fn same_bits(self, other: Self) -> bool {
            self.to_bits() == other.to_bits()
        }
    }

    impl Sealed for f32 {
        const ZERO: Self = 0.0;
        const EPSILON: f64 = f32::EPSILON as f64;

        fn wide(self) -> f64 {
            f64::from(self)
        }

        fn narrow(number: f64) -> Self {
            number as f32
        }

        fn same_bits(self, other: Self) -> bool {
            self.to_bits() == other.to_bits()
        }
    }
}

/// Compares a gradient with finite differences of its function, at a point of named arguments. See the [module](self).
///
/// `gradient` receives zeroed shadows, adds the derivatives, and returns the function's value.
///
/// # Errors
/// [`Mismatch`], which names the arguments and elements that are wrong.
pub fn gradient<T: Real, const N: usize>(
    point: [(&str, &[T]); N],
    function: impl Fn([&[T]; N]) -> T,
    gradient: impl Fn([&[T]; N], [&mut [T]; N]) -> T,
) -> Result<Report, Mismatch> {
    Check::new().gradient(point, function, gradient)
}

/// Settings of a comparison.
///
/// ```
/// use stratape::check::Check;
///
/// let report = Check::new()
///     .directions(3)
///     .tolerance(1e-5)
///     .gradient([("x", &[1.5_f64])], |[x]| x[0].sin(), |[x], [dx]| {
///         dx[0] += x[0].cos();
///         x[0].sin()
///     })?;
/// assert!(report.worst() < 1e-9);
/// # Ok::<(), stratape::check::Mismatch>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "it compares when `gradient` is called"]
pub struct Check {
    directions: usize,
    tolerance: Option<f64>,
    step: f64,
    seed: u64,
    same_value: bool,
}

impl Default for Check {
    fn default() -> Self {
        Self { directions: 4, tolerance: None, step: 0.01, seed: 0, same_value: true }
    }
}

impl Check {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many random directions are tried for each argument, and for all together. Default: 4.
    pub fn directions(mut self, count: usize) -> Self {
        self.directions = count.max(1);
        self
    }

    /// The relative error that is always accepted, relative to the size of the derivative's terms. Default: 1e-7 for `f64`, 2e-3 for
    /// `f32`.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// The largest step, relative to the size of an argument's numbers (or to 1, if that is larger). Default: 0.01. Use a smaller one if
    /// the function has kinks nearby.
    pub fn step(mut self, step: f64) -> Self {
        self.step = step.abs().max(f64::MIN_POSITIVE);
        self
    }

    /// The seed of the random directions. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Whether the value that the gradient returns must be bit for bit that of the function. Default: true.
    pub fn same_value(mut self, same: bool) -> Self {
        self.same_value = same;
        self
    }

    /// Compares. See [`gradient()`].
    ///
    /// # Errors
    /// [`Mismatch`], which names the arguments and elements that are wrong.
    pub fn gradient<T: Real, const N: usize>(
        &self,
        point: [(&str, &[T]); N],
        function: impl Fn([&[T]; N]) -> T,
        gradient: impl Fn([&[T]; N], [&mut [T]; N]) -> T,
    ) -> Result<Report, Mismatch> {
        let numbers: Vec<Vec<T>> = point.iter().map(|(_, numbers)| numbers.to_vec()).collect();
        let mut shadows: Vec<Vec<T>> =
            numbers.iter().map(|numbers| vec![T::ZERO; numbers.len()]).collect();
        let value = function(parts(&numbers));
        let returned = gradient(parts(&numbers), parts_mut(&mut shadows));
        let tolerance = self.tolerance.unwrap_or(if T::EPSILON > 1e-10 { 2e-3 } else { 1e-7 });
        let at = |moved: &[Vec<f64>]| -> f64 {
            let narrow = |list: &Vec<f64>| list.iter().map(|number| T::narrow(*number)).collect();
            let moved: Vec<Vec<T>> = moved.iter().map(narrow).collect();
            function(parts(&moved)).wide()
        };
        let wide = |lists: &[Vec<T>]| -> Vec<Vec<f64>> {
            lists.iter().map(|list| list.iter().map(|number| number.wide()).collect()).collect()
        };
        let differences = Differences {
            point: wide(&numbers),
            adjoint: wide(&shadows),
            at: &at,
            value: value.wide(),
            step: self.step,
            epsilon: T::EPSILON,
            tolerance,
        };
        let mut random = Random(self.seed);
        let mut report = Report { value: value.wide(), arguments: Vec::new(), together: None };
        for (which, (name, _)) in point.iter().enumerate() {
            let found =
                differences.along(self.directions, &mut random, |argument| argument == which);
            report.arguments.push(Finding { name: (*name).to_owned(), ..found });
        }
        if N > 1 {
            let found = differences.along(self.directions, &mut random, |_| true);
            let name = "all together".to_owned();
            report.together = Some(Box::new(Finding { name, ..found }));
        }
        let mut mismatch = Mismatch {
            value: (self.same_value && !value.same_bits(returned))
                .then(|| (value.wide(), returned.wide())),
            elements: Vec::new(),
            report,
        };
        for (which, (name, _)) in point.iter().enumerate() {
            if mismatch.report.arguments[which].verdict == Verdict::Wrong {
                let worst = differences.elements(which);
                let named = |(index, gradient, difference)| Element {
                    name: format!("{name}[{index}]"),
                    gradient,
                    difference,
                };
                mismatch.elements.extend(worst.into_iter().map(named));
            }
        }
        let wrong = mismatch.report.findings().any(|finding| finding.verdict == Verdict::Wrong);
        if wrong || mismatch.value.is_some() { Err(mismatch) } else { Ok(mismatch.report) }
    }
}

fn parts<T, const N: usize>(lists: &[Vec<T>]) -> [&[T]; N] {
    std::array::from_fn(|which| lists[which].as_slice())
}

fn parts_mut<T, const N: usize>(lists: &mut [Vec<T>]) -> [&mut [T]; N] {
    let mut lists = lists.iter_mut();
    std::array::from_fn(|_| lists.next().map(Vec::as_mut_slice).unwrap_or_default())
}

/// The result of the comparison for one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The gradient agrees with differences.
    Right,
    /// The gradient disagrees with differences.
    Wrong,
    /// Differences do not converge: a kink nearby, noise, or a value that is not finite.
    Undecided,
}

/// The findings for one argument.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The argument.
    pub name: String,
    /// The outcome.
    pub verdict: Verdict,
    /// The derivative along the direction with the worst agreement, from the gradient.
    pub gradient: f64,
    /// The same, from differences.
    pub difference: f64,
    /// The estimated error of the differences.
    pub uncertainty: f64,
    /// The difference between the two, relative to the size of the derivative's terms.
    pub error: f64,
}

/// The result of a comparison.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The function's value.
    pub value: f64,
    /// The findings for each argument.
    pub arguments: Vec<Finding>,
    /// Along directions in which all arguments change; `None` if there is only one argument.
    pub together: Option<Box<Finding>>,
}

impl Report {
    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.arguments.iter().chain(self.together.as_deref())
    }

    /// The largest relative error.
    pub fn worst(&self) -> f64 {
        self.findings().map(|finding| finding.error).fold(0.0, f64::max)
    }

    /// Whether differences were conclusive for every argument.
    pub fn is_decided(&self) -> bool {
        self.findings().all(|finding| finding.verdict != Verdict::Undecided)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.findings().map(|finding| finding.name.chars().count()).max().unwrap_or(0);
        for (number, finding) in self.findings().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            let Finding { name, gradient, difference, uncertainty, error, verdict } = finding;
            let verdict = match verdict {
                Verdict::Right => "right",
                Verdict::Wrong => "WRONG",
                Verdict::Undecided => "undecided: differences do not converge here",
            };
            write!(
                f,
                "{name:width$}  gradient {gradient:>13.6e}, differences {difference:>13.6e} ± {uncertainty:.0e}, error {error:.0e}: {verdict}"
            )?;
        }
        Ok(())
    }
}

/// An element whose derivative is wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Element {
    /// As `x[3]`.
    pub name: String,
    /// Its derivative, from the gradient.
    pub gradient: f64,
    /// The same, from differences.
    pub difference: f64,
}

/// A gradient that disagrees with finite differences of its function.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Mismatch {
    /// The function's value and the one the gradient returned, if their bits differ.
    pub value: Option<(f64, f64)>,
    /// The elements with the largest errors.
    pub elements: Vec<Element>,
    /// The findings for each argument.
    pub report: Report,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the gradient is not the derivative of the function")?;
        if let Some((value, returned)) = self.value {
            write!(f, "\nthe function returns {value:?}, its gradient {returned:?}")?;
        }
        write!(f, "\n{}", self.report)?;
        for Element { name, gradient, difference } in &self.elements {
            write!(f, "\n    {name}: gradient {gradient:?}, differences {difference:?}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Mismatch {}

/// Differences of a function around a point.
struct Differences<'a> {
    point: Vec<Vec<f64>>,
    adjoint: Vec<Vec<f64>>,
    at: &'a dyn Fn(&[Vec<f64>]) -> f64,
    value: f64,
    step: f64,
    epsilon: f64,
    tolerance: f64,
}

impl Differences<'_> {
    /// The finding that fits least, of some directions in which the chosen arguments change.
    fn along(
        &self,
        directions: usize,
        random: &mut Random,
        chosen: impl Fn(usize) -> bool,
    ) -> Finding {
        let mut worst: Option<Finding> = None;
        for _ in 0..directions {
            let mut direction = |(which, list): (usize, &Vec<f64>)| -> Vec<f64> {
                let unit = |_: &f64| if chosen(which) { random.unit() } else { 0.0 };
                list.iter().map(unit).collect()
            };
            let direction: Vec<Vec<f64>> =
                self.point.iter().enumerate().map(&mut direction).collect();
            let found = self.compare(&direction);
            let is_worse = worst.as_ref().is_none_or(|worst| found.rank() > worst.rank());
            if is_worse {
                worst = Some(found);
            }
        }
        worst.unwrap_or_else(|| self.compare(&[]))
    }

    fn compare(&self, direction: &[Vec<f64>]) -> Finding {
        let pairs = || self.adjoint.iter().flatten().zip(direction.iter().flatten());
        let gradient: f64 = pairs().map(|(adjoint, part)| adjoint * part).sum();
        let size: f64 = pairs().map(|(adjoint, part)| (adjoint * part).abs()).sum();
        let (difference, uncertainty) = self.derivative(direction);
        let scale = size.max(difference.abs());
        let apart = (gradient - difference).abs();
        let error = if apart == 0.0 { 0.0 } else { apart / scale.max(f64::MIN_POSITIVE) };
        let verdict = if !difference.is_finite() || !uncertainty.is_finite() {
            Verdict::Undecided
        } else if apart <= 8.0 * uncertainty + self.tolerance * scale {
            // An agreement within an uncertainty as large as the thing itself says nothing.
            if uncertainty > 0.1 * scale && apart > self.tolerance * scale && scale > 0.0 {
                Verdict::Undecided
            } else {
                Verdict::Right
            }
        } else {
            Verdict::Wrong
        };
        Finding { name: String::new(), verdict, gradient, difference, uncertainty, error }
    }

    /// The derivative along a direction, and how far it can be trusted: Ridders' extrapolation of central differences.
    fn derivative(&self, direction: &[Vec<f64>]) -> (f64, f64) {
        const SHRINK: f64 = 1.6;
        const STEPS: usize = 12;
        let moves = direction.iter().flatten().any(|part| *part != 0.0);
        if !moves {
            return (0.0, 0.0);
        }
        let changed = |step: f64| -> f64 {
            let shifted = |(list, parts): (&Vec<f64>, &Vec<f64>)| -> Vec<f64> {
                list.iter().zip(parts).map(|(number, part)| number + step * part).collect()
            };
            let moved: Vec<Vec<f64>> = self.point.iter().zip(direction).map(shifted).collect();
            (self.at)(&moved)
        };
        // Large enough for the type, in units of the largest number that moves.
        let largest = self
            .point
            .iter()
            .flatten()
            .zip(direction.iter().flatten())
            .filter(|(_, part)| **part != 0.0)
            .map(|(number, _)| number.abs())
            .fold(1.0, f64::max);
        let mut step = self.step.max(8.0 * self.epsilon.cbrt()) * largest;
        let mut table: Vec<Vec<f64>> = Vec::new();
        let (mut best, mut uncertainty) = (f64::NAN, f64::INFINITY);
        for row in 0..STEPS {
            let (above, below) = (changed(step), changed(-step));
            let noise = self.epsilon * (above.abs() + below.abs()).max(self.value.abs()) / step;
            let mut entries = vec![(above - below) / (2.0 * step)];
            let mut factor = SHRINK * SHRINK;
            for column in 0..row {
                let finer = entries[column];
                let before: f64 = table[row - 1][column];
                let better = (finer * factor - before) / (factor - 1.0);
                factor *= SHRINK * SHRINK;
                let spread = (better - finer).abs().max((better - before).abs()).max(noise);
                entries.push(better);
                if spread <= uncertainty {
                    (best, uncertainty) = (better, spread);
                }
            }
            table.push(entries);
            step /= SHRINK;
        }
        (best, uncertainty)
    }

    /// The elements of an argument that are farthest off: index, gradient, difference.
    fn elements(&self, which: usize) -> Vec<(usize, f64, f64)> {
        const TRIED: usize = 200;
        const TOLD: usize = 5;
        let len = self.point[which].len();
        let mut found: Vec<(f64, (usize, f64, f64))> = Vec::new();
        for index in (0..len).step_by(len.div_ceil(TRIED).max(1)) {
            let mut direction: Vec<Vec<f64>> =
                self.point.iter().map(|list| vec![0.0; list.len()]).collect();
            direction[which][index] = 1.0;
            let finding = self.compare(&direction);
            if finding.verdict == Verdict::Wrong {
                found.push((finding.error, (index, finding.gradient, finding.difference)));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().take(TOLD).map(|(_, element)| element).collect()
    }
}

impl Finding {
    /// What is worse comes later.
    fn rank(&self) -> (u8, f64) {
        let verdict = match self.verdict {
            Verdict::Right => 0,
            Verdict::Undecided => 1,
            Verdict::Wrong => 2,
        };
        (verdict, self.error)
    }
}

/// splitmix64
struct Random(u64);

impl Random {
    /// A number from -1 to 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}
