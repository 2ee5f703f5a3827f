// Constructing, copying and destroying one element, which may be a C array.
#ifndef STRATAPE_DETAIL_ELEMENT_HPP
#define STRATAPE_DETAIL_ELEMENT_HPP

#include <stratape/error.hpp>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

STRATAPE_BEGIN
namespace detail {

/// What can lie on a tape at all.
template <class T>
struct requirements {
    static_assert(std::is_object<T>::value, "the elements of a tape are objects: no references, functions or void");
    static_assert(!std::is_const<T>::value && !std::is_volatile<T>::value, "the elements of a tape are not const or volatile");
    static_assert(!std::is_abstract<T>::value, "an abstract class cannot be the element of a tape");
    static_assert(std::is_destructible<T>::value, "the elements of a tape have a destructor that can be called");
    static_assert(!std::is_array<T>::value || std::extent<T>::value != 0, "an array on a tape has a known number of elements");
};

/// A single object.
template <class T>
struct element {
    using popped = T;

    template <class... Args>
    static STRATAPE_HOT T& construct(void* place, Args&&... args) {
        return *::new (place) T(std::forward<Args>(args)...);
    }

    static void destroy(T& value) noexcept { value.~T(); }
    static STRATAPE_HOT popped out(T& value) { return std::move(value); }
};

/// An array: copied element by element from whatever can be indexed, and popped as a pointer to its first element.
template <class E, std::size_t N>
struct element<E[N]> {
    using popped = E*;
    using array = E[N];

    static STRATAPE_HOT array& construct(void* place) {
        return build(place, [](void* at, std::size_t) { element<E>::construct(at); });
    }

    template <class Source>
    static STRATAPE_HOT array& construct(void* place, const Source& source) {
        static_assert(!std::is_array<Source>::value || std::extent<Source>::value >= N,
                      "an array that is pushed has as many elements as those of the tape");
        return build(place, [&source](void* at, std::size_t i) { element<E>::construct(at, source[i]); });
    }

    static void destroy(array& value) noexcept {
        for (std::size_t i = N; i > 0; --i) element<E>::destroy(value[i - 1]);
    }

    static STRATAPE_HOT popped out(array& value) noexcept { return value; }

private:
    /// Destroys what has been constructed if the next construction throws.
    struct partial {
        E* first;
        std::size_t count;
        ~partial() {
            for (; count > 0; --count) element<E>::destroy(first[count - 1]);
        }
    };

    template <class Make>
    static STRATAPE_HOT array& build(void* place, Make make) {
        E* first = static_cast<E*>(place);
        if (std::is_trivially_destructible<E>::value) {
            for (std::size_t i = 0; i < N; ++i) make(first + i, i);
        } else {
            partial built{first, 0};
            for (; built.count < N; ++built.count) make(first + built.count, built.count);
            built.count = 0;
        }
        return *static_cast<array*>(place);
    }
};

} // namespace detail
STRATAPE_END

#endif
