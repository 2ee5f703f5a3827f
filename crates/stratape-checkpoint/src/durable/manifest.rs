//! The manifest of a run: what it is, how far it is, which files belong to it.
//!
//! Nothing in it is believed because the checksum is right. Names of files are not written down but follow from the step, the number of
//! steps or of those left that a line speaks of: a line that speaks of another one names a file that is not there, and what is missing is
//! computed again. What can be known to be wrong (more steps left than there are, two snapshots in one file) is refused.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write as _;

use stratape_tape::tier::SlabKey;
use stratape_tape::{Stored, checksum};

use super::place::is_token;

const HEAD: &str = "stratape checkpointed run, format 2";

/// What makes a run this run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Types of state and adjoint.
    pub(crate) state: String,
    pub(crate) adjoint: String,
    /// Length and checksum of the first state.
    pub(crate) start: (usize, u32),
    /// Number of steps, or none for `until`.
    pub(crate) steps: Option<usize>,
}

/// Numbers of files are below this, so that counting on never overflows.
const MOST_FILES: u64 = 1 << 48;

/// A file beside the snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Saved {
    pub(crate) number: u64,
    pub(crate) len: usize,
    pub(crate) checksum: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    identity: Identity,
    /// What the names of the run's files begin with.
    pub(crate) token: String,
    /// The number of steps, once the loop has ended.
    pub(crate) ended: Option<usize>,
    /// Steps not reversed yet.
    pub(crate) left: usize,
    pub(crate) last_state: Option<Saved>,
    pub(crate) adjoint: Option<Saved>,
    pub(crate) snapshots: Vec<(usize, Stored)>,
}

impl Manifest {
    pub(crate) fn new(identity: Identity, token: &str) -> Self {
        Self {
            identity,
            token: token.to_owned(),
            ended: None,
            left: 0,
            last_state: None,
            adjoint: None,
            snapshots: Vec::new(),
        }
    }

    /// The last state: what its file is called, after the token.
    pub(crate) fn last_state_file(&self) -> Option<(String, Saved)> {
        let (ended, file) = (self.ended?, self.last_state?);
        Some((format!("final-{ended}-{}", file.number), file))
    }

    /// The adjoint, after all but `left` steps have been reversed.
    pub(crate) fn adjoint_file(&self) -> Option<(String, Saved)> {
        let file = self.adjoint?;
        Some((format!("adjoint-{}-{}", self.left, file.number), file))
    }

    /// The files beside the snapshots.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> + use<> {
        [self.last_state_file(), self.adjoint_file()].into_iter().flatten().map(|(name, _)| name)
    }

    /// The highest number that a file of these has.
    pub(crate) fn last_number(&self) -> Option<u64> {
        self.last_state.iter().chain(&self.adjoint).map(|file| file.number).max()
    }

    /// Reads a manifest and holds it against the run that is to go on; says what is wrong with it.
    /// `token` is that of the directory, if it is known.
    pub(crate) fn parse(
        text: &str,
        identity: &Identity,
        token: Option<&str>,
    ) -> Result<Self, String> {
        let damaged = || "the manifest is damaged".to_owned();
        let (body, last) = text.trim_end().rsplit_once('\n').ok_or_else(damaged)?;
        let mut lines = body.lines();
        if lines.next() != Some(HEAD) {
            return Err(format!("its manifest does not begin with “{HEAD}”"));
        }
        let sum = last.strip_prefix("checksum ").and_then(|sum| sum.parse().ok());
        if sum != Some(checksum(body.as_bytes())) {
            return Err(damaged());
        }
        let mut manifest = Self::new(identity.clone(), "");
        let mut found =
            Identity { state: String::new(), adjoint: String::new(), start: (0, 0), steps: None };
        for line in lines {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            let words: Vec<&str> = value.split(' ').collect();
            let understood = match key {
                "token" => set(&mut manifest.token, Some(value.to_owned())),
                "state" => set(&mut found.state, Some(value.to_owned())),
                "adjoint" => set(&mut found.adjoint, Some(value.to_owned())),
                "start" => set(&mut found.start, pair(&words)),
                "steps" => set(&mut found.steps, words[0].parse().ok().map(Some)),
                "ended" => set(&mut manifest.ended, words[0].parse().ok().map(Some)),
                "left" => set(&mut manifest.left, words[0].parse().ok()),
                "last-state" => set(&mut manifest.last_state, saved(&words).map(Some)),
                "adjoint-file" => set(&mut manifest.adjoint, saved(&words).map(Some)),
                "snapshot" => snapshot(&words).map(|found| manifest.snapshots.push(found)),
                _ => None,
            };
            understood.ok_or_else(damaged)?;
        }
        compare(&found, identity)?;
        if !is_token(&manifest.token) || token.is_some_and(|token| token != manifest.token) {
            return Err("its manifest and its lock are not of one run".to_owned());
        }
        // Every line once, in order, with nothing else in it.
        if manifest.to_string() != text {
            return Err(damaged());
        }
        manifest.check()?;
        Ok(manifest)
    }

    /// Whether what it says can be.
    fn check(&self) -> Result<(), String> {
        let refuse = |what: &str| Err(format!("its manifest contradicts itself: {what}"));
        if let (Some(ended), Some(steps)) = (self.ended, self.identity.steps)
            && ended != steps
        {
            return refuse(&format!("the loop of {steps} steps ended after {ended}"));
        }
        let far = match (self.ended, self.last_state, self.adjoint) {
            (None, None, None) => self.left == 0,
            (Some(ended), Some(_), None) => self.left == ended,
            (Some(ended), Some(last), Some(adjoint)) => {
                self.left > 0 && self.left < ended && last.number != adjoint.number
            }
            _ => false,
        };
        if !far {
            return refuse(&format!("{} steps are left", self.left));
        }
        if self.last_number().is_some_and(|number| number >= MOST_FILES) {
            return refuse("its files have numbers beyond counting");
        }
        let end = self.ended.or(self.identity.steps).unwrap_or(usize::MAX);
        let mut serials = BTreeSet::new();
        let mut next = 0;
        for (step, Stored { key, .. }) in &self.snapshots {
            if *step > end || *step < next {
                return refuse(&format!("a snapshot of step {step}"));
            }
            next = step.saturating_add(1);
            if key.serial >= MOST_FILES || !serials.insert(key.serial) {
                return refuse(&format!("the snapshot of step {step} has the number of another"));
            }
        }
        Ok(())
    }
}

fn set<T>(place: &mut T, value: Option<T>) -> Option<()> {
    *place = value?;
    Some(())
}

fn pair(words: &[&str]) -> Option<(usize, u32)> {
    Some((words.first()?.parse().ok()?, words.get(1)?.parse().ok()?))
}

fn saved(words: &[&str]) -> Option<Saved> {
    let (len, checksum) = pair(words.get(1..)?)?;
    Some(Saved { number: words.first()?.parse().ok()?, len, checksum })
}

fn snapshot(words: &[&str]) -> Option<(usize, Stored)> {
    let step: usize = words.first()?.parse().ok()?;
    let (used, checksum) = pair(words.get(2..)?)?;
    let key = SlabKey { lane: 0, depth: step as u64, serial: words.get(1)?.parse().ok()? };
    Some((step, Stored { key, used, checksum }))
}

fn compare(found: &Identity, wanted: &Identity) -> Result<(), String> {
    if found.state != wanted.state {
        return Err(format!("its state is a `{}`, not a `{}`", found.state, wanted.state));
    }
    if found.adjoint != wanted.adjoint {
        return Err(format!("its adjoint is a `{}`, not a `{}`", found.adjoint, wanted.adjoint));
    }
    if found.start != wanted.start {
        return Err("it began from another state".to_owned());
    }
    if found.steps != wanted.steps {
        let tell = |steps: Option<usize>| {
            steps.map_or("an unknown number of".to_owned(), |steps| steps.to_string())
        };
        return Err(format!("it has {} steps, not {}", tell(found.steps), tell(wanted.steps)));
    }
    Ok(())
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut body = String::from(HEAD);
        let Identity { state, adjoint, start, steps } = &self.identity;
        write!(body, "\ntoken {}", self.token)?;
        write!(body, "\nstate {state}\nadjoint {adjoint}\nstart {} {}", start.0, start.1)?;
        if let Some(steps) = steps {
            write!(body, "\nsteps {steps}")?;
        }
        if let Some(ended) = self.ended {
            write!(body, "\nended {ended}")?;
        }
        write!(body, "\nleft {}", self.left)?;
        for (key, file) in [("last-state", &self.last_state), ("adjoint-file", &self.adjoint)] {
            if let Some(Saved { number, len, checksum }) = file {
                write!(body, "\n{key} {number} {len} {checksum}")?;
            }
        }
        for (step, Stored { key, used, checksum }) in &self.snapshots {
            write!(body, "\nsnapshot {step} {} {used} {checksum}", key.serial)?;
        }
        writeln!(f, "{body}\nchecksum {}", checksum(body.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> (Manifest, Identity) {
        let identity = Identity {
            state: "Vec<f64>".to_owned(),
            adjoint: "(f64, Vec<f64>)".to_owned(),
            start: (80, 7),
            steps: Some(100),
        };
        let mut manifest = Manifest::new(identity.clone(), &"0123456789abcdef".repeat(2));
        manifest.ended = Some(100);
        manifest.left = 60;
        manifest.last_state = Some(Saved { number: 0, len: 80, checksum: 9 });
        manifest.adjoint = Some(Saved { number: 1, len: 88, checksum: 10 });
        let key = SlabKey { lane: 0, depth: 40, serial: 12 };
        manifest.snapshots.push((40, Stored { key, used: 80, checksum: 11 }));
        (manifest, identity)
    }

    #[test]
    fn what_is_written_is_read() {
        let (manifest, identity) = manifest();
        assert_eq!(Manifest::parse(&manifest.to_string(), &identity, None).unwrap(), manifest);
    }

    #[test]
    fn every_change_of_a_byte_is_noticed() {
        let (manifest, identity) = manifest();
        let text = manifest.to_string();
        for at in 0..text.len() - 1 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            assert!(Manifest::parse(&changed, &identity, None).is_err(), "byte {at}");
            assert!(Manifest::parse(&text[..at], &identity, None).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn other_runs_are_told_apart() {
        let (manifest, identity) = manifest();
        let text = manifest.to_string();
        let refused = |identity: Identity| Manifest::parse(&text, &identity, None).unwrap_err();
        let state = Identity { state: "Vec<f32>".to_owned(), ..identity.clone() };
        assert!(refused(state).contains("its state is a `Vec<f64>`, not a `Vec<f32>`"));
        assert!(
            refused(Identity { steps: Some(101), ..identity.clone() })
                .contains("100 steps, not 101")
        );
        assert!(refused(Identity { steps: None, ..identity.clone() }).contains("not an unknown"));
        assert!(refused(Identity { start: (80, 8), ..identity }).contains("another state"));
    }
}
