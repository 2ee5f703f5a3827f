//! Passes that change the shape of loops, and the mark of those that may run in any order.

mod coalesce;
mod counted;
mod fusion;
mod interchange;
mod peel;
mod reduction_nest;
mod reorderable;
mod rewrite;
mod rotate;
mod unroll;
mod unroll_and_jam;

pub use self::coalesce::COALESCE;
pub use self::counted::COUNTED;
pub use self::fusion::LOOP_FUSION;
pub use self::interchange::INTERCHANGE;
pub use self::peel::PEEL;
pub use self::reorderable::REORDERABLE;
pub(crate) use self::rewrite::{find_loops, has_room, parallel_loops, replace_loops, shifted};
pub use self::rotate::ROTATE;
pub use self::unroll::UNROLL;
pub use self::unroll_and_jam::UNROLL_AND_JAM;
