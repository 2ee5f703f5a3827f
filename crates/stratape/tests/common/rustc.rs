//! Calls rustc on the libraries that Cargo has built for this test: what is compiled with them waits for no other build.

use std::any::TypeId;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library this test is linked with, found by one of its types: `library!(stratape, stratape::Workspace)`.
macro_rules! library {
    ($name:ident, $type:ty) => {
        $crate::rustc::Library::find(
            stringify!($name),
            stringify!($type),
            std::any::TypeId::of::<$type>(),
        )
    };
}
pub(crate) use library;

/// A crate that programs can use, and the file Cargo built it into.
pub(crate) struct Library {
    name: &'static str,
    path: PathBuf,
}

impl Library {
    /// Libraries of several builds lie beside this test, with other features or other settings. A type has the same identity in the one that
    /// the test is linked with, and in no other.
    pub(crate) fn find(name: &'static str, of_type: &str, id: TypeId) -> Library {
        let mut found = candidates(name);
        assert!(!found.is_empty(), "lib{name}-*.rlib is not in {}", directory().display());
        // Most often there is one, or it is the newest. The last one needs no proof: it is what is left.
        let last = found.pop().map(|path| Library { name, path });
        let mut rest = found.into_iter().map(|path| Library { name, path });
        rest.find(|library| library.identity(of_type) == format!("{id:?}")).or(last).unwrap()
    }

    /// What a program prints that is linked with this file; nothing if it cannot be, because what it was built with is gone.
    fn identity(&self, of_type: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("identity.rs"), folder.path().join("identity"));
        let text =
            format!("fn main() {{ print!(\"{{:?}}\", std::any::TypeId::of::<{of_type}>()); }}");
        std::fs::write(&source, text).unwrap();
        let built = rustc([self]).arg(&source).arg("-o").arg(&program).output().unwrap();
        if !built.status.success() {
            return String::new();
        }
        String::from_utf8_lossy(&Command::new(program).output().unwrap().stdout).into_owned()
    }
}

/// rustc as Cargo calls it for a crate with these dependencies; what they depend on themselves lies beside them.
pub(crate) fn rustc<'a>(libraries: impl IntoIterator<Item = &'a Library>) -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.args(["--edition", "2024", "--color", "never"]);
    for folder in [Some(directory()), macros()].into_iter().flatten() {
        command.arg("-L").arg(joined("dependency=", &folder));
    }
    for library in libraries {
        command.arg("--extern").arg(joined(&format!("{}=", library.name), &library.path));
    }
    command
}

fn joined(key: &str, path: &Path) -> OsString {
    let mut text = OsString::from(key);
    text.push(path);
    text
}

/// `target/PROFILE/deps`, where this test lies itself.
fn directory() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Where macros lie if Cargo was given a target: `target/PROFILE/deps`, while this test is in `target/TARGET/PROFILE/deps`.
fn macros() -> Option<PathBuf> {
    let directory = directory();
    let profile = directory.parent()?;
    let folder = profile.parent()?.parent()?.join(profile.file_name()?).join("deps");
    folder.is_dir().then_some(folder)
}

/// The builds of a library, the newest first.
fn candidates(name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory()).unwrap() {
        let entry = entry.unwrap();
        let file = entry.file_name().to_string_lossy().into_owned();
        if file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib") {
            found.push((entry.metadata().unwrap().modified().unwrap(), entry.path()));
        }
    }
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}
