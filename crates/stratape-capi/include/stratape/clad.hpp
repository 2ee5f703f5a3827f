// The layered tape for code that Clad generates. Include this before the function that is given to clad::gradient; nothing else
// changes.
//
// Clad looks for an alias template `clad::custom_tape` and, if there is one, declares its tapes with it. Its own functions
// `clad::push`, `clad::pop` and `clad::back` then call these members:
//
// | member | is called for |
// |---|---|
// | `custom_tape<T> t = {}` | every tape of a gradient; makes no call and allocates nothing |
// | `emplace_back(arguments...)` | `push`; for `T[N]` the elements of the array, or of what else can be indexed, are copied |
// | `back()` | `back`, and the value of `pop`; a reference |
// | `pop_back()` | `pop`; an element that was popped stays readable where it was until the next push |
//
// With `Disk` the tape spills to disk when 1 GiB is full. Without it the tape is in memory. `STRATAPE_MEMORY` and
// `STRATAPE_SPILL` in the environment decide for both. Failures are exceptions, or, with -fno-exceptions, end the program with a text:
// see stratape/error.hpp.
#ifndef STRATAPE_CLAD_HPP
#define STRATAPE_CLAD_HPP

#include <stratape/tape.hpp>

#include <cstddef>
#include <mutex>
#include <utility>

STRATAPE_BEGIN
namespace detail {

/// A tape for one thread. One class template for all, so that functions can deduce its arguments.
template <class T, std::size_t SBO, std::size_t SLAB, bool MT, bool Disk>
class clad_tape : public common_tape<T, SBO, SLAB, Disk, false> {
public:
    STRATAPE_HOT clad_tape() noexcept {}
    STRATAPE_HOT clad_tape(clad_tape&&) = default;
    STRATAPE_HOT clad_tape& operator=(clad_tape&&) = default;
    STRATAPE_HOT ~clad_tape() = default;
};

/// A tape under a lock. Each call is atomic. A program that needs several calls to be one (`back` and `pop_back`) holds the tape's
/// lock meanwhile: `std::lock_guard<decltype(tape)> guard(tape)`.
template <class T, std::size_t SBO, std::size_t SLAB, bool Disk>
class clad_tape<T, SBO, SLAB, true, Disk> {
public:
    using value_type = T;

    template <class... Args>
    T& emplace_back(Args&&... args) {
        const guard held(mutex_);
        return tape_.emplace_back(std::forward<Args>(args)...);
    }

    T& back() {
        const guard held(mutex_);
        return tape_.back();
    }

    void pop_back() {
        const guard held(mutex_);
        tape_.pop_back();
    }

    typename element<T>::popped pop() {
        const guard held(mutex_);
        return tape_.pop();
    }

    std::size_t size() const {
        const guard held(mutex_);
        return tape_.size();
    }

    void clear() {
        const guard held(mutex_);
        tape_.clear();
    }

    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }
    std::recursive_mutex& mutex() noexcept { return mutex_; }

private:
    using guard = std::lock_guard<std::recursive_mutex>;

    mutable std::recursive_mutex mutex_;
    common_tape<T, SBO, SLAB, Disk, true> tape_;
};

} // namespace detail
STRATAPE_END

namespace clad {

/// What Clad declares its tapes with.
template <typename T, std::size_t SBO = 64, std::size_t SLAB = 1024, bool MT = false, bool Disk = false>
using custom_tape = stratape::detail::clad_tape<T, SBO, SLAB, MT, Disk>;

} // namespace clad

#endif
