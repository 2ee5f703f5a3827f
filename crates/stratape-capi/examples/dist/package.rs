//! The files of a distribution, for the command and for the tests, which build against one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What the static library needs of the system.
const SYSTEM: &str = "-lpthread -ldl -lm";

/// Where cargo has put the libraries that belong to the running program: beside it, or in `deps`.
pub(crate) fn libraries() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    let near = program.ancestors().skip(1).take(2);
    let found = near
        .flat_map(|directory| [directory.to_owned(), directory.join("deps")])
        .find(|directory| directory.join("libstratape_capi.a").exists());
    found.ok_or_else(|| {
        let text = format!(
            "there is no libstratape_capi.a near {}; run this through cargo",
            program.display()
        );
        io::Error::new(io::ErrorKind::NotFound, text)
    })
}

/// Fills `directory` with headers, libraries, a pkg-config file and a CMake package.
pub(crate) fn make(crate_root: &Path, libraries: &Path, directory: &Path) -> io::Result<()> {
    copy_tree(&crate_root.join("include"), &directory.join("include"))?;
    let lib = directory.join("lib");
    fs::create_dir_all(&lib)?;
    fs::copy(libraries.join("libstratape_capi.a"), lib.join("libstratape.a"))?;
    let shared = if cfg!(target_os = "macos") { "dylib" } else { "so" };
    fs::copy(
        libraries.join(format!("libstratape_capi.{shared}")),
        lib.join(format!("libstratape.{shared}")),
    )?;
    let pkg_config = lib.join("pkgconfig");
    fs::create_dir_all(&pkg_config)?;
    fs::write(pkg_config.join("stratape.pc"), pkg_config_file())?;
    let cmake = lib.join("cmake/stratape");
    fs::create_dir_all(&cmake)?;
    fs::write(cmake.join("stratape-config.cmake"), cmake_config(shared))?;
    fs::write(cmake.join("stratape-config-version.cmake"), cmake_version())
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn pkg_config_file() -> String {
    format!(
        "prefix=${{pcfiledir}}/../..\n\
         Name: stratape\n\
         Description: The layered tape and the reversal schedules of Stratape\n\
         Version: {VERSION}\n\
         Cflags: -I${{prefix}}/include\n\
         Libs: -L${{prefix}}/lib -lstratape\n\
         Libs.private: {SYSTEM}\n"
    )
}

fn cmake_config(shared: &str) -> String {
    let system = SYSTEM.replace("-l", "").replace(' ', ";");
    format!(
        "# stratape::stratape is the static library, stratape::shared the shared one.\n\
         get_filename_component(STRATAPE_PREFIX \"${{CMAKE_CURRENT_LIST_DIR}}/../../..\" ABSOLUTE)\n\
         foreach(kind stratape shared)\n\
         \x20 if(NOT TARGET stratape::${{kind}})\n\
         \x20   add_library(stratape::${{kind}} UNKNOWN IMPORTED)\n\
         \x20   set_target_properties(stratape::${{kind}} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES \"${{STRATAPE_PREFIX}}/include\")\n\
         \x20 endif()\n\
         endforeach()\n\
         set_target_properties(stratape::stratape PROPERTIES\n\
         \x20 IMPORTED_LOCATION \"${{STRATAPE_PREFIX}}/lib/libstratape.a\"\n\
         \x20 INTERFACE_LINK_LIBRARIES \"{system}\")\n\
         set_target_properties(stratape::shared PROPERTIES\n\
         \x20 IMPORTED_LOCATION \"${{STRATAPE_PREFIX}}/lib/libstratape.{shared}\"\n\
         \x20 IMPORTED_NO_SONAME TRUE)\n"
    )
}

fn cmake_version() -> String {
    let series = VERSION.rsplit_once('.').map_or(VERSION, |(series, _)| series);
    format!(
        "set(PACKAGE_VERSION \"{VERSION}\")\n\
         if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION OR NOT PACKAGE_VERSION MATCHES \"^${{PACKAGE_FIND_VERSION_MAJOR}}\")\n\
         \x20 set(PACKAGE_VERSION_COMPATIBLE FALSE)\n\
         else()\n\
         \x20 set(PACKAGE_VERSION_COMPATIBLE TRUE)\n\
         endif()\n\
         if(PACKAGE_FIND_VERSION STREQUAL \"{series}\" OR PACKAGE_FIND_VERSION STREQUAL PACKAGE_VERSION)\n\
         \x20 set(PACKAGE_VERSION_EXACT TRUE)\n\
         endif()\n"
    )
}
