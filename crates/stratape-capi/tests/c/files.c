/* Saving and loading: what is missing, damaged, cut off, of another kind. argv[1] is a directory. */
#include "expect.h"
#include <unistd.h>
#include <sys/stat.h>

static char path[3][400];
static long size_of(const char *f) { struct stat s; return stat(f, &s) ? -1 : (long)s.st_size; }
static void copy(const char *from, const char *to, long keep) {
    FILE *a = fopen(from, "rb"), *b = fopen(to, "wb"); int c; if (!a || !b) exit(9);
    for (long i = 0; (keep < 0 || i < keep) && (c = getc(a)) != EOF; ++i) putc(c, b);
    fclose(a); fclose(b);
}
static void flip(const char *f, long at) {
    FILE *a = fopen(f, "r+b");
    fseek(a, at, SEEK_SET);
    int c = getc(a);
    fseek(a, at, SEEK_SET);
    putc(c ^ 0x55, a);
    fclose(a);
}

/* Loads and pops everything; returns the first status that is not OK, or EMPTY when all was right. */
static int try_load(const char *f, size_t elements) {
    stratape_options *o; stratape_tape *t = (stratape_tape *)1; uint64_t x; size_t n = 0;
    OK(stratape_options_open(&o)); OK(stratape_options_memory(o, 1 << 20)); OK(stratape_options_spill_to(o, "."));
    int s = stratape_tape_load(f, o, 8, 8, &t);
    if (s == STRATAPE_OK) {
        OK(stratape_tape_size(t, &n));
        while ((s = stratape_tape_pop(t, &x, 8)) == STRATAPE_OK) {
            --n;
            if (x != n * 3) {
                fprintf(stderr, "%s: wrong value %lu at %zu\n", f, (unsigned long)x, n);
                ++failures;
                break;
            }
        }
        if (s == STRATAPE_EMPTY && n != 0) ++failures;
        (void)elements;
        OK(stratape_tape_close(t));
    } else CHECK(t == NULL);
    OK(stratape_options_close(o));
    return s;
}

int main(int argc, char **argv) {
    const char *dir = argc > 1 ? argv[1] : ".";
    for (int i = 0; i < 3; ++i) snprintf(path[i], sizeof path[i], "%s/saved-%d-%d", dir, (int)getpid(), i);
    stratape_options *o; stratape_tape *t, *u; stratape_records *r; size_t n; uint64_t x;
    OK(stratape_options_open(&o)); OK(stratape_options_memory(o, 1 << 20)); OK(stratape_options_spill_to(o, dir));
    OK(stratape_tape_open(o, 8, 8, &t));
    const size_t count = 100000;
    for (x = 0; x < count; ++x) { const uint64_t y = x * 3; OK(stratape_tape_push(t, &y, 8)); }
    OK(stratape_tape_save(t, path[0])); OK(stratape_tape_size(t, &n)); CHECK(n == count);
    EXPECT(STRATAPE_EMPTY, try_load(path[0], count));
    EXPECT(STRATAPE_EMPTY, try_load(path[0], count)); /* The file is not changed. */
    /* places that cannot be written */
    const char *bad[] = {"/nonexistent/dir/file", "", "/", "/proc/nothing", "/dev/full/x", dir};
    for (int i = 0; i < 6; ++i) {
        const int s = stratape_tape_save(t, bad[i]);
        printf("save to '%s': %d %s\n", bad[i], s, stratape_last_error());
        CHECK(s == STRATAPE_IO || s == STRATAPE_INVALID);
    }
    const char *badload[] = {"/nonexistent/file", "", dir, "/etc/passwd", "/dev/null", "/proc/self/maps"};
    for (int i = 0; i < 6; ++i) {
        u = t;
        const int s = stratape_tape_load(badload[i], o, 8, 8, &u);
        printf("load '%s': %d %s\n", badload[i], s, stratape_last_error());
        CHECK((s == STRATAPE_IO || s == STRATAPE_NOT_A_TAPE) && u == NULL);
    }
    /* another layout */
    const size_t shapes[][2] = {{4, 4}, {16, 8}, {8, 4}, {8, 1}, {0, 0}, {1, 1}};
    for (int i = 0; i < 6; ++i) {
        const int s = stratape_tape_load(path[0], o, shapes[i][0], shapes[i][1], &u);
        printf("load as %zu/%zu: %d %s\n", shapes[i][0], shapes[i][1], s, s ? stratape_last_error() : "");
        CHECK(s == STRATAPE_NOT_A_TAPE || s == STRATAPE_INVALID || s == STRATAPE_WRONG_SIZE);
    }
    {
        const int s = stratape_records_load(path[0], o, &r);
        printf("tape as records: %d %s\n", s, s ? stratape_last_error() : "");
        CHECK(s == STRATAPE_NOT_A_TAPE);
    }
    /* cut off, everywhere; damaged, everywhere */
    const long whole = size_of(path[0]);
    const long cuts[] = {0, 1, 7, 8, 16, 63, 64, 100, 4095, 4096, 4097, 131072, whole / 2, whole - 4096, whole - 8, whole - 1};
    for (int i = 0; i < 16; ++i) {
        copy(path[0], path[1], cuts[i]);
        const int s = try_load(path[1], count);
        if (s == STRATAPE_EMPTY || s == STRATAPE_PANIC || s == STRATAPE_OK) {
            fprintf(stderr, "cut at %ld of %ld: %d\n", cuts[i], whole, s);
            ++failures;
        }
    }
    int unnoticed = 0;
    copy(path[0], path[1], -1);
    for (long at = 0; at < whole; at += at < 200 ? 5 : (at < 8192 ? 397 : whole / 10)) {
        flip(path[1], at);
        const int s = try_load(path[1], count);
        flip(path[1], at);
        if (s == STRATAPE_EMPTY) ++unnoticed; /* padding: every value was right */
        else if (s != STRATAPE_DAMAGED && s != STRATAPE_NOT_A_TAPE && s != STRATAPE_IO) {
            fprintf(stderr, "byte %ld damaged: %d %s\n", at, s, stratape_last_error());
            ++failures;
        }
        if (failures) break;
    }
    printf("damaged bytes without consequence: %d\n", unnoticed);
    /* longer than it should be */
    copy(path[0], path[1], -1);
    {
        FILE *f = fopen(path[1], "ab");
        fputs("and more", f);
        fclose(f);
        const int s = try_load(path[1], count);
        printf("appended: %d\n", s);
        CHECK(s != STRATAPE_PANIC);
    }
    /* cut off while it is in use */
    copy(path[0], path[1], -1);
    OK(stratape_tape_load(path[1], o, 8, 8, &u)); OK(stratape_tape_pop(u, &x, 8)); CHECK(x == 3 * (count - 1));
    CHECK(truncate(path[1], 8192) == 0);
    {
        int s;
        size_t k = count - 1;
        while ((s = stratape_tape_pop(u, &x, 8)) == STRATAPE_OK) {
            --k;
            if (x != 3 * k) {
                fprintf(stderr, "wrong value after the file was cut\n");
                ++failures;
                break;
            }
        }
        printf("file cut in use: %d at %zu: %s\n", s, k, stratape_last_error());
        /* What was read ahead before the cut is right, and may be all. */
        CHECK(s == STRATAPE_DAMAGED || s == STRATAPE_IO || s == STRATAPE_LOST || (s == STRATAPE_EMPTY && k == 0));
      size_t m; OK(stratape_tape_size(u, &m)); CHECK(m == k); }
    OK(stratape_tape_close(u));
    /* loaded, changed, saved over itself, and removed while in use */
    copy(path[0], path[1], -1);
    OK(stratape_tape_load(path[1], o, 8, 8, &u));
    for (int i = 0; i < 50000; ++i) OK(stratape_tape_pop(u, &x, 8));
    for (uint64_t k = count - 50000; k < count + 5; ++k) { const uint64_t y = k * 3; OK(stratape_tape_push(u, &y, 8)); }
    OK(stratape_tape_save(u, path[1])); OK(stratape_tape_save(u, path[1]));
    EXPECT(STRATAPE_EMPTY, try_load(path[1], count + 5));
    unlink(path[1]);
    for (size_t k = count + 5; k-- > 0 && !failures;) { OK(stratape_tape_pop(u, &x, 8)); CHECK(x == k * 3); }
    OK(stratape_tape_close(u));
    /* empty ones, in memory, and over an existing file */
    OK(stratape_tape_open_in_memory(8, 8, &u)); OK(stratape_tape_save(u, path[0])); OK(stratape_tape_close(u));
    EXPECT(STRATAPE_INVALID, try_load(path[0], 0)); /* The slabs are the file's, of 1 MiB: a memory of 1 MiB cannot hold two. */
    OK(stratape_options_memory(o, 8 << 20));
    OK(stratape_tape_load(path[0], o, 8, 8, &u));
    OK(stratape_tape_size(u, &n));
    CHECK(n == 0);
    OK(stratape_tape_close(u));
    /* records */
    OK(stratape_records_open(o, &r));
    for (int i = 0; i < 1000; ++i) OK(stratape_records_push(r, path, (size_t)i));
    OK(stratape_records_save(r, path[2]));
    OK(stratape_records_close(r));
    {
        const int s = stratape_tape_load(path[2], o, 8, 8, &u);
        printf("records as a tape: %d %s\n", s, s ? stratape_last_error() : "");
        CHECK(s == STRATAPE_NOT_A_TAPE);
    }
    OK(stratape_records_load(path[2], o, &r));
    {
        static char b[1200];
        for (int i = 999; i >= 0; --i) OK(stratape_records_pop(r, b, (size_t)i));
        EXPECT(STRATAPE_EMPTY, stratape_records_pop(r, b, 1));
    }
    OK(stratape_records_close(r));
    OK(stratape_tape_close(t)); OK(stratape_options_close(o));
    for (int i = 0; i < 3; ++i) unlink(path[i]);
    return failures != 0;
}
