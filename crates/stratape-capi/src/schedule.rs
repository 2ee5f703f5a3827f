//! Reversal schedules, an action at a time, so that a C program can drive a reversal.

use std::ffi::c_char;

use stratape_checkpoint::schedule::{
    Action, HRevolve, Level, LevelCosts, Mixed, Multistage, Online, Periodic, Revolve, Schedule,
    StoreAll,
};

use crate::handle;
use crate::options::put_handle;
use crate::status::stratape_status::STRATAPE_INVALID;
use crate::status::{Failure, call, put, stratape_status, text_out};

/// A reversal schedule. Opaque.
pub struct stratape_schedule {
    _opaque: u8,
}

pub(crate) struct OpenSchedule(Box<dyn Schedule>);

/// What to do next. There is one *current state*, at step 0 to begin with, and slots for states in memory (level 0) and on disk
/// (level 1).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum stratape_action_kind {
    /// Run the steps from `step` up to, and without, `to`, recording nothing.
    STRATAPE_ADVANCE = 0,
    /// Copy the current state, which is at `step`, to a slot on `level`.
    STRATAPE_STORE = 1,
    /// Copy the state of `step` from its slot on `level` to the current state.
    STRATAPE_LOAD = 2,
    /// Free the slot of `step` on `level`.
    STRATAPE_DROP = 3,
    /// Run step `step` and record what its reversal needs. With `keep` the record stays while other steps are recorded and reversed.
    STRATAPE_TAPE = 4,
    /// Propagate the adjoint through step `step`, and give its record up.
    STRATAPE_REVERSE = 5,
    /// The current state is the last one: seed the adjoint.
    STRATAPE_END_FORWARD = 6,
    /// Every step is reversed.
    STRATAPE_END_REVERSE = 7,
}

use stratape_action_kind::*;

/// One action of a schedule.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct stratape_action {
    /// What to do.
    pub kind: stratape_action_kind,
    /// Whether a record is kept.
    pub keep: bool,
    /// Where a state is kept: 0 in memory, 1 on disk.
    pub level: u32,
    /// The step.
    pub step: usize,
    /// The step after the last to run.
    pub to: usize,
}

impl From<Action> for stratape_action {
    fn from(action: Action) -> Self {
        let plain = |kind, step| Self { kind, keep: false, level: 0, step, to: step };
        let on = |kind, step, level: Level| Self { level: level.0.into(), ..plain(kind, step) };
        match action {
            Action::Advance { from, to } => Self { to, ..plain(STRATAPE_ADVANCE, from) },
            Action::Store { step, level } => on(STRATAPE_STORE, step, level),
            Action::Load { step, level } => on(STRATAPE_LOAD, step, level),
            Action::Drop { step, level } => on(STRATAPE_DROP, step, level),
            Action::Tape { step, keep } => Self { keep, ..plain(STRATAPE_TAPE, step) },
            Action::Reverse { step } => plain(STRATAPE_REVERSE, step),
            Action::EndForward => plain(STRATAPE_END_FORWARD, 0),
            Action::EndReverse => plain(STRATAPE_END_REVERSE, 0),
        }
    }
}

/// Slots of one kind of storage and what they cost, for `stratape_schedule_hrevolve`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct stratape_level_costs {
    /// Slots there are.
    pub slots: usize,
    /// Writing a state, in any unit.
    pub write: f64,
    /// Reading one.
    pub read: f64,
}

/// Marks a number of steps that is found out at the end.
///
/// cbindgen:ignore
pub const STRATAPE_UNKNOWN_STEPS: usize = usize::MAX;

fn level(level: u32) -> Result<Level, Failure> {
    match level {
        0 => Ok(Level::MEMORY),
        1 => Ok(Level::DISK),
        other => {
            let text = format!("level {other}; there are 0, memory, and 1, disk");
            Err(Failure::new(STRATAPE_INVALID, text))
        }
    }
}

unsafe fn open(
    out: *mut *mut stratape_schedule,
    make: impl FnOnce() -> Result<Box<dyn Schedule>, Failure>,
) -> stratape_status {
    // SAFETY: the caller gives room for a handle.
    call(|| unsafe { put_handle(out, || make().map(OpenSchedule)) })
}

/// Revolve: the fewest steps for a known number of them and `slots` on one level, that of the first state included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_schedule_revolve(
    steps: usize,
    slots: usize,
    on_level: u32,
    out: *mut *mut stratape_schedule,
) -> stratape_status {
    let make = || -> Result<Box<dyn Schedule>, Failure> {
        check_steps(steps)?;
        Ok(Box::new(Revolve::on(level(on_level)?, steps, slots)?))
    };
    // SAFETY: the caller gives room for a handle.
    unsafe { open(out, make) }
}

/// Every state is kept, nothing is recomputed. `STRATAPE_UNKNOWN_STEPS` is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_schedule_store_all(
    steps: usize,
    out: *mut *mut stratape_schedule,
) -> stratape_status {
    let make = || -> Result<Box<dyn Schedule>, Failure> {
        Ok(Box::new(match steps {
            STRATAPE_UNKNOWN_STEPS => StoreAll::unknown(),
            steps => StoreAll::new(steps),
        }))
    };
    // SAFETY: the caller gives room for a handle.
    unsafe { open(out, make) }
}

/// For a number of steps that is found out at the end, and told with `stratape_schedule_finished`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_schedule_online(
    slots: usize,
    on_level: u32,
    out: *mut *mut stratape_schedule,
) -> stratape_status {
    let make = || -> Result<Box<dyn Schedule>, Failure> {
        Ok(Box::new(Online::on(level(on_level)?, slots)?))
    };
    // SAFETY: the caller gives room for a handle.
    unsafe { open(out, make) }
}

/// A state every `period` steps, on one level, and `inner` slots in memory inside a period. `STRATAPE_UNKNOWN_STEPS` is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_schedule_periodic(
    steps: usize,
    period: usize,
    on_level: u32,
    inner: usize,
    out: *mut *mut stratape_schedule,
) -> stratape_status {
    let make = || -> Result<Box<dyn Schedule>, Failure> {
        let steps = (steps != STRATAPE_UNKNOWN_STEPS).then_some(steps);
        Ok(Box::new(Periodic::new(steps, period, level(on_level)?, inner)?))
    };
    // SAFETY: the caller gives room for a handle.
    unsafe { open(out, make) }
}

/// Revolve over memory and disk together, the slots used most in memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_schedule_multistage(
    steps: usize,
    memory_slots: usize,
    disk_slots: usize,
    out: *mut *mut stratape_schedule,
) -> stratape_status {
    let make = || -> Result<Box<dyn Schedule>, Failure> {
        check_steps(steps)?;
        Ok(Box::new(Multistage::new(steps, memory_slots, disk_slots)?))
    };
    // SAFETY: the caller gives room for a handle.
    unsafe { open(out, make) }
}

/// The least time for slots on several levels with costs of their own, the fastest first; running a step costs `forward`, reversing
/// one `backward`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_schedule_hrevolve(
    steps: usize,
    levels: *const stratape_level_costs,
    level_count: usize,
    forward: f64,
    backward: f64,
    out: *mut *mut stratape_schedule,
) -> stratape_status {
    let make = || -> Result<Box<dyn Schedule>, Failure> {
        check_steps(steps)?;
        if levels.is_null() || !(1..=2).contains(&level_count) {
            let text = "one level or two, memory and disk, with their costs";
            return Err(Failure::new(STRATAPE_INVALID, text));
        }
        // SAFETY: the caller lends `level_count` levels.
        let levels = unsafe { std::slice::from_raw_parts(levels, level_count) };
        let levels: Vec<LevelCosts> = levels
            .iter()
            .map(|&stratape_level_costs { slots, write, read }| LevelCosts { slots, write, read })
            .collect();
        Ok(Box::new(HRevolve::new(steps, &levels, forward, backward)?))
    };
    // SAFETY: the caller gives room for a handle.
    unsafe { open(out, make) }
}

/// A slot in memory holds a state or the record of a step: fewer steps than Revolve when they are alike in size.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_schedule_mixed(
    steps: usize,
    slots: usize,
    out: *mut *mut stratape_schedule,
) -> stratape_status {
    let make = || -> Result<Box<dyn Schedule>, Failure> {
        check_steps(steps)?;
        Ok(Box::new(Mixed::new(steps, slots)?))
    };
    // SAFETY: the caller gives room for a handle.
    unsafe { open(out, make) }
}

/// Closes a schedule. Null does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_schedule_close(schedule: *mut stratape_schedule) -> stratape_status {
    call(|| handle::close::<OpenSchedule>(schedule.cast()))
}

/// The next action; `STRATAPE_EMPTY` after the last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_schedule_next(
    schedule: *mut stratape_schedule,
    out: *mut stratape_action,
) -> stratape_status {
    call(|| {
        if out.is_null() {
            // Before the schedule has moved. SAFETY: null is what it reports.
            return unsafe { put(out, Action::EndReverse.into()) };
        }
        handle::with(schedule.cast(), |schedule: &mut OpenSchedule| {
            let action = schedule.0.next().ok_or_else(Failure::empty)?;
            // SAFETY: the caller gives room for an action.
            unsafe { put(out, action.into()) }
        })
    })
}

/// Tells a schedule for an unknown number of steps that there are `steps`: the current state is the last one. To be said in
/// the middle of an advance, which then ends there, or in place of the step to be recorded that was handed out last.
#[unsafe(no_mangle)]
pub extern "C" fn stratape_schedule_finished(
    schedule: *mut stratape_schedule,
    steps: usize,
) -> stratape_status {
    call(|| {
        handle::with(schedule.cast(), |schedule: &mut OpenSchedule| {
            Ok(schedule.0.finished(steps)?)
        })
    })
}

/// The most slots that the schedule uses at once on a level; the greatest number there is for no limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_schedule_slots(
    schedule: *mut stratape_schedule,
    on_level: u32,
    out: *mut usize,
) -> stratape_status {
    call(|| {
        let level = level(on_level)?;
        handle::with(schedule.cast(), |schedule: &mut OpenSchedule| {
            // SAFETY: the caller gives room for a number.
            unsafe { put(out, schedule.0.slots(level)) }
        })
    })
}

/// What the schedule is, in a few words, ended by a zero byte and cut to `capacity`. `length`, if it is not null, tells how long
/// the whole text is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stratape_schedule_describe(
    schedule: *mut stratape_schedule,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> stratape_status {
    call(|| {
        handle::with(schedule.cast(), |schedule: &mut OpenSchedule| {
            // SAFETY: the caller gives room for `capacity` bytes.
            unsafe { text_out(&schedule.0.describe(), buffer, capacity, length) }
        })
    })
}

/// Schedules count steps beyond the last one.
fn check_steps(steps: usize) -> Result<(), Failure> {
    if steps > usize::MAX / 4 {
        let text = "more steps than can be counted; an unknown number needs another schedule";
        return Err(Failure::new(STRATAPE_INVALID, text));
    }
    Ok(())
}
