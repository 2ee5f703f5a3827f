//! Simplification: the classical scalar passes.

mod bounds;
mod cse;
mod dce;
mod if_conversion;
mod induction;
mod licm;
mod triangle;

pub use self::bounds::BOUNDS;
pub(crate) use self::cse::written;
pub use self::cse::{CSE, GRADIENT_CSE};
pub use self::dce::DCE;
pub use self::if_conversion::IF_CONVERSION;
pub use self::induction::INDUCTION;
pub use self::licm::LICM;
