//! Compiled kernels on disk, so that a program compiles each of them once in its life.
//!
//! A file is named after a hash of everything that the machine code depends on: text, options, version of the compiler. It
//! holds that key as well, so that two kernels of one hash are told apart:
//!
//! ```text
//! bytes   0..8    "STRATKRN"
//!         8..12   version of this format, little-endian like all numbers here
//!        12..16   CRC-32C of everything from byte 16 on
//!        16..24   bytes of the key
//!        24..32   bytes of the code
//!        32..     the key, then the code
//! ```
//!
//! A file that does not fit, or that another user could have written, is ignored and written anew. No failure of the disk is an
//! error: the kernel is then compiled again in the next process. Files are written beside their place and renamed, so that
//! several processes can share the directory.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"STRATKRN";
const VERSION: u32 = 1;
const HEADER: usize = 32;

/// A directory of compiled kernels, or none.
pub(crate) struct Cache {
    directory: Option<PathBuf>,
}

impl Cache {
    /// The user's: `$STRATAPE_CACHE` (empty: none), or `stratape/kernels` in the cache directory.
    pub(crate) fn of_user() -> Self {
        let var = |name| std::env::var_os(name).map(PathBuf::from);
        Self { directory: directory(var("STRATAPE_CACHE"), var("XDG_CACHE_HOME"), var("HOME")) }
    }

    /// The code for this key, if it is there and whole.
    pub(crate) fn read(&self, key: &[u8]) -> Option<Vec<u8>> {
        let directory = self.directory.as_deref()?;
        if !is_ours(&fs::metadata(directory).ok()?) {
            return None;
        }
        let mut file = File::open(directory.join(file_name(key))).ok()?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || !is_ours(&metadata) {
            return None;
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        decode(&bytes, key).map(<[u8]>::to_vec)
    }

    /// Keeps the code for this key, if the disk lets it.
    pub(crate) fn write(&self, key: &[u8], code: &[u8]) {
        if let Some(directory) = self.directory.as_deref() {
            // A cache that cannot be written costs time in the next process, and nothing else.
            let _ = store(directory, key, code);
        }
    }
}

/// The directory that these variables mean.
fn directory(own: Option<PathBuf>, xdg: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    match own {
        Some(path) if path.as_os_str().is_empty() => None,
        Some(path) => Some(path),
        None => {
            // Relative paths are to be ignored, as the XDG specification has it.
            let base = xdg.filter(|path| path.is_absolute());
            let base =
                base.or_else(|| Some(home.filter(|path| path.is_absolute())?.join(".cache")));
            Some(base?.join("stratape").join("kernels"))
        }
    }
}

fn store(directory: &Path, key: &[u8], code: &[u8]) -> io::Result<()> {
    create_private(directory)?;
    let mut file = tempfile::Builder::new().prefix(".kernel-").tempfile_in(directory)?;
    file.write_all(&encode(key, code))?;
    // Readable by the user alone, as `tempfile` makes it; removed if the rename fails.
    file.persist(directory.join(file_name(key)))?;
    Ok(())
}

#[cfg(unix)]
fn create_private(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

#[cfg(not(unix))]
fn create_private(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

/// Whether no other user can have written it: what is loaded from it runs in this process.
#[cfg(unix)]
fn is_ours(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_ours(_metadata: &fs::Metadata) -> bool {
    true
}

/// 128 bits of the key, in hexadecimal.
fn file_name(key: &[u8]) -> String {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(key);
        hasher.finish()
    };
    format!("{:016x}{:016x}.kernel", half(0), half(1))
}

fn encode(key: &[u8], code: &[u8]) -> Vec<u8> {
    let mut checked = Vec::with_capacity(HEADER + key.len() + code.len());
    checked.extend((key.len() as u64).to_le_bytes());
    checked.extend((code.len() as u64).to_le_bytes());
    checked.extend(key);
    checked.extend(code);

    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(stratape_tape::checksum(&checked).to_le_bytes());
    bytes.append(&mut checked);
    bytes
}

fn decode<'a>(bytes: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let (magic, rest) = bytes.split_first_chunk::<8>()?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let (crc, checked) = rest.split_first_chunk::<4>()?;
    if magic != MAGIC
        || u32::from_le_bytes(*version) != VERSION
        || u32::from_le_bytes(*crc) != stratape_tape::checksum(checked)
    {
        return None;
    }
    let (key_len, rest) = checked.split_first_chunk::<8>()?;
    let (code_len, rest) = rest.split_first_chunk::<8>()?;
    let (found, code) =
        rest.split_at_checked(usize::try_from(u64::from_le_bytes(*key_len)).ok()?)?;
    let whole = code.len() as u64 == u64::from_le_bytes(*code_len);
    (whole && found == key).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(directory: &Path) -> Cache {
        Cache { directory: Some(directory.to_owned()) }
    }

    fn only_file(directory: &Path) -> PathBuf {
        let mut files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let file = files.next().unwrap();
        assert_eq!(files.next(), None, "nothing else is left behind");
        file
    }

    #[test]
    fn what_is_written_is_read() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("a").join("b");
        assert_eq!(cache(&directory).read(b"key"), None);
        cache(&directory).write(b"key", b"code");
        assert_eq!(cache(&directory).read(b"key").as_deref(), Some(&b"code"[..]));
        assert_eq!(cache(&directory).read(b"other"), None);
        cache(&directory).write(b"key", b"");
        assert_eq!(cache(&directory).read(b"key").as_deref(), Some(&b""[..]));
        only_file(&directory);
    }

    #[test]
    fn every_damage_is_seen_and_repaired() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path());
        cache.write(b"key", b"some code");
        let file = only_file(directory.path());
        let whole = fs::read(&file).unwrap();
        for cut in 0..whole.len() {
            fs::write(&file, &whole[..cut]).unwrap();
            assert_eq!(cache.read(b"key"), None, "cut at {cut}");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            fs::write(&file, damaged).unwrap();
            assert_eq!(cache.read(b"key"), None, "flipped at {at}");
        }
        let mut longer = whole.clone();
        longer.push(0);
        fs::write(&file, longer).unwrap();
        assert_eq!(cache.read(b"key"), None);

        cache.write(b"key", b"some code");
        assert_eq!(cache.read(b"key").as_deref(), Some(&b"some code"[..]));
    }

    #[test]
    fn another_kernel_under_the_same_name_is_not_taken() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(file_name(b"key"));
        fs::write(path, encode(b"another", b"code")).unwrap();
        assert_eq!(cache(directory.path()).read(b"key"), None);
    }

    #[cfg(unix)]
    #[test]
    fn files_are_the_users_alone() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("kernels");
        let cache = cache(&directory);
        cache.write(b"key", b"code");
        let file = only_file(&directory);
        assert_eq!(fs::metadata(&directory).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);

        // A file that others may write is not loaded, and is replaced.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(cache.read(b"key"), None);
        cache.write(b"key", b"code");
        assert_eq!(cache.read(b"key").as_deref(), Some(&b"code"[..]));

        fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(cache.read(b"key"), None);
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_no_error() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "in the way").unwrap();
        // Also as root, who may write everywhere: a file is no directory.
        let cache = cache(&file.join("kernels"));
        cache.write(b"key", b"code");
        assert_eq!(cache.read(b"key"), None);

        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let locked = parent.path().join("locked");
            fs::create_dir(&locked).unwrap();
            fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
            let cache = self::cache(&locked);
            cache.write(b"key", b"code");
            let _ = cache.read(b"key");
        }
    }

    #[test]
    fn the_environment_names_the_directory() {
        let path = |text: &str| Some(PathBuf::from(text));
        assert_eq!(directory(path(""), path("/x"), path("/h")), None);
        assert_eq!(directory(path("/own"), path("/x"), path("/h")), path("/own"));
        assert_eq!(directory(None, path("/x"), path("/h")), path("/x/stratape/kernels"));
        assert_eq!(directory(None, None, path("/h")), path("/h/.cache/stratape/kernels"));
        assert_eq!(directory(None, path("x"), path("/h")), path("/h/.cache/stratape/kernels"));
        assert_eq!(directory(None, None, None), None);
        let none = Cache { directory: None };
        none.write(b"key", b"code");
        assert_eq!(none.read(b"key"), None);
    }
}
