//! Passes that are legal on adjoints only: they may change their last bits and the order in which they are summed.

mod cheapest;
mod combine_terms;
mod common_factors;
mod fold_coefficients;
mod free_bits;
mod gather_pairs;
mod invariant_factor;
mod reciprocal;
mod scatter_to_gather;
mod sink;

pub use self::combine_terms::COMBINE_TERMS;
pub use self::common_factors::COMMON_FACTORS;
pub use self::fold_coefficients::FOLD_COEFFICIENTS;
pub use self::free_bits::FREE_BITS;
pub use self::gather_pairs::GATHER_PAIRS;
pub use self::invariant_factor::INVARIANT_FACTOR;
pub use self::reciprocal::RECIPROCAL;
pub use self::scatter_to_gather::SCATTER_TO_GATHER;
pub use self::sink::SINK;
