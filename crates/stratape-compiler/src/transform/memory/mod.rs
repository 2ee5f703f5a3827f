//! Passes that change what lies in memory, and how.

mod aos_to_soa;
mod argmax;
mod dead_init;
mod dead_stores;
mod forward_copies;
mod invariant_slice;
mod iteration;
mod localize;
mod precompute;
mod scalar_promotion;
mod small_arrays;
mod split_structs;
mod swap_copies;
mod tabulate;

pub use self::aos_to_soa::AOS_TO_SOA;
pub use self::argmax::ARGMAX;
pub use self::dead_init::DEAD_INIT;
pub use self::dead_stores::DEAD_STORES;
pub use self::forward_copies::FORWARD_COPIES;
pub(crate) use self::invariant_slice::{InvariantSlice, Outer, Replay, table};
pub use self::localize::LOCALIZE;
pub use self::precompute::PRECOMPUTE;
pub use self::scalar_promotion::SCALAR_PROMOTION;
pub use self::small_arrays::SMALL_ARRAYS;
pub(crate) use self::small_arrays::Unroller;
pub use self::split_structs::SPLIT_STRUCTS;
pub use self::swap_copies::SWAP_COPIES;
pub use self::tabulate::TABULATE;
