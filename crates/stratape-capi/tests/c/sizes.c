/* Sizes, counts, indices, marks, cursors and options at and beyond their limits. */
#include "expect.h"

static void open_with(size_t size, size_t align, int expected) {
    stratape_tape *t = (stratape_tape *)1;
    stratape_options *o;
    OK(stratape_options_open(&o));
    OK(stratape_options_memory(o, 1 << 20));
    const int s1 = stratape_tape_open(o, size, align, &t);
    if (s1 != expected) {
        fprintf(stderr, "open(%zu,%zu) gives %d (%s)\n", size, align, s1, stratape_last_error());
        ++failures;
    }
    if (s1 != STRATAPE_OK) CHECK(t == NULL);
    OK(stratape_tape_close(s1 == STRATAPE_OK ? t : NULL));
    const int s2 = stratape_tape_open_in_memory(size, align, &t);
    if (s2 != expected) {
        fprintf(stderr, "open_in_memory(%zu,%zu) gives %d (%s)\n", size, align, s2, stratape_last_error());
        ++failures;
    }
    if (s2 == STRATAPE_OK) OK(stratape_tape_close(t));
    OK(stratape_options_close(o));
}

static void elements(size_t size, size_t align) {
    stratape_options *o; stratape_tape *t; size_t n, taken;
    unsigned char *x = malloc(size), *y = malloc(size), *many = malloc(300 * size);
    OK(stratape_options_open(&o)); OK(stratape_options_memory(o, 1 << 20)); OK(stratape_options_spill_to(o, "."));
    OK(stratape_tape_open(o, size, align, &t));
    const size_t count = (3u << 20) / size + 7;
    for (size_t i = 0; i < count; ++i) {
        memset(x, (int)(i * 7), size);
        const stratape_status s = stratape_tape_push(t, x, size);
        if (s != STRATAPE_OK) { EXPECT(STRATAPE_OK, s); break; }
    }
    OK(stratape_tape_size(t, &n)); CHECK(n == count);
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_push(t, x, size + 1));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_push(t, x, size - 1));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_pop(t, x, 0));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_top(t, x, size + 1));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_get(t, 0, x, size + 1));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_tape_get(t, count, x, size));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_tape_get(t, SIZE_MAX, x, size));
    for (size_t i = 0; i < count; i += count / 50 + 1) {
        OK(stratape_tape_get(t, i, y, size));
        memset(x, (int)(i * 7), size); CHECK(memcmp(x, y, size) == 0);
    }
    /* both ways over everything */
    stratape_run run; size_t seen = 0;
    while (seen < count) {
        OK(stratape_tape_run_up(t, seen, &run)); CHECK(run.index == seen && run.count > 0); if (failures) break;
        for (size_t k = 0; k < run.count; ++k) CHECK(((const unsigned char *)run.first)[k * size] == (unsigned char)((seen + k) * 7));
        CHECK((uintptr_t)run.first % align == 0);
        seen += run.count;
    }
    CHECK(seen == count);
    for (size_t left = count; left > 0 && !failures;) {
        OK(stratape_tape_run_down(t, left - 1, &run)); CHECK(run.index + run.count == left);
        CHECK(((const unsigned char *)run.first)[0] == (unsigned char)(run.index * 7));
        left = run.index;
    }
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_tape_run_up(t, count, &run));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_tape_run_down(t, SIZE_MAX, &run));
    /* in bulk, across slabs, in order */
    size_t left = count;
    while (left > 0 && !failures) {
        OK(stratape_tape_pop_many(t, many, 300, &taken));
        CHECK(taken == (left < 300 ? left : 300));
        for (size_t k = 0; k < taken; ++k) {
            CHECK(many[k * size] == (unsigned char)((left - taken + k) * 7));
            CHECK(many[k * size + size - 1] == many[k * size]);
        }
        left -= taken;
    }
    EXPECT(STRATAPE_EMPTY, stratape_tape_pop(t, x, size));
    EXPECT(STRATAPE_EMPTY, stratape_tape_top(t, x, size));
    taken = 9; OK(stratape_tape_pop_many(t, many, 300, &taken)); CHECK(taken == 0);
    OK(stratape_tape_pop_many(t, NULL, 0, &taken));
    OK(stratape_tape_push_many(t, NULL, 0));
    OK(stratape_tape_close(t)); OK(stratape_options_close(o));
    free(x); free(y); free(many);
}

static void marks(void) {
    stratape_tape *a, *b; stratape_mark high, low, m; double x = 0; size_t n;
    OK(stratape_tape_open_in_memory(8, 8, &a)); OK(stratape_tape_open_in_memory(8, 8, &b));
    OK(stratape_tape_mark(a, &low));
    for (int i = 0; i < 1000; ++i) OK(stratape_tape_push(a, &x, 8));
    OK(stratape_tape_mark(a, &high));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_tape_rewind(b, high));
    OK(stratape_tape_rewind(b, low));
    OK(stratape_tape_rewind(a, high)); OK(stratape_tape_size(a, &n)); CHECK(n == 1000);
    OK(stratape_tape_rewind(a, low)); OK(stratape_tape_size(a, &n)); CHECK(n == 0);
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_tape_rewind(a, high));
    m.height = SIZE_MAX; EXPECT(STRATAPE_OUT_OF_RANGE, stratape_tape_rewind(a, m));
    OK(stratape_tape_truncate(a, SIZE_MAX));
    OK(stratape_tape_truncate(a, 0));
    OK(stratape_tape_clear(a));
    OK(stratape_tape_shrink(a));
    OK(stratape_tape_push(a, &x, 8)); OK(stratape_tape_pop(a, &x, 8));
    OK(stratape_tape_close(a)); OK(stratape_tape_close(b));
}

static void cursors(void) {
    stratape_options *o; stratape_tape *t; stratape_cursor c, d; size_t n; uint64_t x;
    OK(stratape_options_open(&o)); OK(stratape_options_memory(o, 1 << 20)); OK(stratape_options_slab_bytes(o, 1 << 16));
    OK(stratape_tape_open(o, 8, 8, &t));
    OK(stratape_tape_cursor(t, &c)); CHECK(c.top == c.base && c.base == c.limit);
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_set_top(t, &x));
    EXPECT(STRATAPE_EMPTY, stratape_tape_descend(t, c.top, &d));
    OK(stratape_tape_climb(t, c.top, &c)); CHECK(c.top == c.base && c.limit > c.base);
    OK(stratape_tape_climb(t, c.top, &d)); CHECK(d.top == c.top && d.limit == c.limit); /* not full: the same slab */
    uint64_t *top = c.top;
    *top++ = 11; *top++ = 12;
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_set_top(t, (char *)top + 1));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_set_top(t, (char *)c.base - 8));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_set_top(t, (char *)c.limit + 8));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_climb(t, (char *)c.limit + 8, &d));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_descend(t, (char *)c.limit + 8, &d));
    { const int s_ = stratape_tape_set_top(t, NULL); CHECK(s_ == STRATAPE_WRONG_SIZE || s_ == STRATAPE_NULL); }
    OK(stratape_tape_set_top(t, top)); OK(stratape_tape_size(t, &n)); CHECK(n == 2);
    OK(stratape_tape_pop(t, &x, 8)); CHECK(x == 12);
    OK(stratape_tape_cursor(t, &c)); top = c.top;
    const size_t count = 1000000;
    for (uint64_t i = 1; i < count; ++i) {
        if (top == c.limit) { OK(stratape_tape_climb(t, top, &c)); top = c.top; if (failures) return; }
        *top++ = i;
    }
    OK(stratape_tape_set_top(t, top)); OK(stratape_tape_size(t, &n)); CHECK(n == count);
    for (uint64_t i = count - 1; i >= 1; --i) {
        if (top == c.base) { OK(stratape_tape_descend(t, top, &c)); top = c.top; if (failures) return; }
        if (*--top != i) {
            fprintf(stderr, "cursor: element %lu is %lu\n", (unsigned long)i, (unsigned long)*top);
            ++failures;
            return;
        }
    }
    OK(stratape_tape_set_top(t, top)); OK(stratape_tape_pop(t, &x, 8)); CHECK(x == 11);
    OK(stratape_tape_close(t)); OK(stratape_options_close(o));
}

static void options(void) {
    stratape_options *o; stratape_tape *t; double x = 1;
    const int32_t engines[] = {-1, 3, INT32_MAX, INT32_MIN};
    OK(stratape_options_open(&o));
    for (int i = 0; i < 4; ++i) EXPECT(STRATAPE_INVALID, stratape_options_engine(o, engines[i]));
    const size_t memory[] = {0, 1, 4096, SIZE_MAX}, slab[] = {0, 1, 7, 4095, SIZE_MAX, SIZE_MAX / 2 + 1};
    for (int i = 0; i < 4; ++i) for (int j = 0; j < 6; ++j) {
        OK(stratape_options_close(o)); OK(stratape_options_open(&o));
        int s = stratape_options_memory(o, memory[i]);
        if (s == STRATAPE_OK) s = stratape_options_slab_bytes(o, slab[j]);
        if (s == STRATAPE_OK) s = stratape_tape_open(o, 8, 8, &t);
        if (s == STRATAPE_OK) {
            s = stratape_tape_push(t, &x, 8);
            if (s == STRATAPE_OK) {
                x = 0;
                OK(stratape_tape_pop(t, &x, 8));
                CHECK(x == 1);
                x = 1;
            }
            stratape_tape_close(t);
        }
        printf("memory %zu slab %zu: %d %s\n", memory[i], slab[j], s, s ? stratape_last_error() : "");
        CHECK(s == STRATAPE_OK || s == STRATAPE_INVALID || s == STRATAPE_OUT_OF_MEMORY);
    }
    OK(stratape_options_close(o)); OK(stratape_options_open(&o));
    int s = stratape_options_in_flight(o, 0);
    if (!s) {
        s = stratape_tape_open(o, 8, 8, &t);
        if (!s) stratape_tape_close(t);
    }
    printf("in_flight 0: %d %s\n", s, s ? stratape_last_error() : "");
    s = stratape_options_in_flight(o, SIZE_MAX);
    if (!s) {
        s = stratape_tape_open(o, 8, 8, &t);
        if (!s) {
            for (int i = 0; i < 1000; ++i) OK(stratape_tape_push(t, &x, 8));
            stratape_tape_close(t);
        }
    }
    printf("in_flight max: %d %s\n", s, s ? stratape_last_error() : "");
    OK(stratape_options_in_flight(o, 16));
    OK(stratape_options_patience(o, UINT64_MAX));
    s = stratape_tape_open(o, 8, 8, &t);
    printf("patience max: %d\n", s);
    if (!s) stratape_tape_close(t);
    OK(stratape_options_disk_limit(o, 0));
    s = stratape_tape_open(o, 8, 8, &t);
    printf("disk limit 0: %d %s\n", s, s ? stratape_last_error() : "");
    if (!s) stratape_tape_close(t);
    OK(stratape_options_close(o));
    OK(stratape_options_open(&o));
    const char *dirs[] = {"", "/nonexistent", "/dev/null", "/proc", "/etc/passwd", "\xff\xfe"};
    for (int i = 0; i < 6; ++i) {
        size_t done = 0;
        s = stratape_options_spill_to(o, dirs[i]);
        if (!s) s = stratape_options_memory(o, 1 << 20);
        if (!s) { s = stratape_tape_open(o, 8, 8, &t);
            if (!s) { for (; done < 1000000 && !s; ++done) s = stratape_tape_push(t, &x, 8);
                size_t n = 0;
                stratape_status q = stratape_tape_size(t, &n);
                CHECK(q == STRATAPE_OK && n == (s ? done - 1 : done));
                /* The tape is as before: everything can be popped. */
                for (size_t k = 0; k < n && !failures; ++k) OK(stratape_tape_pop(t, &x, 8));
                stratape_tape_close(t); } }
        printf("spill to '%s': %d after %zu: %s\n", dirs[i], s, done, s ? stratape_last_error() : "");
        CHECK(s != STRATAPE_OK && s != STRATAPE_PANIC);
    }
    OK(stratape_options_close(o));
}

int main(void) {
    open_with(8, 8, STRATAPE_OK);
    open_with(1, 1, STRATAPE_OK);
    open_with(24, 8, STRATAPE_OK);
    open_with(4096, 4096, STRATAPE_OK);
    open_with(0, 1, STRATAPE_INVALID);
    open_with(0, 0, STRATAPE_INVALID);
    open_with(8, 0, STRATAPE_INVALID);
    open_with(8, 3, STRATAPE_INVALID);
    open_with(12, 8, STRATAPE_INVALID); open_with(8192, 8192, STRATAPE_INVALID); open_with(SIZE_MAX, 1, STRATAPE_INVALID);
    open_with((size_t)1 << 63, (size_t)1 << 63, STRATAPE_INVALID);
    open_with((size_t)1 << 62, 8, STRATAPE_INVALID);
    open_with(SIZE_MAX - 7, 8, STRATAPE_INVALID);
    elements(1, 1);
    elements(3, 1);
    elements(7, 1);
    elements(24, 8);
    elements(100, 4);
    elements(200, 8);
    elements(4096, 64);
    elements(100000, 16);
    marks(); cursors(); options();
    return failures != 0;
}
