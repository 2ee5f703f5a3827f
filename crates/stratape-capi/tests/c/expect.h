/* What the C tests share: checks that say where they failed and go on, so that one run shows everything. */
#ifndef EXPECT_H
#define EXPECT_H
#include <stratape.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition);      \
            ++failures;                                                              \
        }                                                                            \
    } while (0)

#define EXPECT(expected, call)                                                       \
    do {                                                                             \
        const int found_ = (int)(call);                                              \
        if (found_ != (int)(expected)) {                                             \
            fprintf(stderr, "%s:%d: %s gives %d (%s; %s), not %s\n", __FILE__, __LINE__, #call, found_, \
                    stratape_status_text(found_), stratape_last_error(), #expected); \
            ++failures;                                                              \
        }                                                                            \
    } while (0)

#define OK(call) EXPECT(STRATAPE_OK, call)
#endif
