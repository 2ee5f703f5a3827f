// The layered tape for C++14 and later.
//
//     stratape::tape<double> tape;                       // in memory, or as STRATAPE_MEMORY and STRATAPE_SPILL say
//     tape.push(1.5);
//     double value = tape.pop();
//
//     stratape::tape<double> large(stratape::options().memory(1 << 30).spill_to("/scratch"));
//
// Trivially copyable elements go through all layers: inline buffer, slabs, disk. Others stay in memory, and their constructors and
// destructors run. A push or pop within a slab makes no call. The guide is docs/c-and-cpp.md.
//
// One thread at a time uses a tape. `STRATAPE_DEBUG`, defined before the header is included, checks that at every push and pop of
// a debug build of the library.
#ifndef STRATAPE_TAPE_HPP
#define STRATAPE_TAPE_HPP

#include <stratape/detail/layered.hpp>
#include <stratape/detail/memory.hpp>
#include <stratape/error.hpp>
#include <stratape/options.hpp>

#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

STRATAPE_BEGIN

namespace detail {

/// An element that an iterator has by value, behind an arrow.
template <class T>
struct held_element {
    T value;
    const T* operator->() const noexcept { return &value; }
};

/// Walks over a tape in either direction. It does not notice that the tape has changed. Elements that may lie on disk are had by
/// value, so that two of them can be looked at together; arrays and elements above 64 bytes by reference, of which one holds at a time.
template <class Tape>
class tape_iterator {
public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = typename Tape::value_type;
    using difference_type = std::ptrdiff_t;
    using reference = typename Tape::const_reference;
    using pointer = typename std::conditional<std::is_reference<reference>::value, const value_type*, held_element<value_type>>::type;

    tape_iterator() noexcept = default;
    tape_iterator(const Tape* tape, std::size_t index) noexcept : tape_(tape), index_(index) {}

    reference operator*() const { return (*tape_)[index_]; }
    pointer operator->() const { return point(std::is_reference<reference>()); }

    tape_iterator& operator++() noexcept {
        ++index_;
        return *this;
    }
    tape_iterator operator++(int) noexcept {
        tape_iterator before = *this;
        ++index_;
        return before;
    }
    tape_iterator& operator--() noexcept {
        --index_;
        return *this;
    }
    tape_iterator operator--(int) noexcept {
        tape_iterator before = *this;
        --index_;
        return before;
    }

    friend bool operator==(const tape_iterator& a, const tape_iterator& b) noexcept { return a.index_ == b.index_; }
    friend bool operator!=(const tape_iterator& a, const tape_iterator& b) noexcept { return a.index_ != b.index_; }

private:
    pointer point(std::true_type) const { return &(*tape_)[index_]; }
    pointer point(std::false_type) const { return pointer{(*tape_)[index_]}; }

    const Tape* tape_ = nullptr;
    std::size_t index_ = 0;
};

template <class T, std::size_t SBO, std::size_t SLAB, bool Disk, bool Shared>
using implementation = typename std::conditional<std::is_trivially_copyable<T>::value,
                                                 layered_tape<T, SBO, SLAB, Disk, Shared>,
                                                 memory_tape<T, SBO, SLAB>>::type;

/// What all tapes have, on top of what their elements allow.
template <class T, std::size_t SBO, std::size_t SLAB, bool Disk, bool Shared>
class common_tape : private requirements<T>, public implementation<T, SBO, SLAB, Disk, Shared> {
    static_assert(SLAB > 0, "a slab holds one element at least");
    using base = implementation<T, SBO, SLAB, Disk, Shared>;

public:
    using const_iterator = tape_iterator<common_tape>;
    using iterator = const_iterator;
    using const_reverse_iterator = std::reverse_iterator<const_iterator>;
    using reverse_iterator = const_reverse_iterator;

    using base::base;
    // Inlined wherever they are called, also where an exception passes: see layered.hpp.
    STRATAPE_HOT common_tape() noexcept {}
    STRATAPE_HOT common_tape(common_tape&&) = default;
    STRATAPE_HOT common_tape& operator=(common_tape&&) = default;
    STRATAPE_HOT ~common_tape() = default;

    /// Puts a value on top.
    template <class Value>
    STRATAPE_HOT void push(Value&& value) {
        this->emplace_back(std::forward<Value>(value));
    }

    bool empty() const noexcept { return this->size() == 0; }

    const_iterator begin() const noexcept { return const_iterator(this, 0); }
    const_iterator end() const noexcept { return const_iterator(this, this->size()); }
    const_reverse_iterator rbegin() const noexcept { return const_reverse_iterator(end()); }
    const_reverse_iterator rend() const noexcept { return const_reverse_iterator(begin()); }

    /// The present height, to come back to with `rewind`.
    stratape_mark mark() const noexcept {
        stratape_mark mark = stratape_mark();
        mark.height = this->size();
        return mark;
    }

    /// Drops everything pushed since the mark was set. An error for a mark above the tape.
    void rewind(stratape_mark mark) {
        if (mark.height > this->size()) detail::fail(STRATAPE_OUT_OF_RANGE, "a mark above the tape");
        this->truncate(mark.height);
    }
};

} // namespace detail

/// A stack of `T`: `SBO` elements in a first block, then slabs of at least `SLAB` elements, then, for trivially copyable elements,
/// the disk. Moves, but does not copy.
///
/// | member | does |
/// |---|---|
/// | `tape()` | makes no call; the environment is asked when the inline buffer is full |
/// | `tape(options)` | opens at once, in layers; trivially copyable elements only |
/// | `push`, `emplace_back` | put an element on top |
/// | `pop`, `back`, `pop_back` | take, see or drop the top element; an error on an empty tape |
/// | `operator[]`, `begin`, `end`, `rbegin`, `rend` | see any element, read back if need be |
/// | `size`, `empty`, `clear`, `truncate`, `mark`, `rewind` | as they say |
/// | `save`, `load`, `stats`, `stats_text`, `set_memory`, `adopt`, `handle`, `refresh` | trivially copyable elements only |
template <class T, std::size_t SBO = 64, std::size_t SLAB = 1024>
class tape : public detail::common_tape<T, SBO, SLAB, false, false> {
    using base = detail::common_tape<T, SBO, SLAB, false, false>;

public:
    using base::base;
    STRATAPE_HOT tape() noexcept {}
    STRATAPE_HOT tape(tape&&) = default;
    STRATAPE_HOT tape& operator=(tape&&) = default;
    STRATAPE_HOT ~tape() = default;
};

STRATAPE_END

#endif
