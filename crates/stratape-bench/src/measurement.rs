//! [`Measurement`]: one comparison, as it is handed on, written and read again.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

/// One comparison: what we took, what the reference took, and the ratio. As JSON it is one object on one line.
///
/// ```
/// use stratape_bench::Measurement;
///
/// let line = r#"{"bench":"tape","case":"a","ours":2.0,"ref":"b","ref_value":4.0,"ratio":0.5,"unit":"s"}"#;
/// let one = &Measurement::read(line)?[0];
/// assert_eq!((one.against.as_str(), one.ratio), ("b", 0.5));
/// assert_eq!(one.line(), line);
/// # Ok::<(), stratape_bench::NotMeasurements>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The suite.
    pub bench: String,
    /// What was measured.
    pub case: String,
    /// What we took.
    pub ours: f64,
    /// What it is compared with.
    #[serde(rename = "ref")]
    pub against: String,
    /// What that took.
    #[serde(rename = "ref_value")]
    pub theirs: f64,
    /// Ours over theirs: below one is a win for a time, above one for a speed.
    pub ratio: f64,
    /// The unit of both.
    pub unit: String,
    /// What the ratio should be, as text; [`goal`](Self::goal) reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim: Option<String>,
    /// The sizes it was measured at, where that was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

/// The sizes of the cases.
///
/// ```
/// assert_eq!(stratape_bench::Size::Quick.option(), "--quick");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// Small ones.
    Quick,
    /// Those of the design.
    Full,
}

impl Size {
    /// The option that asks for it.
    ///
    /// ```
    /// assert_eq!(stratape_bench::Size::Full.option(), "--full");
    /// ```
    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            Self::Quick => "--quick",
            Self::Full => "--full",
        }
    }
}

impl Measurement {
    /// The JSON of one line, without its end. A ratio that is no number is `null`.
    ///
    /// ```
    /// # use stratape_bench::{Measurement, Settings, Suite, run};
    /// # let settings = Settings { quick: true, only: Some("gravity/gradient".to_owned()), ..Settings::default() };
    /// # let mut found: Vec<Measurement> = Vec::new();
    /// # run(Suite::Programs, &settings, &mut found)?;
    /// assert!(found[0].line().starts_with(r#"{"bench":"programs","case":"gravity/gradient","#));
    /// # Ok::<(), stratape_bench::BenchError>(())
    /// ```
    #[must_use]
    pub fn line(&self) -> String {
        // Texts and numbers can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What the ratio should be.
    ///
    /// ```
    /// # use stratape_bench::{Aim, Measurement};
    /// # let line = r#"{"bench":"tape","case":"a","ours":2.0,"ref":"b","ref_value":4.0,"ratio":0.5,"unit":"s","aim":"<= 1.10"}"#;
    /// # let one = &Measurement::read(line)?[0];
    /// assert_eq!(one.goal(), Some(Aim::AtMost(1.1)));
    /// # Ok::<(), stratape_bench::NotMeasurements>(())
    /// ```
    #[must_use]
    pub fn goal(&self) -> Option<Aim> {
        Aim::parse(self.aim.as_deref()?)
    }

    /// Whether it is a time or a speed. Counts (bytes, steps) are compared as well, but less of them is not faster.
    ///
    /// ```
    /// # use stratape_bench::Measurement;
    /// # let line = r#"{"bench":"tape","case":"a","ours":2.0,"ref":"b","ref_value":4.0,"ratio":0.5,"unit":"bytes"}"#;
    /// # let one = &Measurement::read(line)?[0];
    /// assert!(!one.is_time_or_speed());
    /// # Ok::<(), stratape_bench::NotMeasurements>(())
    /// ```
    #[must_use]
    pub fn is_time_or_speed(&self) -> bool {
        let unit = self.unit.as_str();
        matches!(unit, "s" | "ms" | "us" | "ns") || unit.starts_with("ns/") || unit.ends_with("/s")
    }

    /// Reads lines of JSON; empty ones are passed over.
    ///
    /// # Errors
    /// If there is nothing to read, or a line is no measurement.
    ///
    /// ```
    /// use stratape_bench::Measurement;
    ///
    /// let error = Measurement::read("\n{\"bench\":").map_err(|error| error.line());
    /// assert_eq!(error, Err(Some(2)));
    /// assert!(Measurement::read("").is_err());
    /// ```
    pub fn read(text: &str) -> Result<Vec<Self>, NotMeasurements> {
        let mut found = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let one: Self = serde_json::from_str(line).map_err(|error| {
                // serde_json counts lines and columns; the line is ours to count.
                let why = error.to_string();
                let why = why.split(" at line ").next().unwrap_or_default();
                NotMeasurements {
                    line: Some(at + 1),
                    why: format!("{why} (column {})", error.column()),
                }
            })?;
            if !(one.ratio.is_finite() && one.ratio >= 0.0) {
                let why = format!("a ratio of {}", one.ratio);
                return Err(NotMeasurements { line: Some(at + 1), why });
            }
            found.push(one);
        }
        if found.is_empty() {
            return Err(NotMeasurements { line: None, why: "it holds none".to_owned() });
        }
        Ok(found)
    }
}

/// A text is not lines of measurements.
///
/// ```
/// let error = stratape_bench::Measurement::read("some prose").map_err(|error| error.to_string());
/// assert_eq!(error, Err("line 1 is no measurement: expected value (column 1)".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotMeasurements {
    line: Option<usize>,
    why: String,
}

impl NotMeasurements {
    /// The line at fault, counted from 1; `None` if there is none at all.
    ///
    /// ```
    /// let error = stratape_bench::Measurement::read("{}").map_err(|error| error.line());
    /// assert_eq!(error, Err(Some(1)));
    /// ```
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for NotMeasurements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line} is no measurement: {}", self.why),
            None => write!(f, "there are no measurements: {}", self.why),
        }
    }
}

impl Error for NotMeasurements {}

/// What a ratio should be.
///
/// ```
/// use stratape_bench::Aim;
///
/// assert_eq!(Aim::parse("within 0.9 to 1.1"), Some(Aim::Within(0.9, 1.1)));
/// assert!(Aim::AtLeast(0.9).is_met(1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// `<= 1.10`, or `< 1`
    AtMost(f64),
    /// `>= 0.9`
    AtLeast(f64),
    /// `within 0.9 to 1.1`
    Within(f64, f64),
}

impl Aim {
    /// Reads the text of [`Measurement::aim`].
    ///
    /// ```
    /// use stratape_bench::Aim;
    ///
    /// assert_eq!(Aim::parse("<= 2"), Some(Aim::AtMost(2.0)));
    /// assert_eq!(Aim::parse("fast"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
        };
        if let Some((from, to)) = text.strip_prefix("within ").and_then(|it| it.split_once(" to "))
        {
            return Some(Self::Within(number(from)?, number(to)?));
        }
        let (sign, rest) = text.split_once(' ')?;
        match sign {
            "<=" | "<" => Some(Self::AtMost(number(rest)?)),
            ">=" | ">" => Some(Self::AtLeast(number(rest)?)),
            _ => None,
        }
    }

    /// Whether a ratio is as it should be.
    ///
    /// ```
    /// assert!(!stratape_bench::Aim::AtMost(1.1).is_met(1.2));
    /// ```
    #[must_use]
    pub fn is_met(self, ratio: f64) -> bool {
        match self {
            Self::AtMost(most) => ratio <= most,
            Self::AtLeast(least) => ratio >= least,
            Self::Within(least, most) => (least..=most).contains(&ratio),
        }
    }

    /// Where its lines are drawn.
    ///
    /// ```
    /// assert_eq!(stratape_bench::Aim::AtMost(1.1).bounds(), [Some(1.1), None]);
    /// ```
    #[must_use]
    pub fn bounds(self) -> [Option<f64>; 2] {
        match self {
            Self::AtMost(bound) | Self::AtLeast(bound) => [Some(bound), None],
            Self::Within(least, most) => [Some(least), Some(most)],
        }
    }
}
