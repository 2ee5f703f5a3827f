//! Gradient descent with the step lengths of Barzilai and Borwein.

/// A descent: where it is, and the best so far.
pub(super) struct Descent {
    at: Vec<f64>,
    gradient: Vec<f64>,
    rate: f64,
    best: (f64, Vec<f64>, Vec<f64>),
    pub(super) history: Vec<f64>,
}

impl Descent {
    pub(super) fn new(start: Vec<f64>, value: f64, gradient: Vec<f64>) -> Self {
        let steepest = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        let best = (value, start.clone(), gradient.clone());
        // The first step changes nothing by more than a tenth.
        let rate = 0.1 / steepest.max(f64::MIN_POSITIVE);
        Self { at: start, gradient, rate, best, history: vec![value] }
    }

    pub(super) fn propose(&self) -> Vec<f64> {
        // Temperatures beyond these would make the explicit steps unstable.
        let step = |(u, g): (&f64, &f64)| (u - self.rate * g).clamp(0.0, 1.2);
        self.at.iter().zip(&self.gradient).map(step).collect()
    }

    pub(super) fn learn(&mut self, at: Vec<f64>, value: f64, gradient: Vec<f64>) {
        if !value.is_finite() || value > 4.0 * self.best.0 {
            // Too far: from the best again, with a shorter step.
            (self.at, self.gradient) = (self.best.1.clone(), self.best.2.clone());
            self.rate *= 0.2;
            self.history.push(self.best.0);
            return;
        }
        let (mut along, mut turned) = (0.0, 0.0);
        for i in 0..at.len() {
            let (s, y) = (at[i] - self.at[i], gradient[i] - self.gradient[i]);
            (along, turned) = (along + s * y, turned + y * y);
        }
        self.rate = if along > 0.0 { along / turned } else { 2.0 * self.rate };
        if value < self.best.0 {
            self.best = (value, at.clone(), gradient.clone());
        }
        self.history.push(value);
        (self.at, self.gradient) = (at, gradient);
    }

    /// The least misfit, and where it was.
    pub(super) fn best(&self) -> (f64, &[f64]) {
        (self.best.0, &self.best.1)
    }
}
