//! What passes ask about a function. Analyses only look: in, a function; out, a table.

mod access_groups;
mod affine;
mod context;
mod def_use;
mod dependence;
mod footprint;
mod reload_safety;
mod reorder;

pub use self::affine::{Affine, Counted};
pub use self::def_use::{DefUse, Definition};
pub use self::dependence::{
    Conflict, Term, independence, is_sum, mark_parallel, ordered_terms, unmark_parallel,
};
pub use self::footprint::{Use, uses};
pub use self::reload_safety::ReloadSafety;
pub use self::reorder::{adjoints_commute, is_reorderable};
pub use crate::Polynomial;
pub use crate::Split;
pub use crate::Window;
