//! What passes ask about a function. Analyses only look: in, a function; out, a table.

mod activity;
mod affine;
mod around;
mod clobber;
mod definition;
mod groups;
mod independent;
mod window;

pub use self::activity::Activity;
pub use self::affine::{Affine, Counted, Polynomial};
pub use self::clobber::Clobbers;
pub use self::definition::{Definition, Definitions};
pub use self::groups::Split;
pub use self::independent::{
    Conflict, Term, independence, is_sum, mark_parallel, ordered_terms, unmark_parallel,
};
pub use self::window::{Use, Window, uses};
