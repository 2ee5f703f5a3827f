// Errors of the C++ interface: exceptions, or a handler where there are none.
#ifndef STRATAPE_ERROR_HPP
#define STRATAPE_ERROR_HPP

#include <stratape.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS) || defined(_CPPUNWIND)
#define STRATAPE_EXCEPTIONS 1
#include <stdexcept>
#else
#define STRATAPE_EXCEPTIONS 0
#include <atomic>
#endif

// A cold call that saves no registers for its caller makes LLVM spill the values that the caller's loop carries, in the loop
// itself: it is better that the cold function saves all it uses.
#if defined(__clang__) && (defined(__x86_64__) || defined(__aarch64__))
#define STRATAPE_STEP __attribute__((noinline, cold, preserve_all))
#elif defined(__GNUC__)
#define STRATAPE_STEP __attribute__((noinline, cold))
#else
#define STRATAPE_STEP
#endif

#if defined(__GNUC__)
#define STRATAPE_COLD __attribute__((noinline, cold))
#define STRATAPE_HOT inline __attribute__((always_inline))
#define STRATAPE_LIKELY(condition) __builtin_expect(!!(condition), 1)
#else
#define STRATAPE_COLD
#define STRATAPE_HOT inline
#define STRATAPE_LIKELY(condition) (condition)
#endif

// The two modes have different functions under the same names; the inner namespace lets a program mix them.
#if STRATAPE_EXCEPTIONS
#define STRATAPE_BEGIN namespace stratape { inline namespace with_exceptions {
#else
#define STRATAPE_BEGIN namespace stratape { inline namespace without_exceptions {
#endif
#define STRATAPE_END } }

STRATAPE_BEGIN

#if STRATAPE_EXCEPTIONS

/// What went wrong: the status of the C interface, and a text for people.
class error : public std::runtime_error {
public:
    error(stratape_status status, const std::string& text) : std::runtime_error(text), status_(status) {}

    stratape_status status() const noexcept { return status_; }

private:
    stratape_status status_;
};

namespace detail {
[[noreturn]] STRATAPE_COLD inline void fail(stratape_status status, const char* text) {
    throw error(status, text);
}
} // namespace detail

#else

/// Called in the place of an exception when the program is compiled without them. It must not return; if it does, the program aborts.
using error_handler = void (*)(stratape_status status, const char* text);

namespace detail {
inline void print_and_abort(stratape_status status, const char* text) {
    std::fprintf(stderr, "stratape: %s (status %d)\n", text, static_cast<int>(status));
    std::abort();
}

inline std::atomic<error_handler>& handler() noexcept {
    static std::atomic<error_handler> handler{print_and_abort};
    return handler;
}

[[noreturn]] STRATAPE_COLD inline void fail(stratape_status status, const char* text) {
    handler().load()(status, text);
    std::abort();
}
} // namespace detail

/// Sets what is done in the place of an exception, and returns what was. Null means the default: print the text and abort.
inline error_handler set_error_handler(error_handler handler) noexcept {
    return detail::handler().exchange(handler ? handler : detail::print_and_abort);
}
#endif

namespace detail {
/// Reports what the library said.
[[noreturn]] STRATAPE_COLD inline void fail(stratape_status status) {
    fail(status, status == STRATAPE_EMPTY ? "the tape is empty" : stratape_last_error());
}

inline void check(stratape_status status) {
    if (!STRATAPE_LIKELY(status == STRATAPE_OK)) fail(status);
}
} // namespace detail

STRATAPE_END

#endif
