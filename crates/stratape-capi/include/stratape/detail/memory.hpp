// The tape of elements that are more than their bytes: in memory, constructors and destructors run.
#ifndef STRATAPE_DETAIL_MEMORY_HPP
#define STRATAPE_DETAIL_MEMORY_HPP

#include <stratape/detail/allocate.hpp>
#include <stratape/detail/element.hpp>
#include <stratape/error.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

STRATAPE_BEGIN
namespace detail {

// Elements never move: the first slab has room for `SBO` of them, the others for `SLAB`, and all are kept until the tape is
// destroyed. The slab in use is number `in_use_ - 1`; there is none before the first push.
//
// The array popped last is destroyed by the next push or pop only: its caller has been given a pointer to it.
template <class T, std::size_t SBO, std::size_t SLAB>
class memory_tape {
public:
    using value_type = T;
    using popped_type = typename element<T>::popped;

    memory_tape() noexcept {}
    memory_tape(memory_tape&& other) noexcept { steal(other); }
    memory_tape& operator=(memory_tape&& other) noexcept {
        if (this != &other) {
            release();
            steal(other);
        }
        return *this;
    }
    memory_tape(const memory_tape&) = delete;
    memory_tape& operator=(const memory_tape&) = delete;
    ~memory_tape() { release(); }

    template <class... Args>
    STRATAPE_HOT T& emplace_back(Args&&... args) {
        if (!STRATAPE_LIKELY(top_ != limit_)) return emplace_in_next_slab(std::forward<Args>(args)...);
        T& made = make(top_, std::forward<Args>(args)...);
        ++top_;
        return made;
    }

    STRATAPE_HOT T& back() {
        if (!STRATAPE_LIKELY(top_ != base_)) leave_slab();
        return *(top_ - 1);
    }

    STRATAPE_HOT void pop_back() {
        T& last = back();
        drop_popped();
        --top_;
        if (std::is_array<T>::value) {
            popped_ = &last;
        } else {
            element<T>::destroy(last);
        }
    }

    STRATAPE_HOT popped_type pop() { return take(back(), std::is_array<T>()); }

    std::size_t size() const noexcept {
        return in_use_ == 0 ? 0 : room_below(in_use_ - 1) + static_cast<std::size_t>(top_ - base_);
    }

    using const_reference = const T&;

    const T& operator[](std::size_t i) const {
        if (i >= size()) fail(STRATAPE_OUT_OF_RANGE, "an index above the tape");
        if (i < FIRST) return slabs_[0][i];
        return slabs_[1 + (i - FIRST) / SLAB][(i - FIRST) % SLAB];
    }

    void clear() { truncate(0); }

    void truncate(std::size_t count) {
        while (size() > count) pop_back();
        drop_popped();
    }

private:
    static constexpr std::size_t FIRST = SBO == 0 ? SLAB : SBO;

    static std::size_t room_of(std::size_t slab) noexcept { return slab == 0 ? FIRST : SLAB; }
    static std::size_t room_below(std::size_t slab) noexcept { return slab == 0 ? 0 : FIRST + (slab - 1) * SLAB; }

    template <class... Args>
    STRATAPE_HOT T& make(T* place, Args&&... args) {
        return make_by(std::integral_constant<bool, std::is_array<T>::value && sizeof...(Args) != 0>(), place,
                       std::forward<Args>(args)...);
    }

    template <class... Args>
    STRATAPE_HOT T& make_by(std::false_type, T* place, Args&&... args) {
        drop_popped();
        return element<T>::construct(static_cast<void*>(place), std::forward<Args>(args)...);
    }

    /// The argument may be the array that was popped, which may lie where the new one goes.
    template <class Source>
    STRATAPE_HOT T& make_by(std::true_type, T* place, const Source& source) {
        if (popped_ == nullptr) return element<T>::construct(static_cast<void*>(place), source);
        const spare<T> room;
        if (room.place == nullptr) fail(STRATAPE_OUT_OF_MEMORY, "no memory for an element");
        struct held {
            T& value;
            ~held() { element<T>::destroy(value); }
        } copy{element<T>::construct(static_cast<void*>(room.place), source)};
        drop_popped();
        return element<T>::construct(static_cast<void*>(place), copy.value);
    }

    STRATAPE_HOT popped_type take(T& last, std::false_type) {
        popped_type value = element<T>::out(last);
        pop_back();
        return value;
    }

    STRATAPE_HOT popped_type take(T& last, std::true_type) {
        pop_back();
        return element<T>::out(last);
    }

    void drop_popped() noexcept {
        if (std::is_array<T>::value && popped_ != nullptr) {
            element<T>::destroy(*popped_);
            popped_ = nullptr;
        }
    }

    template <class... Args>
    STRATAPE_COLD T& emplace_in_next_slab(Args&&... args) {
        if (in_use_ == slabs_.size()) {
            // Room for its address first, so that a slab is never without an owner.
            slabs_.push_back(nullptr);
            slabs_.back() = allocate<T>(room_of(in_use_));
            if (slabs_.back() == nullptr) {
                slabs_.pop_back();
                fail(STRATAPE_OUT_OF_MEMORY, "no memory for a slab");
            }
        }
        // An argument may be an element of this tape: no slab has moved.
        T& made = make(slabs_[in_use_], std::forward<Args>(args)...);
        enter(in_use_ + 1);
        top_ = base_ + 1;
        return made;
    }

    /// Makes slab number `count - 1` the one in use, empty; none if `count` is zero.
    void enter(std::size_t count) noexcept {
        in_use_ = count;
        base_ = count == 0 ? nullptr : slabs_[count - 1];
        top_ = base_;
        limit_ = count == 0 ? nullptr : base_ + room_of(count - 1);
    }

    STRATAPE_COLD void leave_slab() {
        if (in_use_ < 2) fail(STRATAPE_EMPTY);
        enter(in_use_ - 1);
        top_ = limit_;
    }

    void release() noexcept {
        drop_popped();
        while (in_use_ > 0) {
            while (top_ != base_) element<T>::destroy(*--top_);
            enter(in_use_ - 1);
            top_ = limit_;
        }
        for (T* slab : slabs_) deallocate(slab);
        slabs_.clear();
    }

    void steal(memory_tape& other) noexcept {
        slabs_ = std::move(other.slabs_);
        other.slabs_.clear();
        in_use_ = other.in_use_;
        top_ = other.top_;
        base_ = other.base_;
        limit_ = other.limit_;
        popped_ = other.popped_;
        other.popped_ = nullptr;
        other.enter(0);
    }

    T* top_ = nullptr;
    T* base_ = nullptr;
    T* limit_ = nullptr;
    std::size_t in_use_ = 0;
    T* popped_ = nullptr;
    std::vector<T*> slabs_;
};

} // namespace detail
STRATAPE_END

#endif
