//! From [`TapeOptions`] to the parts of a tape: settings are checked, the tier below is found or made, and a depot and a
//! ladder are put on it. The calls that open a tape (`open.rs`) put its head on top.

use std::any::TypeId;
use std::sync::Arc;

use crate::block::BLOCK_ALIGN;
use crate::codec::{Codec, Packing};
use crate::depot::Depot;
use crate::error::{ErrorKind, TapeError};
use crate::ladder::{Ladder, Plan, StoredSlab, check_memory};
use crate::options::{DEFAULT_SLAB, TapeOptions};
use crate::pool::Pool;
use crate::saved::SavedReader;
use crate::tier::{DiskOptions, DiskTier, Tier};

/// A tier for a tape.
struct Below {
    tier: Arc<dyn Tier>,
    /// The device of a tier of ours; none for the user's.
    device: Option<u64>,
}

/// A depot on the disk or the user's tier.
pub(crate) fn depot(options: &TapeOptions, packing: Packing) -> Result<Arc<Depot>, TapeError> {
    Ok(depot_on(below(options)?, options, packing))
}

fn depot_on(below: Below, options: &TapeOptions, packing: Packing) -> Arc<Depot> {
    let codec = Codec { checksum: options.checksum, packing };
    Arc::new(Depot::new(below.tier, below.device, codec, pool(options)))
}

/// The user's tier, or a spill file.
fn below(options: &TapeOptions) -> Result<Below, TapeError> {
    if let Some(tier) = &options.tier {
        return Ok(Below { tier: Arc::clone(tier), device: None });
    }
    let tier = DiskTier::on_shared_engine(disk(options))?;
    let device = Some(tier.device());
    Ok(Below { tier: Arc::new(tier), device })
}

fn disk(options: &TapeOptions) -> DiskOptions {
    DiskOptions {
        engine: options.engine,
        direct: options.direct,
        in_flight: options.in_flight,
        limit: options.disk_limit,
        ..DiskOptions::new(options.directory.clone().unwrap_or_else(std::env::temp_dir))
    }
}

/// Where slab memory comes from.
pub(crate) fn pool(options: &TapeOptions) -> Pool {
    options.pool.clone().unwrap_or_else(|| Pool::global().clone())
}

/// A ladder of slabs with `per_slab` elements of `size` bytes each.
pub(crate) fn ladder(
    options: &TapeOptions,
    depot: Option<Arc<Depot>>,
    size: usize,
    per_slab: usize,
) -> Result<Ladder, TapeError> {
    if options.slab == Some(0) {
        return Err(refused("slabs of zero bytes; leave `slab_bytes` unset for the default"));
    }
    if options.in_flight == 0 {
        return Err(refused("zero slabs in flight; at least one must be able to move"));
    }
    let slab_len = (per_slab * size).next_multiple_of(BLOCK_ALIGN);
    check_memory(options.memory, slab_len)?;
    Ok(Ladder::new(Plan {
        slab_len,
        memory: options.memory,
        in_flight: options.in_flight,
        patience: options.patience,
        pool: pool(options),
        depot,
        record: options.record,
    }))
}

/// A ladder whose slabs are all in a saved file, over the tier of the options for new ones.
pub(crate) fn saved_ladder(
    options: &TapeOptions,
    saved: SavedReader,
    size: usize,
) -> Result<Ladder, TapeError> {
    let Below { tier, device } = below(options)?;
    let per_slab = saved.per_slab();
    let slabs: Vec<StoredSlab> = saved.slabs().collect();
    let tier = Arc::new(saved.into_tier(&disk(options), tier)?);
    let depot = depot_on(Below { tier, device }, options, Packing::Plain);
    let mut ladder = ladder(options, Some(depot), size, per_slab)?;
    ladder.adopt(slabs);
    Ok(ladder)
}

/// How slabs of `T` are packed.
pub(crate) fn packing<T: 'static>(options: &TapeOptions) -> Result<Packing, TapeError> {
    if !options.compression {
        return Ok(Packing::Plain);
    }
    let id = TypeId::of::<T>();
    #[cfg(feature = "compression")]
    if id == TypeId::of::<f64>() {
        return Ok(Packing::F64);
    } else if id == TypeId::of::<f32>() {
        return Ok(Packing::F32);
    }
    let name = std::any::type_name::<T>();
    Err(refused(&format!("compression of `{name}` ({id:?}); it works for f32 and f64")))
}

/// How slabs of records are packed: not at all.
pub(crate) fn record_packing(options: &TapeOptions) -> Result<Packing, TapeError> {
    if options.compression {
        return Err(refused("records mix types; compression works for f32 and f64 tapes"));
    }
    Ok(Packing::Plain)
}

/// The options for each of `count` lanes, which share the budget.
pub(crate) fn share(options: TapeOptions, count: usize) -> Result<TapeOptions, TapeError> {
    let total = options.memory;
    match total.checked_div(count) {
        // The slabs that follow from the budget fit it.
        Some(memory) if options.slab.is_some_and(|slab| slab > memory / 2) => {
            Err(refused(&format!(
                "a memory budget of {total} bytes, shared by {count} tapes: each needs two slabs; raise `memory`, lower `slab_bytes`, or \
             ask for fewer lanes"
            )))
        }
        Some(memory) => Ok(options.memory(memory)),
        None => Err(refused("a set of zero lanes; ask for one lane a worker")),
    }
}

/// Whether a layered tape can hold elements of `T`.
pub(crate) fn check_elements<T>() -> Result<(), TapeError> {
    let (size, align) = (size_of::<T>(), align_of::<T>());
    if size == 0 {
        return Err(refused("elements of zero size hold nothing to spill; use `Tape`"));
    }
    if align > BLOCK_ALIGN {
        return Err(refused(&format!(
            "elements aligned to {align} bytes in slabs aligned to {BLOCK_ALIGN}; use `Tape`"
        )));
    }
    Ok(())
}

/// Whether there is a directory for the spill file, which is made later.
pub(crate) fn check_directory(options: &TapeOptions) -> Result<(), TapeError> {
    let path = disk(options).directory;
    let found = std::fs::metadata(&path).and_then(|found| {
        if found.is_dir() { Ok(()) } else { Err(std::io::ErrorKind::NotADirectory.into()) }
    });
    found.map_err(|source| ErrorKind::SpillDirectory { path, source }.into())
}

/// Elements of `size` bytes in a slab: a power of two.
pub(crate) fn per_slab(options: &TapeOptions, size: usize) -> usize {
    let size = size.max(1);
    let wanted = options.slab.unwrap_or_else(|| DEFAULT_SLAB.min(options.memory / 8));
    1 << (wanted / size).max(1).ilog2()
}

pub(crate) fn refused(what: &str) -> TapeError {
    ErrorKind::Options(what.to_owned()).into()
}
