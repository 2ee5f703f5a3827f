//! On-chip energy per access, by the size of what is accessed.
//!
//! The figures are those of the TapeFlow paper's Table III, in the table's unit. It calls them pJ, where its text speaks of 10 pJ for a
//! scratchpad and 300 pJ for a cache access: ratios are meaningful, the unit is not. An access is a load or a store of the program; fills,
//! write-backs and streams cost nothing here, which is how the published ratios come about.

/// One entry of the table.
const CACHES: [(u64, u64); 8] = [
    (1 << 10, 120),
    (2 << 10, 440),
    (4 << 10, 450),
    (8 << 10, 460),
    (16 << 10, 470),
    (32 << 10, 2990),
    (64 << 10, 10_800),
    (128 << 10, 11_350),
];

/// An access to the scratchpad.
pub const SCRATCHPAD: u64 = 100;

/// An access to a cache of `bytes`. Nothing is interpolated: a size between two entries of the table takes the larger one. `None` above the
/// largest entry, 128k.
///
/// ```
/// use stratape_model::energy;
/// assert_eq!(energy::cache(32 << 10), Some(2990));
/// assert_eq!(energy::cache(24 << 10), Some(2990));
/// assert_eq!(energy::cache(256 << 10), None);
/// ```
pub fn cache(bytes: u64) -> Option<u64> {
    CACHES.iter().find(|(size, _)| bytes <= *size).map(|(_, energy)| *energy)
}
