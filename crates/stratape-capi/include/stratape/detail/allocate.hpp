// Memory for slabs of C++, aligned as their elements want it.
#ifndef STRATAPE_DETAIL_ALLOCATE_HPP
#define STRATAPE_DETAIL_ALLOCATE_HPP

#include <stratape/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

STRATAPE_BEGIN
namespace detail {

/// Room for `count` elements, or null. Before C++17 `new` knows nothing of large alignments.
template <class T>
T* allocate(std::size_t count) noexcept {
    if (count > static_cast<std::size_t>(PTRDIFF_MAX) / 2 / sizeof(T)) return nullptr;
    if (alignof(T) <= alignof(std::max_align_t)) return static_cast<T*>(std::malloc(count * sizeof(T)));
    void* memory = std::malloc(count * sizeof(T) + alignof(T) + sizeof(void*));
    if (memory == nullptr) return nullptr;
    // The address of the whole lies right below the elements.
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(memory) + sizeof(void*);
    void** elements = reinterpret_cast<void**>((at + alignof(T) - 1) / alignof(T) * alignof(T));
    elements[-1] = memory;
    return reinterpret_cast<T*>(elements);
}

template <class T>
void deallocate(T* elements) noexcept {
    if (alignof(T) <= alignof(std::max_align_t)) {
        std::free(static_cast<void*>(elements));
    } else if (elements != nullptr) {
        std::free(reinterpret_cast<void**>(elements)[-1]);
    }
}

/// Room for one element beside the tape; null if there is none.
template <class T>
struct spare {
    T* const place;
    spare() noexcept : place(allocate<T>(1)) {}
    spare(const spare&) = delete;
    spare& operator=(const spare&) = delete;
    ~spare() { deallocate(place); }
};

} // namespace detail
STRATAPE_END

#endif
