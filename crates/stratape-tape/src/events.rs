//! Events for who listens to `tracing`; without the feature `spill`, for nobody.

#[cfg(feature = "spill")]
pub(crate) use tracing::{debug, error, info, trace, warn};

/// Nothing, whatever is told.
#[cfg(not(feature = "spill"))]
macro_rules! untold {
    ($($told:tt)*) => {
        ()
    };
}

#[cfg(not(feature = "spill"))]
#[allow(unused_imports, reason = "some are for one engine alone")]
pub(crate) use {
    untold as debug, untold as error, untold as info, untold as trace, untold as warn,
};
