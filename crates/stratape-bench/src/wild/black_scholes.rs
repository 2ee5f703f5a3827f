//! black_scholes: the value of a portfolio of European options.

use std::rc::Rc;

use pricing::Kind;

use crate::programs::numbers::Numbers;
use crate::programs::{Inputs, Program, Scale, Shadows};

#[stratape::differentiable]
mod pricing {
    #[derive(Clone, Copy, PartialEq)]
    pub(super) enum Kind {
        Call,
        Put,
    }

    /// Abramowitz and Stegun, 26.2.17.
    fn normal_cdf(x: f64) -> f64 {
        let k = 1.0 / (1.0 + 0.2316419 * x.abs());
        let series = k
            * (0.319381530
                + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
        let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
        if x >= 0.0 { 1.0 - density * series } else { density * series }
    }

    fn price(kind: Kind, spot: f64, strike: f64, volatility: f64, rate: f64, years: f64) -> f64 {
        let deviation = volatility * years.sqrt();
        let d1 =
            ((spot / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / deviation;
        let d2 = d1 - deviation;
        let discounted = strike * (-rate * years).exp();
        match kind {
            Kind::Call => spot * normal_cdf(d1) - discounted * normal_cdf(d2),
            Kind::Put => discounted * normal_cdf(-d2) - spot * normal_cdf(-d1),
        }
    }

    #[gradient(wrt(spots, volatilities, rate))]
    pub(super) fn portfolio(
        kinds: &[Kind],
        quantities: &[f64],
        strikes: &[f64],
        years: &[f64],
        spots: &[f64],
        volatilities: &[f64],
        rate: f64,
    ) -> f64 {
        let mut total = 0.0;
        for i in 0..kinds.len() {
            let value = price(kinds[i], spots[i], strikes[i], volatilities[i], rate, years[i]);
            total += quantities[i] * value;
        }
        total
    }
}

/// The series of `normal_cdf`, and its slope.
fn cdf_and_slope(x: f64) -> (f64, f64) {
    const RATE: f64 = 0.231_641_9;
    const SERIES: [f64; 5] =
        [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let k = 1.0 / (1.0 + RATE * x.abs());
    let (mut series, mut dseries) = (0.0, 0.0);
    for coefficient in SERIES.iter().rev() {
        dseries = dseries * k + series;
        series = series * k + coefficient;
    }
    dseries = dseries * k + series;
    series *= k;
    let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    // Of the tail by the distance from zero.
    let slope = density * (-x.abs() * series - dseries * RATE * k * k);
    if x >= 0.0 { (1.0 - density * series, -slope) } else { (density * series, -slope) }
}

/// One option after the other, forward and back at once.
#[expect(clippy::too_many_arguments, reason = "a shadow follows each active array")]
fn by_hand(
    kinds: &[Kind],
    quantities: &[f64],
    strikes: &[f64],
    years: &[f64],
    spots: &[f64],
    dspots: &mut [f64],
    volatilities: &[f64],
    dvolatilities: &mut [f64],
    rate: f64,
    seed: f64,
) -> (f64, f64) {
    let (mut total, mut drate) = (0.0, 0.0);
    for i in 0..kinds.len() {
        let (spot, volatility, years) = (spots[i], volatilities[i], years[i]);
        let root = years.sqrt();
        let deviation = volatility * root;
        let drift = rate + 0.5 * volatility * volatility;
        let d1 = ((spot / strikes[i]).ln() + drift * years) / deviation;
        let discounted = strikes[i] * (-rate * years).exp();
        let sign = if kinds[i] == Kind::Call { 1.0 } else { -1.0 };
        let (n1, slope1) = cdf_and_slope(sign * d1);
        let (n2, slope2) = cdf_and_slope(sign * (d1 - deviation));
        total += quantities[i] * sign * (spot * n1 - discounted * n2);

        let adjoint = seed * quantities[i];
        let dd2 = -adjoint * discounted * slope2;
        let dd1 = adjoint * spot * slope1 + dd2;
        let dnumerator = dd1 / deviation;
        let ddeviation = -dd2 - dnumerator * d1;
        dspots[i] += adjoint * sign * n1 + dnumerator / spot;
        dvolatilities[i] += dnumerator * volatility * years + ddeviation * root;
        drate += dnumerator * years + adjoint * sign * n2 * discounted * years;
    }
    (total, drate)
}

type Adjoint = fn(
    &[Kind],
    &[f64],
    &[f64],
    &[f64],
    &[f64],
    &mut [f64],
    &[f64],
    &mut [f64],
    f64,
    f64,
) -> (f64, f64);

fn calling(adjoint: Adjoint, kinds: Rc<[Kind]>) -> impl Fn(&mut Inputs, &mut Shadows) -> f64 {
    move |inputs, shadows| {
        let [quantities, strikes, years] = inputs.constant();
        let ([s, v, rate], [ds, dv, drate]) = (inputs.active(), shadows.each());
        let (value, by_rate) =
            adjoint(&kinds, quantities, strikes, years, s, ds, v, dv, rate[0], 1.0);
        drate[0] += by_rate;
        value
    }
}

pub(super) fn program(scale: Scale) -> Program {
    let n = scale.or_small(1000, 13);
    let mut numbers = Numbers::from_seed(112);
    let kinds: Rc<[Kind]> = (0..n)
        .map(|_| if numbers.within(0.0, 1.0) < 0.6 { Kind::Call } else { Kind::Put })
        .collect();
    let quantities = numbers.array(n, -10.0, 10.0);
    let strikes = numbers.array(n, 80.0, 120.0);
    let years = numbers.array(n, 0.1, 2.0);
    let spots = numbers.array(n, 80.0, 120.0);
    let volatilities = numbers.array(n, 0.1, 0.5);
    let inputs = Inputs {
        active: vec![spots, volatilities, vec![0.03]],
        constant: vec![quantities, strikes, years],
        ..Inputs::default()
    };
    let kinds_of_primal = Rc::clone(&kinds);
    let primal = move |inputs: &mut Inputs| {
        let ([quantities, strikes, years], [s, v, rate]) = (inputs.constant(), inputs.active());
        pricing::portfolio(&kinds_of_primal, quantities, strikes, years, s, v, rate[0])
    };
    let ours = calling(pricing::portfolio_grad, Rc::clone(&kinds));
    Program::new("black_scholes", inputs, primal, ours)
        .with_by_hand(calling(by_hand, kinds))
        .with_state(0)
}
