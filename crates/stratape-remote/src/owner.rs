//! Whose objects are whose: tokens, names, and heartbeats.
//!
//! ```text
//! PREFIX/stratape-TOKEN/heartbeat                  text, written again every minute
//! PREFIX/stratape-TOKEN/slab-LANE-DEPTH-SERIAL     the bytes of one slab, nothing else
//! ```
//!
//! A token is 32 random hexadecimal digits, made when a tier is opened. Nothing outside `stratape-TOKEN/` is ever written or deleted, and
//! nothing inside it that is not called as above.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, UNIX_EPOCH};

use object_store::path::Path;
use stratape_tape::tier::SlabKey;

const DIRECTORY: &str = "stratape-";
const TOKEN_LEN: usize = 32;
const HEARTBEAT: &str = "heartbeat";
const HEAD: &str = "stratape heartbeat, format 1";

/// Random bits: of the system, once a thread, and different at every call.
pub(crate) fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u128(UNIX_EPOCH.elapsed().map_or(0, |now| now.as_nanos()));
    hasher.finish()
}

pub(crate) fn new_token() -> String {
    format!("{:016x}{:016x}", random(), random())
}

fn is_token(text: &str) -> bool {
    text.len() == TOKEN_LEN
        && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The token in the last part of a path, if it is the directory of an owner.
pub(crate) fn token_of(directory: &Path) -> Option<String> {
    let name = directory.filename()?;
    name.strip_prefix(DIRECTORY).filter(|token| is_token(token)).map(str::to_owned)
}

/// Names below `PREFIX/stratape-TOKEN`.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) directory: Path,
}

impl Names {
    pub(crate) fn new(base: &Path, token: &str) -> Self {
        Self { directory: base.clone().join(format!("{DIRECTORY}{token}")) }
    }

    pub(crate) fn heartbeat(&self) -> Path {
        self.directory.clone().join(HEARTBEAT)
    }

    pub(crate) fn slab(&self, key: SlabKey) -> Path {
        let SlabKey { lane, depth, serial } = key;
        self.directory.clone().join(format!("slab-{lane}-{depth}-{serial}"))
    }

    /// What an object is, if it is one of ours.
    pub(crate) fn kind(&self, object: &Path) -> Option<Kind> {
        let mut parts = object.prefix_match(&self.directory)?;
        let (name, None) = (parts.next()?, parts.next()) else { return None };
        let name = name.as_ref();
        if name == HEARTBEAT {
            return Some(Kind::Heartbeat);
        }
        let numbers = name.strip_prefix("slab-")?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        (numbers.split('-').count() == 3 && numbers.split('-').all(is_number)).then_some(Kind::Slab)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Heartbeat,
    Slab,
}

/// The text of a heartbeat. It says how often it is written, so that a reader knows when it is late.
pub(crate) fn heartbeat(every: Duration) -> String {
    format!("{HEAD}\nevery {} ms\nprocess {}\n", every.as_millis(), std::process::id())
}

/// How often a heartbeat says that it is written.
pub(crate) fn read_heartbeat(text: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(text).ok()?;
    let every = text.strip_prefix(HEAD)?.strip_prefix("\nevery ")?.split_once(" ms\n")?.0;
    every.parse().ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let base = Path::from("some/prefix");
        let token = new_token();
        assert!(is_token(&token) && token != new_token());
        let names = Names::new(&base, &token);
        assert_eq!(token_of(&names.directory), Some(token.clone()));
        let key = SlabKey { lane: 1, depth: 2, serial: 3 };
        assert_eq!(names.kind(&names.slab(key)), Some(Kind::Slab));
        assert_eq!(names.kind(&names.heartbeat()), Some(Kind::Heartbeat));
        for other in ["slab-1-2", "slab-1-2-x", "slab-1-2-3-4", "slab-1--3", "heartbeats", "data"] {
            assert_eq!(names.kind(&names.directory.clone().join(other)), None, "{other}");
        }
        assert_eq!(names.kind(&names.heartbeat().join("below")), None);
        assert_eq!(names.kind(&base.clone().join("heartbeat")), None);
        for other in ["stratape", "stratape-", "stratape-0123", "data", &token] {
            assert_eq!(token_of(&base.clone().join(other)), None);
        }
    }

    #[test]
    fn heartbeats_are_read() {
        let every = Duration::from_millis(1500);
        assert_eq!(read_heartbeat(heartbeat(every).as_bytes()), Some(every));
        for wrong in ["", HEAD, "stratape heartbeat, format 1\nevery x ms\n", "\u{fffd}"] {
            assert_eq!(read_heartbeat(wrong.as_bytes()), None);
        }
    }
}
