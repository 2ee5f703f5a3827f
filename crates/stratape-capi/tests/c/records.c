/* Records, regions and blocks in good and bad order. */
#include "expect.h"

static void records(stratape_records *r) {
    char buffer[5000], out[5000]; size_t n; void *p; uint64_t m, m2; double x = 4;
    for (int i = 0; i < 5000; ++i) buffer[i] = (char)i;
    EXPECT(STRATAPE_EMPTY, stratape_records_pop(r, out, 8));
    EXPECT(STRATAPE_EMPTY, stratape_records_top(r, out, 8));
    EXPECT(STRATAPE_EMPTY, stratape_records_top_size(r, &n));
    EXPECT(STRATAPE_EMPTY, stratape_records_take(r, &p, &n));
    EXPECT(STRATAPE_EMPTY, stratape_records_commit(r, 0));
    /* every size, also none */
    OK(stratape_records_push(r, NULL, 0));
    OK(stratape_records_push(r, buffer, 0));
    for (size_t size = 1; size < 5000; size += 97) OK(stratape_records_push(r, buffer, size));
    size_t size = 1; while (size + 97 < 5000) size += 97;
    EXPECT(STRATAPE_WRONG_SIZE, stratape_records_pop(r, out, size + 1));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_records_pop(r, out, 0));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_records_top(r, out, size - 1));
    for (;; size -= 97) {
        OK(stratape_records_top_size(r, &n)); CHECK(n == size);
        memset(out, 0, size); OK(stratape_records_top(r, out, size)); CHECK(memcmp(out, buffer, size) == 0);
        memset(out, 0, size); OK(stratape_records_pop(r, out, size)); CHECK(memcmp(out, buffer, size) == 0);
        if (size == 1) break;
    }
    OK(stratape_records_pop(r, NULL, 0)); OK(stratape_records_pop(r, out, 0));
    OK(stratape_records_size(r, &n)); CHECK(n == 0);
    /* regions: committed twice, more than reserved, never */
    OK(stratape_records_reserve(r, 100, &p)); CHECK((uintptr_t)p % 8 == 0); memcpy(p, buffer, 100);
    EXPECT(STRATAPE_WRONG_SIZE, stratape_records_commit(r, 101));
    OK(stratape_records_commit(r, 50));
    { const int s = stratape_records_commit(r, 60); CHECK(s != STRATAPE_OK); }
    OK(stratape_records_commit(r, 10));
    OK(stratape_records_commit(r, 10));
    OK(stratape_records_top_size(r, &n)); CHECK(n == 10);
    OK(stratape_records_pop(r, out, 10)); CHECK(memcmp(out, buffer, 10) == 0);
    OK(stratape_records_reserve(r, 100, &p)); memset(p, 1, 100); /* never committed: all of it */
    OK(stratape_records_push(r, &x, 8));
    OK(stratape_records_commit(r, 4)); /* the record on top, not the region under it */
    OK(stratape_records_take(r, &p, &n)); CHECK(n == 4);
    OK(stratape_records_take(r, &p, &n)); CHECK(n == 100 && ((char *)p)[99] == 1);
    OK(stratape_records_reserve(r, 0, &p));
    OK(stratape_records_commit(r, 0));
    OK(stratape_records_take(r, &p, &n));
    CHECK(n == 0);
    const size_t huge[] = {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX - 8, SIZE_MAX - 15, SIZE_MAX / 2, SIZE_MAX / 2 + 1, (size_t)1 << 60, (size_t)1 << 46};
    for (int i = 0; i < 8; ++i) {
        p = &x;
        const int s = stratape_records_reserve(r, huge[i], &p);
        if (s == STRATAPE_OK || s == STRATAPE_PANIC) {
            fprintf(stderr, "reserve %zu: %d %s\n", huge[i], s, stratape_last_error());
            ++failures;
        }
        OK(stratape_records_size(r, &n)); CHECK(n == 0);
    }
    /* marks */
    for (int i = 0; i < 10; ++i) OK(stratape_records_push(r, &x, 8));
    OK(stratape_records_mark(r, &m));
    OK(stratape_records_push(r, buffer, 777));
    OK(stratape_records_mark(r, &m2));
    OK(stratape_records_rewind(r, m2)); OK(stratape_records_top_size(r, &n)); CHECK(n == 777);
    OK(stratape_records_rewind(r, m)); OK(stratape_records_top_size(r, &n)); CHECK(n == 8);
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_records_rewind(r, m2));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_records_rewind(r, UINT64_MAX));
    OK(stratape_records_clear(r));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_records_rewind(r, m));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_records_rewind(r, 0));
    /* a mark the tape has fallen below and grown over again, with other records: into the middle of one */
    OK(stratape_records_push(r, buffer, 4000));
    { const int s = stratape_records_rewind(r, m);
      printf("stale mark inside a record: %d %s\n", s, s ? stratape_last_error() : "");
      OK(stratape_records_size(r, &n));
      if (s == STRATAPE_OK) {
          int q = stratape_records_top_size(r, &n);
          printf("  then top_size: %d, %zu\n", q, n);
          q = stratape_records_take(r, &p, &n);
          printf("  take %d %zu %s\n", q, n, stratape_last_error());
      }
    }
    OK(stratape_records_clear(r));
    OK(stratape_records_push(r, &x, 8)); OK(stratape_records_pop(r, &x, 8));
}

static void spilled_records(void) {
    stratape_options *o; stratape_records *r; void *p; size_t n; stratape_stats st;
    OK(stratape_options_open(&o)); OK(stratape_options_memory(o, 1 << 20)); OK(stratape_options_spill_to(o, "."));
    OK(stratape_records_open(o, &r));
    unsigned seed = 1; size_t total = 0;
    for (int i = 0; i < 20000; ++i) {
        seed = seed * 1103515245u + 12345u; const size_t size = seed >> 16 & 1023; total += size;
        OK(stratape_records_reserve(r, size, &p)); memset(p, i, size); if (failures) return;
    }
    OK(stratape_records_stats(r, &st, sizeof st)); CHECK(st.bytes_spilled > 0 && st.resident_peak <= 1 << 20);
    /* a record larger than a slab, and one larger than the memory */
    char *large = malloc(3 << 20); memset(large, 5, 3 << 20);
    int s = stratape_records_push(r, large, 600000);
    printf("600 kB record in 1 MiB: %d %s\n", s, s ? stratape_last_error() : "");
    if (!s) { OK(stratape_records_take(r, &p, &n)); CHECK(n == 600000 && ((char *)p)[599999] == 5); }
    s = stratape_records_push(r, large, 3 << 20);
    printf("3 MiB record in 1 MiB: %d %s\n", s, s ? stratape_last_error() : "");
    if (!s) { OK(stratape_records_take(r, &p, &n)); CHECK(n == 3 << 20); }
    CHECK(s != STRATAPE_PANIC);
    free(large);
    size_t back = 0;
    for (int i = 19999; i >= 0; --i) {
        OK(stratape_records_take(r, &p, &n));
        back += n;
        if (n) CHECK(((unsigned char *)p)[n - 1] == (unsigned char)i);
        if (failures) return;
    }
    CHECK(back == total); EXPECT(STRATAPE_EMPTY, stratape_records_take(r, &p, &n));
    OK(stratape_records_close(r)); OK(stratape_options_close(o));
}

static void stash(void) {
    stratape_options *o; stratape_stash *s, *other; uint64_t t[64], u = 0; double x[100], y[100];
    OK(stratape_options_open(&o)); OK(stratape_options_spill_to(o, "."));
    OK(stratape_stash_open(o, &s)); OK(stratape_stash_open(o, &other));
    for (int i = 0; i < 64; ++i) {
        for (int k = 0; k < 100; ++k) x[k] = i + k;
        OK(stratape_stash_put(s, x, sizeof x, &t[i]));
        CHECK(t[i] != 0);
    }
    for (int i = 0; i < 64; i += 2) OK(stratape_stash_forget(s, t[i]));
    for (int i = 63; i > 0; i -= 2) {
        OK(stratape_stash_fetch(s, t[i]));
        OK(stratape_stash_fetch(s, t[i]));
        OK(stratape_stash_get(s, t[i], y, sizeof y));
        CHECK(y[99] == i + 99);
        OK(stratape_stash_get(s, t[i], y, sizeof y));
    }
    EXPECT(STRATAPE_WRONG_SIZE, stratape_stash_get(s, t[1], y, sizeof y - 8));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_stash_get(s, t[1], y, 0));
    EXPECT(STRATAPE_NULL, stratape_stash_get(s, t[1], NULL, sizeof y));
    const uint64_t bad[] = {0, t[0], UINT64_MAX, 1u << 30};
    for (int i = 0; i < 4; ++i) {
        const int g = stratape_stash_get(s, bad[i], y, sizeof y), f = stratape_stash_fetch(s, bad[i]), d = stratape_stash_forget(s, bad[i]);
        printf("bad ticket: %d %d %d %s\n", g, f, d, stratape_last_error());
        CHECK(g != STRATAPE_OK && g != STRATAPE_PANIC && f != STRATAPE_OK && d != STRATAPE_OK);
    }
    { const int g = stratape_stash_get(other, t[1], y, sizeof y); CHECK(g != STRATAPE_OK); }
    OK(stratape_stash_put(other, x, sizeof x, &u));
    { const int g = stratape_stash_get(s, u, y, sizeof y); printf("ticket of another stash: %d\n", g); }
    OK(stratape_stash_put(s, NULL, 0, &u)); OK(stratape_stash_get(s, u, NULL, 0)); OK(stratape_stash_forget(s, u));
    { const int g = stratape_stash_forget(s, u); CHECK(g != STRATAPE_OK); }
    OK(stratape_stash_close(s)); OK(stratape_stash_close(other)); OK(stratape_options_close(o));
}

int main(void) {
    stratape_records *r; stratape_options *o;
    OK(stratape_records_open_in_memory(&r)); records(r); OK(stratape_records_close(r));
    OK(stratape_options_open(&o)); OK(stratape_options_memory(o, 1 << 20)); OK(stratape_options_spill_to(o, "."));
    OK(stratape_records_open(o, &r)); records(r); OK(stratape_records_close(r)); OK(stratape_options_close(o));
    spilled_records(); stash();
    return failures != 0;
}
