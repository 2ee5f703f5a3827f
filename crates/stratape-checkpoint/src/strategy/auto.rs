//! `Auto`: the schedule that takes the least time, as far as that can be told beforehand.
//!
//! With a disk there are four families to choose from: Revolve, which leaves the disk alone; Multistage with all slots on disk or some of them; Periodic
//! with any period; H-Revolve, with transfers that cost what they take or, since they overlap with steps, a part of it. Each member is first
//! estimated by formulas. Then the [model](super::model) goes through them, the most promising first, until the estimates of the rest are no
//! better than the best time found. Choosing may take a fiftieth of the time that the run will take; when that is spent, what is left is
//! judged by its estimate.

use std::time::Duration;

use super::model::{Costs, Time, simulate};
use super::{Chosen, Room, h_revolve};
use crate::error::CheckpointError;
use crate::report::Count;
use crate::schedule::{
    Level, Multistage, Online, Periodic, Revolve, Schedule, ScheduleError, StoreAll, extra_steps,
    repetitions,
};

/// The part of a run's time that choosing its schedule may take.
const PART: f64 = 0.02;
/// Seconds that choosing may take whatever the run takes, and filling tables once more: measuring takes as long.
const LEAST: f64 = 1e-3;
/// Seconds that it may take at most.
const MOST: f64 = 0.5;
/// Seconds that the model takes for an action, and actions of a schedule for each of its steps.
const ACTION: f64 = 50e-9;
const ACTIONS: f64 = 6.0;
/// Seconds for an entry of H-Revolve's table and a place to split.
const ADDITION: f64 = 2.5e-9;
/// The part of the time that tables may save at most, and that filling them may take.
const PAID: f64 = 0.1;
/// Less than this part of the time is not worth a table.
const WORTH: f64 = 0.03;
/// Members of a family differ by this factor in the slots or the period.
const FACTOR: f64 = 1.2;
/// Parts of the time of a transfer that H-Revolve takes it to cost.
const OVERLAPS: [f64; 4] = [0.5, 1.0, 0.2, 0.05];

pub(super) fn choose_known(
    steps: usize,
    room: Room,
    costs: impl FnOnce() -> Costs,
) -> Result<Chosen, CheckpointError> {
    if room.memory >= steps {
        let why = "there is room in memory for every state".to_owned();
        return Ok(Chosen { schedule: Box::new(StoreAll::new(steps)), why });
    }
    if room.disk == 0 {
        let why = format!(
            "with {} in memory and no disk, no schedule runs fewer steps ({:.2} a step)",
            Count(room.memory, "slot"),
            extra_steps(steps, room.memory.max(1)) as f64 / steps as f64
        );
        return Ok(Chosen { schedule: Box::new(Revolve::new(steps, room.memory)?), why });
    }
    let costs = costs();
    let choice = choose(steps, room, costs).ok_or(ScheduleError::NoSlots)?;
    let why = choice.why(steps, costs);
    Ok(Chosen { schedule: choice.schedule, why })
}

pub(super) fn choose_unknown(
    room: Room,
    costs: impl FnOnce() -> Costs,
) -> Result<Chosen, CheckpointError> {
    if room.disk == 0 {
        let why = "the number of steps is unknown, and there is no disk".to_owned();
        return Ok(Chosen { schedule: Box::new(Online::new(room.memory)?), why });
    }
    let costs = costs();
    let period = costs.period().max(2);
    if room.disk != usize::MAX {
        // The slots on disk may not last; those of both are used as they come.
        let why = format!(
            "the number of steps is unknown, and {} on disk {} not endless",
            Count(room.disk, "slot"),
            if room.disk == 1 { "is" } else { "are" }
        );
        let online = if room.memory >= room.disk {
            Online::new(room.memory)?
        } else {
            Online::on(Level::DISK, room.disk)?
        };
        return Ok(Chosen { schedule: Box::new(online), why });
    }
    let why = format!(
        "the number of steps is unknown, and the disk keeps up with a snapshot every {period} steps"
    );
    let inner = room.memory.min(period - 1);
    Ok(Chosen { schedule: Box::new(Periodic::new(None, period, Level::DISK, inner)?), why })
}

/// A schedule that could be followed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Member {
    Revolve,
    /// With so many slots on disk.
    Multistage(usize),
    Periodic(usize),
    /// With transfers that cost this part of their time.
    HRevolve(f64),
}

impl Member {
    fn schedule(
        self,
        steps: usize,
        room: Room,
        costs: Costs,
    ) -> Result<Box<dyn Schedule>, ScheduleError> {
        Ok(match self {
            Self::Revolve => Box::new(Revolve::new(steps, room.memory)?),
            Self::Multistage(disk) => Box::new(Multistage::new(steps, room.memory, disk)?),
            Self::Periodic(period) => {
                let inner = room.memory.min(period - 1);
                Box::new(Periodic::new(Some(steps), period, Level::DISK, inner)?)
            }
            Self::HRevolve(part) => {
                let (write, read) = (costs.write * part, costs.read * part);
                // Where a disk keeps up, nothing is waited for.
                let costs = (costs.forward, costs.backward(), write, read);
                Box::new(h_revolve(steps, room, costs)?)
            }
        })
    }

    /// How long it takes at least, or not much less; and at most, or not much more.
    fn estimate(self, steps: usize, room: Room, costs: Costs) -> Estimate {
        let n = steps as f64;
        let all = room.memory.saturating_add(room.disk).min(steps).max(1);
        let again = |slots: usize| extra_steps(steps, slots) as f64 - (n - 1.0);
        // Steps run again; snapshots written in the loop, and moved in the reversal.
        let (again, written, moved) = match self {
            Self::Revolve => (again(room.memory), 0.0, 0.0),
            Self::Multistage(disk) => {
                let slots = room.memory.saturating_add(disk).min(steps);
                let moved = Multistage::transfers(steps, room.memory, disk) as f64;
                let written = (disk as f64).min(moved / 2.0);
                (again(slots), written, moved - written)
            }
            Self::Periodic(period) => {
                let inner = room.memory.min(period - 1) + 1;
                let periods = n / period as f64;
                let reads = repetitions(period, inner) as f64;
                (periods * extra_steps(period, inner) as f64, periods, periods * reads)
            }
            // As few as there can be: what it moves is known when its table is filled.
            Self::HRevolve(_) => (again(all), 0.0, 0.0),
        };
        // Whether writes or reads, is not told apart.
        let (quick, each) = (costs.write.min(costs.read), (costs.write + costs.read) / 2.0);
        // Some are still being written when the loop has ended.
        let written_in_loop = (written - room.staged.writes as f64).max(0.0) * costs.write;
        let loop_time = n * costs.forward;
        let reversal = again * costs.forward + n * costs.backward();
        // Nearly every reversal begins with a load, and in memory as many copies are made as states loaded.
        let copies = (written + moved + (n - moved).max(0.0)) * costs.copy;
        let overlapping = loop_time.max(written_in_loop) + reversal.max(moved * quick);
        let one_by_one = |each| loop_time + reversal + written * costs.write + moved * each;
        let least = 0.9 * copies + if room.synchronous { one_by_one(quick) } else { overlapping };
        Estimate { least, most: copies + one_by_one(each) }
    }

    /// Seconds that it takes to try it.
    fn effort(self, steps: usize, room: Room) -> f64 {
        let n = steps as f64;
        let table = match self {
            Self::HRevolve(_) => {
                let slots = room.memory.min(steps) as f64 + room.disk.min(steps) as f64;
                n * n / 2.0 * slots * ADDITION
            }
            _ => 0.0,
        };
        table + n * ACTIONS * ACTION
    }
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// Every transfer overlaps with steps, as far as there are such.
    least: f64,
    /// None does.
    most: f64,
}

impl Estimate {
    /// Where half of what may overlap does.
    fn middle(&self) -> f64 {
        self.least.midpoint(self.most)
    }
}

/// All that are worth a look.
fn members(steps: usize, room: Room) -> Vec<Member> {
    let mut members = vec![];
    if room.memory > 0 {
        members.push(Member::Revolve);
    }
    let disk = room.disk.min(steps);
    let mut slots = disk as f64;
    while slots >= 1.0 {
        members.push(Member::Multistage(slots as usize));
        slots = (slots / FACTOR).min((slots - 1.0).floor());
    }
    let mut period = steps.div_ceil(room.disk).max(2);
    while period < steps {
        members.push(Member::Periodic(period));
        period = ((period as f64 * FACTOR) as usize).max(period + 1);
    }
    match room.synchronous {
        true => members.push(Member::HRevolve(1.0)),
        false => members.extend(OVERLAPS.map(Member::HRevolve)),
    }
    members
}

struct Choice {
    schedule: Box<dyn Schedule>,
    time: Time,
    /// Those that are not taken, and how long they would take: one of a family.
    others: Vec<(String, f64)>,
    /// Seconds that it took to choose.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests count it as part of the run"))]
    effort: f64,
}

/// Tries the members, the most promising first, and those that need a table last.
fn choose(steps: usize, room: Room, costs: Costs) -> Option<Choice> {
    let mut members: Vec<(Estimate, Member)> = members(steps, room)
        .into_iter()
        .map(|member| (member.estimate(steps, room, costs), member))
        .collect();
    members.sort_by(|(one, _), (other, _)| one.least.total_cmp(&other.least));
    let (tables, members): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|(_, member)| matches!(member, Member::HRevolve(_)));
    let most = (members.first()?.0.least * PART).clamp(LEAST, MOST);
    let mut tried = Tried { best: None, others: Vec::new(), effort: 0.0 };
    for (estimate, member) in members {
        let middle = estimate.middle();
        if tried.effort + member.effort(steps, room) <= most {
            tried.consider(member, estimate, (steps, room, costs));
        } else if middle < tried.least() {
            tried.take(member, middle, (steps, room, costs));
        } else {
            tried.others.push((member, middle));
        }
    }
    let paid = tried.effort;
    for (estimate, member) in tables {
        let gain = tried.least() - estimate.least;
        let effort = tried.effort - paid + member.effort(steps, room);
        let limit = (gain * PAID).min(tried.least() * PART).clamp(LEAST, MOST);
        if effort <= limit && gain > WORTH * tried.least() {
            tried.consider(member, estimate, (steps, room, costs));
        }
    }
    let (_, time, schedule) = tried.best?;
    let others = name(tried.others, steps, room, costs);
    Some(Choice { schedule, time, others, effort: tried.effort })
}

/// What has been gone through.
struct Tried {
    best: Option<(Member, Time, Box<dyn Schedule>)>,
    others: Vec<(Member, f64)>,
    effort: f64,
}

impl Tried {
    fn least(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |(_, time, _)| time.total)
    }

    fn take(&mut self, member: Member, total: f64, (steps, room, costs): (usize, Room, Costs)) {
        let Ok(schedule) = member.schedule(steps, room, costs) else { return };
        let advanced = (total / costs.forward - 3.0 * steps as f64).max(0.0);
        self.replace(member, Time { total, waited: 0.0, advanced }, schedule);
    }

    fn replace(&mut self, member: Member, time: Time, schedule: Box<dyn Schedule>) {
        if let Some((before, time, _)) = self.best.replace((member, time, schedule)) {
            self.others.push((before, time.total));
        }
    }

    fn consider(
        &mut self,
        member: Member,
        estimate: Estimate,
        (steps, room, costs): (usize, Room, Costs),
    ) {
        let least = self.least();
        if estimate.least >= least {
            return self.others.push((member, estimate.middle()));
        }
        let Ok(schedule) = member.schedule(steps, room, costs) else { return };
        self.effort += member.effort(steps, room);
        match simulate(schedule.fork(), steps, room, costs, least) {
            None => self.others.push((member, estimate.middle().max(least))),
            Some(time) => self.replace(member, time, schedule),
        }
    }
}

/// The best of each family, in words.
fn name(
    mut others: Vec<(Member, f64)>,
    steps: usize,
    room: Room,
    costs: Costs,
) -> Vec<(String, f64)> {
    others.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let mut families = Vec::new();
    let mut named = Vec::new();
    for (member, time) in others {
        let family = std::mem::discriminant(&member);
        // A table is not filled for its name.
        if matches!(member, Member::HRevolve(_)) || families.contains(&family) {
            continue;
        }
        families.push(family);
        if let Ok(schedule) = member.schedule(steps, room, costs) {
            named.push((schedule.describe(), time));
        }
    }
    named
}

impl Choice {
    fn why(&self, steps: usize, costs: Costs) -> String {
        let time = |seconds: f64| Duration::from_secs_f64(seconds.clamp(0.0, 1e6));
        let Time { total, waited, advanced } = self.time;
        let mut why = format!(
            "a step takes {:?}, writing a snapshot {:?}, reading one {:?}, so that it runs {:.2} steps a step and {}",
            time(costs.forward),
            time(costs.write),
            time(costs.read),
            advanced / steps.max(1) as f64,
            if waited > 0.1 * total { "is bound by the disk" } else { "hides the disk" }
        );
        for (other, other_time) in &self.others {
            why += &format!("; {other} would take {:.2} times as long", other_time / total);
        }
        why
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::Staged;

    /// The best of what a user could ask for by name, and what it is. The time to fill a table is part of it.
    fn best_single(steps: usize, room: Room, costs: Costs) -> (f64, String) {
        let mut singles = vec![Member::Multistage(room.disk)];
        if room.memory > 0 {
            singles.push(Member::Revolve);
        }
        let mut period = steps.div_ceil(room.disk).max(1);
        while period <= steps {
            singles.push(Member::Periodic(period));
            period = (period as f64 * 1.1) as usize + 1;
        }
        singles.extend([1.0, 0.4, 0.1].map(Member::HRevolve));
        let mut best = (f64::INFINITY, String::new());
        for member in singles {
            let table = matches!(member, Member::HRevolve(_));
            let planning = if table { member.effort(steps, room) } else { 0.0 };
            // Tables of more than four million additions would make this test take minutes.
            if planning > 0.01 || planning + member.estimate(steps, room, costs).least >= best.0 {
                continue;
            }
            let schedule = member.schedule(steps, room, costs).unwrap();
            if let Some(time) = simulate(schedule, steps, room, costs, best.0 - planning) {
                best = (time.total + planning, format!("{member:?}"));
            }
        }
        best
    }

    /// `Auto` took all transfers of a run to overlap with all of its steps, measured them one at a time, weighed one period and one table, and
    /// filled the table whatever that cost: loops took up to 1.36 of the time in memory where Multistage took 1.19.
    #[test]
    fn auto_is_near_the_best_of_all_that_can_be_asked_for() {
        for steps in [30, 200, 2000] {
            for (memory, disk) in [(0, 20), (1, 5), (2, 100), (10, 40), (40, 20)] {
                for forward in [1e-6, 3e-5, 3e-3] {
                    // Copied at 8 GB/s; written at 1 GB/s and read at 2, each after 50 µs.
                    for bytes in [1e3, 1e5, 1e7, 3e8] {
                        let costs = Costs {
                            forward,
                            copy: bytes / 8e9,
                            write: 5e-5 + bytes / 1e9,
                            read: 5e-5 + bytes / 2e9,
                        };
                        if memory < steps && (steps < 2000 || forward * bytes < 0.2) {
                            hold_against_singles(steps, memory, disk, costs);
                        }
                    }
                }
            }
        }
    }

    fn hold_against_singles(steps: usize, memory: usize, disk: usize, costs: Costs) {
        for synchronous in [false, true] {
            let staged = Staged { writes: 2, reads: 2 };
            let room = Room { memory, disk, staged, synchronous };
            let (least, single) = best_single(steps, room, costs);
            let Choice { schedule, time, effort, .. } = choose(steps, room, costs).unwrap();
            let described = schedule.describe();
            let simulated = simulate(schedule, steps, room, costs, f64::INFINITY).unwrap().total;
            // Choosing is part of what it takes, but for what is over in no time.
            let taken = simulated.max(time.total) + (effort - 2.0 * LEAST).max(0.0);
            assert!(
                taken <= 1.05 * least,
                "{steps} steps, {memory} + {disk}, {costs:?}, synchronous {synchronous}: {described} takes {simulated}, {} predicted, \
                 {effort} to choose; {single} takes {least}: {:.3}",
                time.total,
                taken / least
            );
        }
    }

    #[test]
    fn without_a_disk_it_is_revolve_and_with_room_for_all_it_is_all() {
        let staged = Staged { writes: 2, reads: 2 };
        let chosen = |memory, disk| {
            let room = Room { memory, disk, staged, synchronous: false };
            choose_known(100, room, || Costs::UNKNOWN).unwrap().schedule.describe()
        };
        assert!(chosen(5, 0).starts_with("Revolve"));
        assert!(chosen(100, 7).starts_with("StoreAll"));
    }

    #[test]
    fn choosing_for_a_very_long_loop_takes_no_longer() {
        let staged = Staged { writes: 2, reads: 2 };
        let room = Room { memory: 10, disk: 1000, staged, synchronous: false };
        for (steps, forward) in [(1_000_000_000, 1e-3), (1_000_000_000, 1e-8), (300_000, 1e-7)] {
            let costs = Costs { forward, copy: forward, write: forward, read: forward };
            let start = std::time::Instant::now();
            choose(steps, room, costs).unwrap();
            assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        }
    }
}
