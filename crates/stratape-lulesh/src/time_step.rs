//! The length of the time step, which depends on the flow, and so has a derivative.

use stratape::checkpoint::Snapshot;
use stratape::differentiable;

/// When the run ends.
#[differentiable]
pub const STOP_TIME: f64 = 1e-2;
#[differentiable]
const LONGEST_STEP: f64 = 1e-2;
#[differentiable]
pub(crate) const UNLIMITED: f64 = 1e20;
#[differentiable]
const COURANT_VISCOSITY: f64 = 2.0;
#[differentiable]
const LARGEST_VOLUME_CHANGE: f64 = 0.1;

/// Time, and what limits its next step.
#[differentiable]
#[derive(Clone, Copy, Debug, PartialEq, Snapshot)]
pub struct Clock {
    /// The time reached.
    pub time: f64,
    /// The last step, or the first one before it.
    pub dt: f64,
    /// How many steps were taken.
    pub cycle: usize,
    /// The Courant limit.
    pub courant: f64,
    /// The limit by the change of volume.
    pub volume_change: f64,
}

/// The clock before the first step.
#[differentiable]
pub fn started(first_volume: f64, first_energy: f64) -> Clock {
    Clock {
        time: 0.0,
        dt: 0.5 * first_volume.cbrt() / (2.0 * first_energy).sqrt(),
        cycle: 0,
        courant: UNLIMITED,
        volume_change: UNLIMITED,
    }
}

/// The clock at the end of the next step, its length chosen.
#[differentiable]
pub fn advanced(clock: Clock) -> Clock {
    let mut target = STOP_TIME - clock.time;
    let mut dt = clock.dt;
    if clock.cycle != 0 {
        let mut limit = UNLIMITED;
        if clock.courant < limit {
            limit = clock.courant / 2.0;
        }
        if clock.volume_change < limit {
            limit = clock.volume_change * 2.0 / 3.0;
        }
        let ratio = limit / dt;
        if ratio >= 1.0 {
            if ratio < 1.1 {
                limit = dt;
            } else if ratio > 1.2 {
                limit = 1.2 * dt;
            }
        }
        dt = limit.min(LONGEST_STEP);
    }
    if target > dt && target < 4.0 * dt / 3.0 {
        target = 2.0 * dt / 3.0;
    }
    if target < dt {
        dt = target;
    }
    Clock {
        time: clock.time + dt,
        dt,
        cycle: clock.cycle + 1,
        courant: clock.courant,
        volume_change: clock.volume_change,
    }
}

/// How long the next step may be for one element: by Courant's condition, and by its change of volume.
#[differentiable]
pub(crate) fn limits(sound: f64, length: f64, rate: f64) -> (f64, f64) {
    if rate == 0.0 {
        return (UNLIMITED, UNLIMITED);
    }
    let mut squared = sound * sound;
    if rate < 0.0 {
        let shock = 8.0 * COURANT_VISCOSITY * length * rate;
        squared += shock * shock;
    }
    (length / squared.sqrt(), LARGEST_VOLUME_CHANGE / (rate.abs() + 1e-20))
}
