// What the C++ tests share: a check that says where it failed.
#ifndef CHECK_HPP
#define CHECK_HPP

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            std::fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                           \
        }                                                                           \
    } while (0)

#if STRATAPE_EXCEPTIONS
#define CHECK_THROWS(expected, expression)                                                              \
    do {                                                                                                \
        stratape_status found_status = STRATAPE_OK;                                                     \
        try {                                                                                           \
            (void)(expression);                                                                         \
        } catch (const stratape::error& error) {                                                        \
            found_status = error.status();                                                              \
            CHECK(error.what()[0] != '\0');                                                             \
        }                                                                                               \
        if (found_status != (expected)) {                                                               \
            std::fprintf(stderr, "%s:%d: %s gives %d\n", __FILE__, __LINE__, #expression, found_status); \
            std::exit(1);                                                                               \
        }                                                                                               \
    } while (0)
#endif

#endif
