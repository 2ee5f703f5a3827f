// Options of a tape: how much memory, where the rest goes.
#ifndef STRATAPE_OPTIONS_HPP
#define STRATAPE_OPTIONS_HPP

#include <stratape/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

STRATAPE_BEGIN

/// The I/O engine that moves slabs.
enum class engine { automatic = STRATAPE_ENGINE_AUTO, uring = STRATAPE_ENGINE_URING, threads = STRATAPE_ENGINE_THREADS };

/// Settings of a layered tape: `stratape::options().memory(64 << 20).spill_to("/scratch")`.
class options {
public:
    options() { detail::check(stratape_options_open(&handle_)); }
    options(options&& other) noexcept : handle_(other.handle_) { other.handle_ = nullptr; }
    options& operator=(options&& other) noexcept {
        stratape_options* mine = handle_;
        handle_ = other.handle_;
        other.handle_ = mine;
        return *this;
    }
    options(const options&) = delete;
    options& operator=(const options&) = delete;
    ~options() { stratape_options_close(handle_); }

    /// Bytes of slabs kept in memory.
    options& memory(std::size_t bytes) { return set(stratape_options_memory(handle_, bytes)); }
    /// The directory for the spill file.
    options& spill_to(const char* directory) { return set(stratape_options_spill_to(handle_, directory)); }
    options& spill_to(const std::string& directory) { return spill_to(directory.c_str()); }
    /// Bytes of a slab, the unit that moves.
    options& slab_bytes(std::size_t bytes) { return set(stratape_options_slab_bytes(handle_, bytes)); }
    /// The I/O engine.
    options& use(engine engine) { return set(stratape_options_engine(handle_, static_cast<int>(engine))); }
    /// The most bytes the spill file may hold.
    options& disk_limit(std::uint64_t bytes) { return set(stratape_options_disk_limit(handle_, bytes)); }
    /// Slabs written, and slabs read, at once.
    options& in_flight(std::size_t slabs) { return set(stratape_options_in_flight(handle_, slabs)); }
    /// Milliseconds to wait for a disk that does not answer.
    options& patience(std::uint64_t milliseconds) { return set(stratape_options_patience(handle_, milliseconds)); }
    /// Whether slabs carry a checksum.
    options& checksum(bool on) { return set(stratape_options_checksum(handle_, on)); }
    /// Whether to bypass the page cache.
    options& direct(bool on) { return set(stratape_options_direct(handle_, on)); }
    /// Takes `STRATAPE_MEMORY` and `STRATAPE_SPILL`, where they are set, in the place of what was said before.
    options& environment() { return set(stratape_options_environment(handle_)); }

    /// The handle, for the functions of stratape.h.
    const stratape_options* get() const noexcept { return handle_; }

private:
    options& set(stratape_status status) {
        detail::check(status);
        return *this;
    }

    stratape_options* handle_ = nullptr;
};

STRATAPE_END

#endif
