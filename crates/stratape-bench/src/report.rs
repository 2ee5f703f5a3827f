//! One JSON object a line: what we took, what the reference took, and the ratio.

use serde_json::{Value, json};

/// One comparison.
pub(crate) struct Line<'a> {
    pub(crate) bench: &'a str,
    pub(crate) case: &'a str,
    pub(crate) ours: f64,
    /// What the reference is.
    pub(crate) against: &'a str,
    pub(crate) theirs: f64,
    pub(crate) unit: &'a str,
    /// What we aim at, as text: "<= 1.10".
    pub(crate) aim: Option<&'a str>,
}

impl Line<'_> {
    /// The ratio is ours over theirs: below one is a win for a time, above one for a speed.
    pub(crate) fn json(&self) -> Value {
        let mut object = json!({
            "bench": self.bench,
            "case": self.case,
            "ours": rounded(self.ours),
            "ref": self.against,
            "ref_value": rounded(self.theirs),
            "ratio": rounded(self.ours / self.theirs),
            "unit": self.unit,
        });
        if let Some(aim) = self.aim {
            object["aim"] = json!(aim);
        }
        object
    }

    pub(crate) fn print(&self) {
        println!("{}", self.json());
    }
}

/// Four significant digits: more would be noise.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10_f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}
