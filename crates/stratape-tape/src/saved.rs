//! Tapes as durable files: the format, its writer and its reader.
//!
//! `docs/tape-format.md` draws the format. In short: a header page, the slabs, each at a page
//! boundary, and a table with a line a slab. Everything but padding is under a checksum. Numbers
//! are in the byte order of the machine, since the elements are; the header tells which.

mod tier;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::block::BLOCK_ALIGN;
use crate::codec::Receipt;
use crate::crc::{Checksum, checksum};
use crate::error::{ErrorKind, OutOfMemory, TapeError};
use crate::key::SlabKey;
use crate::ladder::StoredSlab;
use crate::temporary::Whole;
use crate::tier::{DiskOptions, Tier};
use tier::{Extent, SavedTier};

const MAGIC: [u8; 8] = *b"STRATAPE";
const VERSION: u32 = 1;
const BYTE_ORDER: u64 = 0x0102_0304_0506_0708;
const PAGE: u64 = BLOCK_ALIGN as u64;
/// Longer type names are cut; the fingerprint covers them whole.
const NAME_ROOM: usize = 1024;

/// What kind of tape a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Equal elements, `per_slab` of them in every slab but the last.
    Elements { per_slab: usize },
    /// Records; an ordinary slab has this many words of eight bytes.
    Records { per_slab: usize },
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    contents: u32,
    byte_order: u64,
    element_size: u64,
    element_align: u64,
    fingerprint: u64,
    per_slab: u64,
    slabs: u64,
    used_bytes: u64,
    table_offset: u64,
    table_checksum: u32,
    name_len: u32,
    name: [u8; NAME_ROOM],
    /// Of all bytes of the header before this one.
    checksum: u32,
    reserved: u32,
}

/// One line of the table.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Line {
    offset: u64,
    /// Bytes in the file, whole pages.
    len: u64,
    /// Bytes of those that are elements.
    used: u64,
    checksum: u32,
    reserved: u32,
}

impl Header {
    fn type_name(&self) -> String {
        let len = (self.name_len as usize).min(NAME_ROOM);
        String::from_utf8_lossy(&self.name[..len]).into_owned()
    }
}

const CHECKED: usize = std::mem::offset_of!(Header, checksum);

/// What the elements of a file are.
#[derive(Clone, Debug)]
pub(crate) struct ElementType {
    pub(crate) name: String,
    pub(crate) size: usize,
    pub(crate) align: usize,
    /// Whether elements of any name will do, if size and alignment are right.
    pub(crate) any_name: bool,
}

impl ElementType {
    pub(crate) fn of<T>() -> Self {
        let name = std::any::type_name::<T>().to_owned();
        Self { name, size: size_of::<T>(), align: align_of::<T>(), any_name: false }
    }

    fn fingerprint(&self) -> u64 {
        let text = format!("{} {} {}", self.name, self.size, self.align);
        u64::from(checksum(text.as_bytes())) << 32 | u64::from(!checksum(self.name.as_bytes()))
    }
}

/// Writes a tape slab by slab. Nothing appears under the final name before `finish`.
pub(crate) struct SavedWriter {
    path: PathBuf,
    file: Whole,
    header: Header,
    lines: Vec<Line>,
    end: u64,
}

impl SavedWriter {
    pub(crate) fn create(
        path: &Path,
        contents: Contents,
        element: &ElementType,
    ) -> Result<Self, TapeError> {
        let (kind, per_slab) = match contents {
            Contents::Elements { per_slab } => (1, per_slab),
            Contents::Records { per_slab } => (2, per_slab),
        };
        let name = element.name.as_bytes();
        let name_len = name.len().min(NAME_ROOM);
        let mut header = Header {
            magic: MAGIC,
            version: VERSION,
            contents: kind,
            byte_order: BYTE_ORDER,
            element_size: element.size as u64,
            element_align: element.align as u64,
            fingerprint: element.fingerprint(),
            per_slab: per_slab as u64,
            name_len: name_len as u32,
            ..Header::zeroed()
        };
        header.name[..name_len].copy_from_slice(&name[..name_len]);
        let file = Whole::create_in(directory_of(path)).map_err(|source| failed(path, source))?;
        Ok(Self { path: path.to_owned(), file, header, lines: Vec::new(), end: PAGE })
    }

    /// Adds a slab that fills `bytes` of a block of `len` bytes.
    pub(crate) fn slab(&mut self, bytes: &[u8], len: usize) -> Result<(), TapeError> {
        let len = len as u64;
        let write = |file: &mut File| {
            file.seek(SeekFrom::Start(self.end))?;
            file.write_all(bytes)
        };
        write(self.file.file()).map_err(|source| failed(&self.path, source))?;
        self.header.used_bytes += bytes.len() as u64;
        let used = bytes.len() as u64;
        let checksum = checksum(bytes);
        self.lines.push(Line { offset: self.end, len, used, checksum, reserved: 0 });
        self.end += len;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<(), TapeError> {
        let path = std::mem::take(&mut self.path);
        self.complete(&path).map_err(|source| failed(&path, source))
    }

    fn complete(mut self, path: &Path) -> io::Result<()> {
        let table: &[u8] = bytemuck::cast_slice(&self.lines);
        self.header.slabs = self.lines.len() as u64;
        self.header.table_offset = self.end;
        self.header.table_checksum = checksum(table);
        self.header.checksum = checksum(&bytemuck::bytes_of(&self.header)[..CHECKED]);
        let file = self.file.file();
        // A tape without slabs has no table to make the file reach beyond the header's page.
        file.set_len(self.end)?;
        file.seek(SeekFrom::Start(self.end))?;
        file.write_all(table)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(bytemuck::bytes_of(&self.header))?;
        file.sync_all()?;
        self.file.persist(path)?;
        // The new name itself must survive a crash too.
        File::open(directory_of(path))?.sync_all()
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn failed(path: &Path, source: io::Error) -> TapeError {
    ErrorKind::SavedFile { path: path.to_owned(), source }.into()
}

/// A saved tape whose header and table have been read and found whole.
pub(crate) struct SavedReader {
    file: File,
    per_slab: usize,
    lines: Vec<Line>,
}

impl SavedReader {
    /// Opens a file of elements.
    pub(crate) fn open(path: &Path, element: &ElementType) -> Result<Self, TapeError> {
        Self::read(path, 1, element)
    }

    /// Opens a file of records.
    pub(crate) fn open_records(path: &Path) -> Result<Self, TapeError> {
        Self::read(path, 2, &ElementType::of::<u64>())
    }

    pub(crate) fn per_slab(&self) -> usize {
        self.per_slab
    }

    /// Filled bytes of the last slab.
    pub(crate) fn last_used(&self) -> usize {
        self.lines.last().map_or(0, |line| line.used as usize)
    }

    /// The slabs of the file, as a ladder takes them over.
    pub(crate) fn slabs(&self) -> impl Iterator<Item = StoredSlab> {
        self.lines.iter().enumerate().map(|(number, line)| StoredSlab {
            key: SlabKey { lane: 0, depth: number as u64, serial: number as u64 },
            len: line.len as usize,
            receipt: Receipt {
                used: line.used as usize,
                checksum: Some(line.checksum),
                packed: None,
            },
        })
    }

    /// A tier with the slabs of the file, over another for new ones.
    pub(crate) fn into_tier(
        self,
        options: &DiskOptions,
        below: Arc<dyn Tier>,
    ) -> Result<SavedTier, TapeError> {
        let extent = |line: &Line| Extent { offset: line.offset, len: line.len };
        let slabs = self.lines.iter().map(extent).collect();
        SavedTier::start(self.file, options, slabs, below)
    }

    fn read(path: &Path, contents: u32, element: &ElementType) -> Result<Self, TapeError> {
        let refuse = |why: String| refused(path, why);
        let (mut file, header) = read_header(path)?;
        let name = header.type_name();
        if header.contents != contents {
            let (found, asked) = match header.contents {
                1 => (format!("elements of type `{name}`"), "records"),
                2 => ("records".to_owned(), "elements"),
                other => (format!("contents of unknown kind {other}"), "something else"),
            };
            return Err(refuse(format!("it holds {found}, where {asked} were asked for")));
        }
        if header.element_size != element.size as u64
            || header.element_align != element.align as u64
            || (header.fingerprint != element.fingerprint() && !element.any_name)
        {
            return Err(refuse(format!(
                "it holds `{name}` ({} bytes each), where `{}` ({} bytes) was asked for",
                header.element_size, element.name, element.size
            )));
        }
        let lines = read_table(path, &mut file, &header)?;
        Ok(Self { file, per_slab: header.per_slab as usize, lines })
    }
}

fn refused(path: &Path, why: String) -> TapeError {
    ErrorKind::NotThisTape { path: path.to_owned(), why }.into()
}

/// Opens a file and reads a header that is whole and of this version.
fn read_header(path: &Path) -> Result<(File, Header), TapeError> {
    let refuse = |why: String| refused(path, why);
    let mut file = File::open(path).map_err(|source| failed(path, source))?;
    let mut header = Header::zeroed();
    let read = file.read_exact(bytemuck::bytes_of_mut(&mut header));
    if read.is_err() || header.magic != MAGIC {
        return Err(refuse("it is not a saved tape".to_owned()));
    }
    if header.byte_order != BYTE_ORDER {
        return Err(refuse("it was written on a machine of the other byte order".to_owned()));
    }
    if header.version != VERSION {
        let found = header.version;
        return Err(refuse(format!(
            "it has format version {found}, this library reads version {VERSION}"
        )));
    }
    if checksum(&bytemuck::bytes_of(&header)[..CHECKED]) != header.checksum {
        return Err(refuse("its header is damaged".to_owned()));
    }
    Ok((file, header))
}

/// Reads the table, which must be whole and make sense.
fn read_table(path: &Path, file: &mut File, header: &Header) -> Result<Vec<Line>, TapeError> {
    let refuse = |why: String| refused(path, why);
    let io = |source: io::Error| failed(path, source);
    let found = file.metadata().map_err(io)?.len();
    let expected = header
        .slabs
        .checked_mul(size_of::<Line>() as u64)
        .and_then(|bytes| header.table_offset.checked_add(bytes));
    if expected != Some(found) {
        let expected = expected.map_or("more".to_owned(), |bytes| bytes.to_string());
        let why = format!("it is cut short: {found} bytes where {expected} were written");
        return Err(refuse(why));
    }
    file.seek(SeekFrom::Start(header.table_offset)).map_err(io)?;
    let mut checks = LineChecks::new(header).map_err(refuse)?;
    let (mut lines, mut crc) = (Vec::<Line>::new(), Checksum::new());
    let mut chunk = [Line::zeroed(); LINES_AT_ONCE];
    let mut left = header.slabs;
    // Line by line, each checked before there is memory for it: the number of lines is only what the
    // header says, and a file can be long without holding anything.
    while left > 0 {
        let count = left.min(LINES_AT_ONCE as u64) as usize;
        let chunk = &mut chunk[..count];
        file.read_exact(bytemuck::cast_slice_mut(chunk)).map_err(io)?;
        crc.add(bytemuck::cast_slice(chunk));
        for line in &*chunk {
            checks.next(line).map_err(refuse)?;
        }
        let bytes = (lines.len() + count) * size_of::<Line>();
        lines.try_reserve(count).map_err(|_| OutOfMemory { bytes })?;
        lines.extend_from_slice(chunk);
        left -= count as u64;
    }
    if crc.value() != header.table_checksum {
        return Err(refuse("its table of slabs is damaged".to_owned()));
    }
    checks.end().map_err(refuse)?;
    Ok(lines)
}

/// Lines of the table that are read at once.
const LINES_AT_ONCE: usize = 256;

/// Whether the table describes slabs that a tape can have, one behind the other up to the table.
struct LineChecks<'a> {
    header: &'a Header,
    full: u64,
    seen: u64,
    end: u64,
    used: u64,
}

impl<'a> LineChecks<'a> {
    fn new(header: &'a Header) -> Result<Self, String> {
        let per_slab = header.per_slab;
        match per_slab.checked_mul(header.element_size) {
            Some(full) if per_slab.is_power_of_two() && full > 0 => {
                Ok(Self { header, full, seen: 0, end: PAGE, used: 0 })
            }
            _ => Err(format!("its slabs of {per_slab} elements make no sense")),
        }
    }

    fn next(&mut self, line: &Line) -> Result<(), String> {
        let number = self.seen;
        self.seen += 1;
        let last = self.seen == self.header.slabs;
        let end = line.offset.checked_add(line.len);
        let fits = line.offset == self.end
            && line.len.is_multiple_of(PAGE)
            && line.used <= line.len
            && self.full <= line.len
            && end.is_some_and(|end| end <= self.header.table_offset);
        let elements = self.header.contents == 1;
        let filled = line.used.is_multiple_of(self.header.element_size)
            && (!elements || line.used == self.full || (last && line.used < self.full));
        match end {
            Some(end) if fits && filled => {
                self.end = end;
                self.used += line.used;
                Ok(())
            }
            _ => Err(format!("its table of slabs is damaged: slab {number} makes no sense")),
        }
    }

    fn end(&self) -> Result<(), String> {
        if self.end == self.header.table_offset && self.used == self.header.used_bytes {
            return Ok(());
        }
        Err("its header and its table of slabs contradict each other".to_owned())
    }
}

/// The checksum of a slab in the file, taken piece by piece: it may be larger than memory.
fn checksum_of(file: &mut File, line: &Line, piece: &mut [u8]) -> io::Result<u32> {
    file.seek(SeekFrom::Start(line.offset))?;
    let (mut crc, mut left) = (Checksum::new(), line.used);
    while left > 0 {
        let len = left.min(piece.len() as u64) as usize;
        file.read_exact(&mut piece[..len])?;
        crc.add(&piece[..len]);
        left -= len as u64;
    }
    Ok(crc.value())
}

/// What a saved tape holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SavedInfo {
    /// The name of the element type; `None` for a tape of records.
    pub element: Option<String>,
    /// Bytes of an element; of a word, for records.
    pub element_bytes: u64,
    /// Elements, or words of records.
    pub elements: u64,
    /// Elements, or words, of a full slab.
    pub per_slab: u64,
    /// Slabs.
    pub slabs: u64,
    /// Bytes of elements in all slabs.
    pub bytes: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// The version of the format.
    pub version: u32,
}

/// Reads a saved tape from end to end, whatever its element type, and verifies every checksum.
///
/// ```
/// use stratape_tape::{LayeredTape, TapeOptions, inspect};
///
/// let path = std::env::temp_dir().join(format!("inspect-{}.tape", std::process::id()));
/// let mut tape: LayeredTape<f64> = TapeOptions::new().memory(1 << 20).open()?;
/// tape.extend_from_slice(&[1.0, 2.0])?;
/// tape.save(&path)?;
/// let info = inspect(&path)?;
/// assert_eq!((info.element.as_deref(), info.elements), (Some("f64"), 2));
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), stratape_tape::TapeError>(())
/// ```
///
/// # Errors
/// [`ErrorKind::SavedFile`](crate::ErrorKind::SavedFile) if the file cannot be read,
/// [`ErrorKind::NotThisTape`](crate::ErrorKind::NotThisTape) if it is no saved tape or a damaged one: the text says where.
pub fn inspect(path: impl AsRef<Path>) -> Result<SavedInfo, TapeError> {
    let path = path.as_ref();
    let (mut file, header) = read_header(path)?;
    if !matches!(header.contents, 1 | 2) || header.element_size == 0 {
        let why = format!("it holds contents of unknown kind {}", header.contents);
        return Err(refused(path, why));
    }
    let lines = read_table(path, &mut file, &header)?;
    let mut piece = vec![0; 256 << 10];
    for (number, line) in lines.iter().enumerate() {
        let found =
            checksum_of(&mut file, line, &mut piece).map_err(|source| failed(path, source))?;
        if found != line.checksum {
            let why = format!("slab {number} of {} is damaged: its checksum is wrong", lines.len());
            return Err(refused(path, why));
        }
    }
    let file_bytes = file.metadata().map_err(|source| failed(path, source))?.len();
    let bytes: u64 = lines.iter().map(|line| line.used).sum();
    Ok(SavedInfo {
        element: (header.contents == 1).then(|| header.type_name()),
        element_bytes: header.element_size,
        elements: bytes / header.element_size,
        per_slab: header.per_slab,
        slabs: header.slabs,
        bytes,
        file_bytes,
        version: header.version,
    })
}
