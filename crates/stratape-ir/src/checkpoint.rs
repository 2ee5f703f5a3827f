//! Loops that are reversed from snapshots instead of being taped whole.

use super::{Opaque, SourceId, ValueId};

/// What `#[checkpoint(…)]` on a loop says.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Numbers: `slots`, `memory`, `disk_slots`, `disk_bytes`.
    pub numbers: Vec<(String, ValueId)>,
    /// The directory for snapshots on disk.
    pub disk: Option<Opaque>,
    /// The strategy.
    pub schedule: Option<Opaque>,
    /// The attribute.
    pub span: SourceId,
}
