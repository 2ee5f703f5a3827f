//! Analyses: what passes ask about a function. In: a function; out: a table. They change nothing, and every answer is conservative: what cannot
//! be proved is reported as unsafe.
//!
//! | module | answers |
//! |---|---|
//! | `def_use` | where is a value defined, how deep in loops |
//! | `affine` | an integer as a polynomial in counters and invariant values; what holds where |
//! | `context` | the loops and branches around a statement |
//! | `footprint` | which elements of an object does an iteration access: a window of its own, or not |
//! | `dependence` | are the iterations of a loop independent, so that they can run in parallel |
//! | `reduction` | is a carried value only added to, where, and by what |
//! | `reorder` | may the iterations of a loop run in any order, up to rounding of adjoints |
//! | `overwrite` | may an access come later than another, and hit the same place |
//! | `changes` | may memory be written between two loads |
//! | `reload_safety` | does memory still hold, at the end, what a load has read |
//! | `versions` | does a load find what a list held at some moment; which part of a list does a piece of the program write |
//! | `access_groups` | can an object be split between what a loop reads and what it writes |

mod access_groups;
mod affine;
mod changes;
mod context;
mod def_use;
mod dependence;
mod footprint;
mod overwrite;
mod reduction;
mod reload_safety;
mod reorder;
mod uniform;
mod versions;

pub use self::access_groups::{asked_first, checks_later, keeps_sums, strided};
pub use self::affine::{Affine, Counted};
pub use self::changes::Changes;
pub use self::def_use::{DefUse, Definition};
pub use self::dependence::{
    Conflict, has_parallel, independence, is_independent, mark_parallel, unmark_parallel,
};
pub use self::footprint::{Use, only_adds, uses, window_of};
pub use self::reduction::{Term, is_sum, only_term, ordered_terms};
pub use self::reload_safety::ReloadSafety;
pub use self::reorder::{adjoints_commute, is_reorderable};
pub use self::uniform::Uniform;
pub use self::versions::{Hull, Versions};
pub use crate::Polynomial;
pub use crate::Split;
pub use crate::Window;
