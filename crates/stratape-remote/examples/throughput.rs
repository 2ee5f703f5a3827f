//! What the tier adds to a bare client of an object store: the same objects, the same number at once, side by side.
//!
//! ```text
//! cargo run --release -p stratape-remote --example throughput                       # in memory, and in the directory for temporary files
//! cargo run --release -p stratape-remote --example throughput -- file:///data/tapes # in a directory
//! ```
//!
//! Both write blocks of the caller's memory and read into such blocks. The bare client copies a block for a store that keeps what it is
//! handed (the one in memory) and borrows it otherwise; what it reads it copies into the block, since that is where it is wanted.
//! The tier is measured by itself, not below a tape: checksums are the tape's.

#![forbid(unsafe_code)]

use std::error::Error;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use stratape_remote::{RemoteOptions, RemoteTier};
use stratape_tape::tier::{Block, SlabKey, Tier, TierError};

const OBJECT: usize = 1 << 20;
const OBJECTS: u64 = 256;
const AT_ONCE: usize = 16;
const ROUNDS: usize = 9;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    println!(
        "{OBJECTS} objects of {} KiB, {AT_ONCE} at once; median of {ROUNDS} rounds, in MB/s",
        OBJECT >> 10
    );
    println!("{:<24} {:>10} {:>10} {:>7}", "", "bare", "tier", "ratio");
    let named: Vec<String> = std::env::args().skip(1).collect();
    if named.is_empty() {
        compare("memory", &(Arc::new(InMemory::new()) as _), true)?;
        let directory =
            std::env::temp_dir().join(format!("stratape-throughput-{}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        let compared = in_directory("directory", &directory);
        std::fs::remove_dir_all(&directory)?;
        compared?;
    }
    for url in named {
        let path = url.strip_prefix("file://").ok_or("name a directory: file:///data/tapes")?;
        in_directory(&url, path.as_ref())?;
    }
    Ok(())
}

fn in_directory(name: &str, directory: &std::path::Path) -> Outcome<()> {
    let store = LocalFileSystem::new_with_prefix(directory)?.with_automatic_cleanup(true);
    compare(name, &(Arc::new(store) as _), false)
}

fn compare(name: &str, store: &Arc<dyn ObjectStore>, keeps: bool) -> Outcome<()> {
    let tier = RemoteTier::on(Arc::clone(store), "tier", RemoteOptions::new().in_flight(AT_ONCE))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut blocks = Vec::new();
    for number in 0..AT_ONCE {
        let mut block = Block::zeroed(OBJECT)?;
        block.bytes_mut().fill(number as u8 + 1);
        blocks.push(block);
    }
    let source: Vec<Bytes> =
        blocks.iter().map(|block| Bytes::copy_from_slice(block.bytes())).collect();
    let (mut bare, mut ours) = ([const { Vec::new() }; 2], [const { Vec::new() }; 2]);
    for round in 0..ROUNDS + 1 {
        let begun = Instant::now();
        runtime.block_on(write_bare(store, &source, keeps))?;
        let wrote = begun.elapsed();
        let begun = Instant::now();
        runtime.block_on(read_bare(store, &mut blocks))?;
        let read = begun.elapsed();
        runtime.block_on(delete_bare(store))?;

        let begun = Instant::now();
        blocks = move_all(&tier, blocks, round as u64, Tier::write)?;
        let we_wrote = begun.elapsed();
        let begun = Instant::now();
        blocks = move_all(&tier, blocks, round as u64, Tier::read)?;
        let we_read = begun.elapsed();
        (0..OBJECTS).for_each(|number| tier.forget(key(number, round as u64)));
        while tier.stats().objects_deleted < OBJECTS * (round as u64 + 1) {
            std::thread::sleep(Duration::from_millis(1));
        }
        // The first round touches memory and makes directories.
        if round > 0 {
            bare[0].push(wrote);
            bare[1].push(read);
            ours[0].push(we_wrote);
            ours[1].push(we_read);
        }
    }
    for (way, (bare, ours)) in ["write", "read"].iter().zip(bare.iter_mut().zip(&mut ours)) {
        let (bare, ours) = (rate(bare), rate(ours));
        println!("{:<24} {bare:>10.0} {ours:>10.0} {:>7.2}", format!("{name}, {way}"), ours / bare);
    }
    tier.close()?;
    Ok(())
}

fn rate(times: &mut [Duration]) -> f64 {
    times.sort();
    (OBJECTS as usize * OBJECT) as f64 / 1e6 / times[times.len() / 2].as_secs_f64()
}

fn key(number: u64, round: u64) -> SlabKey {
    SlabKey { lane: 0, depth: number, serial: round }
}

fn path(number: u64) -> Path {
    Path::from(format!("bare/{number}"))
}

async fn write_bare(store: &Arc<dyn ObjectStore>, source: &[Bytes], keeps: bool) -> Outcome<()> {
    let puts = (0..OBJECTS).map(|number| {
        let bytes = &source[number as usize % AT_ONCE];
        async move {
            let payload = if keeps { Bytes::copy_from_slice(bytes) } else { bytes.clone() };
            store.put(&path(number), payload.into()).await
        }
    });
    stream::iter(puts).buffer_unordered(AT_ONCE).try_for_each(|_| async { Ok(()) }).await?;
    Ok(())
}

async fn read_bare(store: &Arc<dyn ObjectStore>, blocks: &mut [Block]) -> Outcome<()> {
    let gets =
        (0..OBJECTS).map(|number| async move { store.get(&path(number)).await?.bytes().await });
    let mut gets = stream::iter(gets).buffer_unordered(AT_ONCE);
    let mut number = 0;
    while let Some(bytes) = gets.try_next().await? {
        blocks[number % AT_ONCE].bytes_mut().copy_from_slice(&bytes);
        number += 1;
    }
    Ok(())
}

async fn delete_bare(store: &Arc<dyn ObjectStore>) -> Outcome<()> {
    let paths: Vec<_> = (0..OBJECTS).map(|number| Ok(path(number))).collect();
    store.delete_stream(stream::iter(paths).boxed()).try_for_each(|_| async { Ok(()) }).await?;
    Ok(())
}

type Operation = fn(&RemoteTier, SlabKey, Block, stratape_tape::tier::Done);

/// Writes or reads all objects, with as many under way as there are blocks.
fn move_all(
    tier: &RemoteTier,
    blocks: Vec<Block>,
    round: u64,
    operation: Operation,
) -> Outcome<Vec<Block>> {
    let (report, done) = mpsc::channel::<(Block, Result<(), TierError>)>();
    let start = |number, block| {
        let report = report.clone();
        let tell = move |block, result| drop(report.send((block, result)));
        operation(tier, key(number, round), block, Box::new(tell));
    };
    let mut next = blocks.len() as u64;
    blocks.into_iter().zip(0..).for_each(|(block, number)| start(number, block));
    let mut back = Vec::new();
    while back.len() < AT_ONCE {
        let (block, result) = done.recv()?;
        result?;
        if next < OBJECTS {
            start(next, block);
            next += 1;
        } else {
            back.push(block);
        }
    }
    Ok(back)
}
