// The tape of trivially copyable elements: inline buffer, slabs, disk.
#ifndef STRATAPE_DETAIL_LAYERED_HPP
#define STRATAPE_DETAIL_LAYERED_HPP

#include <stratape/detail/allocate.hpp>
#include <stratape/detail/element.hpp>
#include <stratape/error.hpp>
#include <stratape/options.hpp>

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

STRATAPE_BEGIN
namespace detail {

// The hot path is a compare, a store and an add on `top_` and a limit. What lies beyond is cold, out of line, gets and returns
// everything by value, and never throws: the address of the tape is not handed out, and what throws is not part of the user's loop,
// so that a compiler keeps the cursor of a local tape in registers. A buffer inside the object would prevent that (elements
// would be reached through its address), so that the first `SBO` elements lie in a small block of their own instead, which the first
// push allocates.
//
// The slab in use is that block (`base_ == first_`), or one of the library's; there is none before the first push (`base_` is null).
// In a slab of the library the block is full, if there is one: element `i` is `first_[i]`, or number `i - first_size()` of the library.
// A tape that was given options, loaded or settled has no such block.
template <class T, std::size_t SBO, std::size_t SLAB, bool Disk, bool Shared>
class layered_tape {
    static_assert(alignof(T) <= 4096, "slabs are aligned to 4096 bytes, and elements to no more");

public:
    using value_type = T;
    using popped_type = typename element<T>::popped;
    /// What looking at an element gives: its value, or, if it is large or an array, a reference.
    using const_reference = typename std::conditional<!std::is_array<T>::value && sizeof(T) <= 64, T, const T&>::type;

    /// An empty tape. Makes no call and allocates nothing.
    STRATAPE_HOT layered_tape() noexcept {}

    /// An empty tape in layers with these options, opened at once.
    explicit layered_tape(const options& options) {
        check(stratape_tape_open(options.get(), sizeof(T), alignof(T), &handle_));
    }

    STRATAPE_HOT layered_tape(layered_tape&& other) noexcept { steal(other); }
    STRATAPE_HOT layered_tape& operator=(layered_tape&& other) noexcept {
        if (this != &other) {
            release();
            steal(other);
        }
        return *this;
    }
    layered_tape(const layered_tape&) = delete;
    layered_tape& operator=(const layered_tape&) = delete;
    STRATAPE_HOT ~layered_tape() { release(); }

    /// Constructs an element on top.
    template <class... Args>
    STRATAPE_HOT T& emplace_back(Args&&... args) {
        debug_check();
        if (!STRATAPE_LIKELY(top_ != limit_)) return emplace_in_next_slab(std::forward<Args>(args)...);
        T* place = top_;
        T& made = element<T>::construct(static_cast<void*>(place), std::forward<Args>(args)...);
        top_ = place + 1;
        return made;
    }

    /// Takes the top element: its value, or, for an array, a pointer to its first element, which is readable until the next push.
    /// An error on an empty tape.
    STRATAPE_HOT popped_type pop() {
        debug_check();
        if (!STRATAPE_LIKELY(top_ != base_)) enter_slab_below();
        T* place = top_ - 1;
        top_ = place;
        return element<T>::out(*place);
    }

    /// The top element. An error on an empty tape.
    STRATAPE_HOT T& back() {
        debug_check();
        if (!STRATAPE_LIKELY(top_ != base_)) enter_slab_below();
        return *(top_ - 1);
    }

    /// Drops the top element. An error on an empty tape. Its memory stays as it is until the next push.
    STRATAPE_HOT void pop_back() {
        debug_check();
        if (!STRATAPE_LIKELY(top_ != base_)) enter_slab_below();
        --top_;
    }

    STRATAPE_HOT std::size_t size() const noexcept { return before_ + in_slab(); }

    /// Element `i`, counted from zero at the bottom, wherever it is. A reference holds until the tape changes, or an element in
    /// another slab is looked at. An error from `size()` on.
    STRATAPE_HOT const_reference operator[](std::size_t i) const {
        debug_check();
        if (STRATAPE_LIKELY(i >= before_ && i - before_ < in_slab())) return base_[i - before_];
        if (i < first_size() && i < before_) return first_[i];
        // Another slab than the top one, looked at before.
        const std::size_t j = i - first_size();
        if (j >= run_.index && j - run_.index < run_.count) return static_cast<const T*>(run_.first)[j - run_.index];
        return look_up(j);
    }

    /// Drops all elements.
    void clear() { truncate(0); }

    /// Drops the elements above the first `count`. More than there are changes nothing.
    void truncate(std::size_t count) {
        if (count >= size()) return;
        if (count >= before_) {
            top_ = base_ + (count - before_);
            return;
        }
        // The slab in use is the library's: below the block there is nothing.
        sync();
        run_ = no_run();
        const std::size_t below = first_size();
        check(stratape_tape_truncate(handle_, count > below ? count - below : 0));
        if (count < below) {
            use_first(count);
        } else {
            reload(count);
        }
    }

    /// Writes the tape to a durable file, from which `load` continues.
    void save(const char* file) { check(stratape_tape_save(handle(), file)); }

    /// Continues with a saved tape in the place of this one.
    void load(const char* file, const options& options) {
        stratape_tape* loaded = nullptr;
        check(stratape_tape_load(file, options.get(), sizeof(T), alignof(T), &loaded));
        release();
        handle_ = loaded;
        take_over();
    }

    /// The numbers of the slabs that the library has; zero while the tape is in its first block.
    stratape_stats stats() {
        stratape_stats stats = stratape_stats();
        if (handle_ != nullptr) {
            sync();
            check(stratape_tape_stats(handle_, &stats, sizeof stats));
        }
        return stats;
    }

    /// The same as a table for people.
    std::string stats_text() {
        if (handle_ == nullptr) return "elements       " + std::to_string(size()) + ", all in the first block\n";
        sync();
        std::size_t length = 0;
        check(stratape_tape_stats_text(handle_, nullptr, 0, &length));
        std::string text(length + 1, '\0');
        check(stratape_tape_stats_text(handle_, &text[0], text.size(), nullptr));
        text.resize(length);
        return text;
    }

    /// Makes the calling thread the owner, which debug builds of the library check. The thread before must be done with the tape.
    void adopt() {
        if (handle_ != nullptr) check(stratape_tape_adopt(handle_));
    }

    /// Changes the memory budget of a tape in layers.
    void set_memory(std::size_t bytes) { check(stratape_tape_set_memory(handle(), bytes)); }

    /// The handle, with all elements in it, for the functions of stratape.h. Call `refresh` when done with it.
    stratape_tape* handle() {
        settle();
        sync();
        run_ = no_run();
        lent_ = true;
        return handle_;
    }

    /// Takes over what was done through the handle. Pushes and pops between `handle` and `refresh` are lost; where no handle is out,
    /// nothing happens.
    void refresh() {
        if (lent_) take_over();
        lent_ = false;
    }

private:
    struct position {
        stratape_status status;
        stratape_tape* handle;
        T *first, *top, *base, *limit;
        std::size_t before;
    };

    static STRATAPE_HOT stratape_run no_run() noexcept { return stratape_run(); }

    STRATAPE_HOT std::size_t in_slab() const noexcept { return static_cast<std::size_t>(top_ - base_); }

    /// Elements that the first block has room for; all there are when the tape is above it.
    STRATAPE_HOT std::size_t first_size() const noexcept { return first_ == nullptr ? 0 : SBO; }

    STRATAPE_HOT void debug_check() const {
#ifdef STRATAPE_DEBUG
        if (handle_ != nullptr) {
            own();
            check(stratape_tape_check(handle_));
        }
#endif
    }

    /// A tape behind a lock goes with whoever has the lock.
    void own() const {
        if (Shared && handle_ != nullptr) check(stratape_tape_adopt(handle_));
    }

    /// Goes by the library's count and cursor.
    void take_over() {
        std::size_t count = 0;
        run_ = no_run();
        check(stratape_tape_size(handle_, &count));
        reload(count);
    }

    // The element is made first: an argument may be an element of this tape. Large ones are made on the heap, since every
    // inlined push would have room for one on its stack.
    template <class... Args>
    STRATAPE_HOT T& emplace_in_next_slab(Args&&... args) {
        return emplace_by(std::integral_constant<bool, (sizeof(T) > 512)>(), std::forward<Args>(args)...);
    }

    template <class... Args>
    STRATAPE_HOT T& emplace_by(std::false_type, Args&&... args) {
        alignas(T) unsigned char made[sizeof(T)];
        element<T>::construct(static_cast<void*>(made), std::forward<Args>(args)...);
        return put_in_next_slab(made);
    }

    template <class... Args>
    STRATAPE_HOT T& emplace_by(std::true_type, Args&&... args) {
        const spare<T> made;
        if (made.place == nullptr) fail(STRATAPE_OUT_OF_MEMORY, "no memory for an element");
        element<T>::construct(static_cast<void*>(made.place), std::forward<Args>(args)...);
        return put_in_next_slab(made.place);
    }

    STRATAPE_HOT T& put_in_next_slab(const void* made) {
        enter(climb(handle_, first_, top_, base_, before_));
        T* place = top_;
        std::memcpy(static_cast<void*>(place), made, sizeof(T));
        top_ = place + 1;
        return *place;
    }

    STRATAPE_HOT void enter_slab_below() { enter(descend(handle_, first_, top_, base_, limit_, before_)); }

    /// A failure leaves the tape as it was, though perhaps with a handle.
    STRATAPE_HOT void enter(const position& now) {
        handle_ = now.handle;
        if (!STRATAPE_LIKELY(now.status == STRATAPE_OK)) fail(now.status);
        run_ = no_run();
        first_ = now.first;
        top_ = now.top;
        base_ = now.base;
        limit_ = now.limit;
        before_ = now.before;
    }

    STRATAPE_STEP static position climb(stratape_tape* handle, T* first, T* top, T* base, std::size_t before) noexcept {
        stratape_cursor cursor = stratape_cursor();
        stratape_status status = STRATAPE_OK;
        if (SBO > 0 && base == nullptr && handle == nullptr) {
            first = allocate<T>(SBO);
            // Without memory for the block the library is asked, and says that there is none.
            if (first != nullptr) return position{status, handle, first, first, first, first + SBO, 0};
        }
        if (handle == nullptr) {
            status = stratape_tape_open_by_environment(sizeof(T), alignof(T), SLAB, Disk, &handle);
        } else if (Shared) {
            status = stratape_tape_adopt(handle);
        }
        void* from = top;
        if (base == first && status == STRATAPE_OK) {
            // From the block, or from nowhere: the library stands where it was left.
            status = stratape_tape_cursor(handle, &cursor);
            from = cursor.top;
        }
        if (status == STRATAPE_OK) status = stratape_tape_climb(handle, from, &cursor);
        return at(status, handle, first, cursor, before + static_cast<std::size_t>(top - base));
    }

    STRATAPE_STEP static position descend(stratape_tape* handle, T* first, T* top, T* base, T* limit,
                                          std::size_t before) noexcept {
        stratape_cursor cursor = stratape_cursor();
        if (before == 0) return at(STRATAPE_EMPTY, handle, first, cursor, 0);
        stratape_status status = Shared ? stratape_tape_adopt(handle) : STRATAPE_OK;
        if (status == STRATAPE_OK && first != nullptr && before == SBO) {
            status = stratape_tape_set_top(handle, base);
            return position{status, handle, first, first + SBO, first, first + SBO, 0};
        }
        if (status == STRATAPE_OK) status = stratape_tape_descend(handle, top, &cursor);
        // All slabs of the library hold the same number of elements.
        return at(status, handle, first, cursor, before - static_cast<std::size_t>(limit - base));
    }

    static position at(stratape_status status, stratape_tape* handle, T* first, const stratape_cursor& cursor,
                       std::size_t before) noexcept {
        return position{status,
                        handle,
                        first,
                        static_cast<T*>(cursor.top),
                        static_cast<T*>(cursor.base),
                        static_cast<T*>(cursor.limit),
                        before};
    }

    /// Finds element `j` of the library in a slab below the one in use.
    const_reference look_up(std::size_t j) const {
        if (j + first_size() >= size()) fail(STRATAPE_OUT_OF_RANGE, "an index above the tape");
        const bool down = j < run_.index;
        run_ = no_run();
        const found now = find(handle_, j, down);
        check(now.status);
        run_ = now.run;
        return static_cast<const T*>(run_.first)[j - run_.index];
    }

    struct found {
        stratape_status status;
        stratape_run run;
    };

    STRATAPE_STEP static found find(stratape_tape* handle, std::size_t j, bool down) noexcept {
        found now = found();
        now.status = Shared ? stratape_tape_adopt(handle) : STRATAPE_OK;
        if (now.status == STRATAPE_OK) {
            now.status = down ? stratape_tape_run_down(handle, j, &now.run) : stratape_tape_run_up(handle, j, &now.run);
        }
        return now;
    }

    /// Tells the library where the cursor is.
    void sync() const {
        own();
        if (base_ != first_) check(stratape_tape_set_top(handle_, top_));
    }

    /// Takes the cursor from the library; the tape holds `count` elements, and is not in its first block.
    void reload(std::size_t count) {
        stratape_cursor cursor = stratape_cursor();
        check(stratape_tape_cursor(handle_, &cursor));
        const position now = at(STRATAPE_OK, handle_, first_, cursor, 0);
        if (now.base == now.limit) {
            use_first(first_size());
        } else {
            enter(now);
            before_ = count - in_slab();
        }
    }

    /// Goes to the first block, with so many elements in it; to nowhere, if there is none.
    STRATAPE_HOT void use_first(std::size_t count) noexcept {
        base_ = first_;
        top_ = first_ == nullptr ? nullptr : first_ + count;
        limit_ = first_ == nullptr ? nullptr : first_ + SBO;
        before_ = 0;
    }

    /// Puts all elements into the library, and gives the first block up.
    void settle() {
        if (handle_ != nullptr && first_ == nullptr) return;
        opening all;
        check(stratape_tape_open_by_environment(sizeof(T), alignof(T), SLAB, Disk, &all.handle));
        const std::size_t total = size(), below = total < first_size() ? total : first_size();
        if (below > 0) check(stratape_tape_push_many(all.handle, first_, below));
        if (total > below) sync();
        for (std::size_t next = 0; next < total - below;) {
            stratape_run run = stratape_run();
            check(stratape_tape_run_up(handle_, next, &run));
            check(stratape_tape_push_many(all.handle, run.first, run.count));
            next += run.count;
        }
        release();
        handle_ = all.handle;
        all.handle = nullptr;
        reload(total);
    }

    /// Closes a handle that nobody has taken.
    struct opening {
        stratape_tape* handle = nullptr;
        opening() = default;
        opening(const opening&) = delete;
        opening& operator=(const opening&) = delete;
        ~opening() { stratape_tape_close(handle); }
    };

    STRATAPE_HOT void forget() noexcept {
        first_ = nullptr;
        use_first(0);
        run_ = no_run();
        handle_ = nullptr;
        lent_ = false;
    }

    STRATAPE_HOT void release() noexcept {
        if (base_ != nullptr || handle_ != nullptr) finish(handle_, first_);
        forget();
    }

    STRATAPE_STEP static void finish(stratape_tape* handle, T* first) noexcept {
        if (handle != nullptr) stratape_tape_close(handle);
        deallocate(first);
    }

    STRATAPE_HOT void steal(layered_tape& other) noexcept {
        top_ = other.top_;
        base_ = other.base_;
        limit_ = other.limit_;
        before_ = other.before_;
        first_ = other.first_;
        handle_ = other.handle_;
        run_ = other.run_;
        lent_ = other.lent_;
        other.forget();
    }

    T* top_ = nullptr;
    T* base_ = nullptr;
    T* limit_ = nullptr;
    /// Elements below the slab in use.
    std::size_t before_ = 0;
    T* first_ = nullptr;
    stratape_tape* handle_ = nullptr;
    /// Whether the handle is out, and the library may know better.
    bool lent_ = false;
    /// Elements of a slab below the one in use, looked at last; numbers are the library's.
    mutable stratape_run run_ = stratape_run();
};

} // namespace detail
STRATAPE_END

#endif
