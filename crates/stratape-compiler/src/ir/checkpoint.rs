//! Loops that are reversed from snapshots instead of being taped whole.

use proc_macro2::{Span, TokenStream};

use super::ValueId;

/// What `#[checkpoint(…)]` on a loop says.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Numbers: `slots`, `memory`, `disk_slots`, `disk_bytes`.
    pub numbers: Vec<(String, ValueId)>,
    /// The directory for snapshots on disk.
    pub disk: Option<TokenStream>,
    /// The strategy.
    pub schedule: Option<TokenStream>,
    /// The attribute.
    pub span: Span,
}
