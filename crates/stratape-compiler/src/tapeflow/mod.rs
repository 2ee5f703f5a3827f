//! TapeFlow: the layout of the tape. Which records lie together, and how.

mod layers;
mod regions;

pub use self::layers::LAYERS;
pub use self::regions::{REGIONS, record_bytes};
pub(crate) use self::regions::{
    contains, is_short, is_strip_shaped, only_record, regions, uses_tape,
};
