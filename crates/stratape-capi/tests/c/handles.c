/* Handles used wrongly: every function, with every kind of handle that is not its own. */
#include "expect.h"

enum { KINDS = 5 };

int main(void) {
    stratape_options *o = NULL;
    stratape_tape *t = NULL;
    stratape_records *r = NULL;
    stratape_stash *s = NULL;
    stratape_schedule *h = NULL;
    CHECK(stratape_last_error()[0] == '\0');
    OK(stratape_options_open(&o));
    OK(stratape_options_memory(o, 1 << 20));
    OK(stratape_tape_open(o, 8, 8, &t));
    OK(stratape_records_open(o, &r));
    OK(stratape_stash_open(o, &s));
    OK(stratape_schedule_revolve(10, 3, 0, &h));
    CHECK(stratape_last_error()[0] == '\0');

    /* a stale handle of each kind, and things that never were handles */
    stratape_options *o2; stratape_tape *t2; stratape_records *r2; stratape_stash *s2; stratape_schedule *h2;
    OK(stratape_options_open(&o2)); OK(stratape_options_close(o2));
    OK(stratape_tape_open_in_memory(8, 8, &t2)); OK(stratape_tape_close(t2));
    OK(stratape_records_open_in_memory(&r2)); OK(stratape_records_close(r2));
    OK(stratape_stash_open(NULL, &s2)); OK(stratape_stash_close(s2));
    OK(stratape_schedule_store_all(3, &h2)); OK(stratape_schedule_close(h2));

    void *const all[KINDS] = {o, t, r, s, h};
    void *const closed[KINDS] = {o2, t2, r2, s2, h2};
    double x = 1;
    size_t n = 7;
    uint64_t u = 7;
    void *p = &x;
    char text[16];
    stratape_cursor c;
    stratape_run run;
    stratape_mark m = {0};
    stratape_stats st; stratape_action a;
    double local[4] = {0};
    void *heap = calloc(1, 4096);
    /* Small numbers are left out: they are handles, of whoever opened one. */
    void *const garbage[] = {(void *)0x10000, (void *)(uintptr_t)-1, (void *)(uintptr_t)-8, local, heap,
                             (void *)(uintptr_t)&main, (void *)((uintptr_t)t ^ ((uintptr_t)1 << 40)),
                             (void *)((uintptr_t)t + ((uintptr_t)1 << 32))};
    const int GARBAGE = (int)(sizeof garbage / sizeof *garbage);

#define HANDLE(type, call)                                                                                  \
    do {                                                                                                    \
        for (int k = 0; k < KINDS; ++k) {                                                                   \
            stratape_##type *x_ = all[k];                                                                   \
            if (all[k] != (void *)own_##type) EXPECT(STRATAPE_WRONG_KIND, call);                            \
            x_ = closed[k];                                                                                 \
            EXPECT(STRATAPE_CLOSED, call);                                                                  \
            CHECK(stratape_last_error()[0] != '\0');                                                        \
        }                                                                                                   \
        for (int k = 0; k < GARBAGE; ++k) {                                                                 \
            stratape_##type *x_ = garbage[k];                                                               \
            EXPECT(STRATAPE_CLOSED, call);                                                                  \
        }                                                                                                   \
    } while (0)
#define NOT_NULL(type, call)             \
    do {                                 \
        HANDLE(type, call);              \
        stratape_##type *x_ = NULL;      \
        EXPECT(STRATAPE_NULL, call);     \
    } while (0)

    stratape_options *own_options = o;
    stratape_tape *own_tape = t;
    stratape_records *own_records = r;
    stratape_stash *own_stash = s;
    stratape_schedule *own_schedule = h;
    NOT_NULL(options, stratape_options_memory(x_, 1 << 20));
    NOT_NULL(options, stratape_options_spill_to(x_, "."));
    NOT_NULL(options, stratape_options_slab_bytes(x_, 1 << 16));
    NOT_NULL(options, stratape_options_engine(x_, 0));
    NOT_NULL(options, stratape_options_disk_limit(x_, 1 << 20));
    NOT_NULL(options, stratape_options_in_flight(x_, 2));
    NOT_NULL(options, stratape_options_patience(x_, 1000));
    NOT_NULL(options, stratape_options_checksum(x_, true));
    NOT_NULL(options, stratape_options_direct(x_, true));
    NOT_NULL(options, stratape_options_environment(x_));
    NOT_NULL(tape, stratape_tape_cursor(x_, &c));
    NOT_NULL(tape, stratape_tape_set_top(x_, p));
    NOT_NULL(tape, stratape_tape_climb(x_, p, &c));
    NOT_NULL(tape, stratape_tape_descend(x_, p, &c));
    NOT_NULL(tape, stratape_tape_run_up(x_, 0, &run));
    NOT_NULL(tape, stratape_tape_run_down(x_, 0, &run));
    NOT_NULL(tape, stratape_tape_stats(x_, &st, sizeof st));
    NOT_NULL(tape, stratape_tape_stats_text(x_, text, sizeof text, &n));
    NOT_NULL(tape, stratape_tape_save(x_, "/nonexistent/x"));
    NOT_NULL(tape, stratape_tape_adopt(x_));
    NOT_NULL(tape, stratape_tape_check(x_));
    NOT_NULL(tape, stratape_tape_push(x_, &x, sizeof x));
    NOT_NULL(tape, stratape_tape_pop(x_, &x, sizeof x));
    NOT_NULL(tape, stratape_tape_top(x_, &x, sizeof x));
    NOT_NULL(tape, stratape_tape_get(x_, 0, &x, sizeof x));
    NOT_NULL(tape, stratape_tape_push_many(x_, &x, 1));
    NOT_NULL(tape, stratape_tape_pop_many(x_, &x, 1, &n));
    NOT_NULL(tape, stratape_tape_size(x_, &n));
    NOT_NULL(tape, stratape_tape_truncate(x_, 0));
    NOT_NULL(tape, stratape_tape_clear(x_));
    NOT_NULL(tape, stratape_tape_mark(x_, &m));
    NOT_NULL(tape, stratape_tape_rewind(x_, m));
    NOT_NULL(tape, stratape_tape_set_memory(x_, 1 << 20));
    NOT_NULL(tape, stratape_tape_shrink(x_));
    NOT_NULL(records, stratape_records_save(x_, "/nonexistent/x"));
    NOT_NULL(records, stratape_records_adopt(x_));
    NOT_NULL(records, stratape_records_push(x_, &x, 8));
    NOT_NULL(records, stratape_records_pop(x_, &x, 8));
    NOT_NULL(records, stratape_records_top(x_, &x, 8));
    NOT_NULL(records, stratape_records_top_size(x_, &n));
    NOT_NULL(records, stratape_records_reserve(x_, 8, &p));
    NOT_NULL(records, stratape_records_commit(x_, 8));
    NOT_NULL(records, stratape_records_take(x_, &p, &n));
    NOT_NULL(records, stratape_records_size(x_, &n));
    NOT_NULL(records, stratape_records_mark(x_, &u));
    NOT_NULL(records, stratape_records_rewind(x_, 0));
    NOT_NULL(records, stratape_records_clear(x_));
    NOT_NULL(records, stratape_records_stats(x_, &st, sizeof st));
    NOT_NULL(records, stratape_records_stats_text(x_, text, sizeof text, &n));
    NOT_NULL(schedule, stratape_schedule_next(x_, &a));
    NOT_NULL(schedule, stratape_schedule_finished(x_, 3));
    NOT_NULL(schedule, stratape_schedule_slots(x_, 0, &n));
    NOT_NULL(schedule, stratape_schedule_describe(x_, text, sizeof text, &n));
    NOT_NULL(stash, stratape_stash_adopt(x_));
    NOT_NULL(stash, stratape_stash_put(x_, &x, 8, &u));
    NOT_NULL(stash, stratape_stash_fetch(x_, 1));
    NOT_NULL(stash, stratape_stash_get(x_, 1, &x, 8));
    NOT_NULL(stash, stratape_stash_forget(x_, 1));
    /* closing: null does nothing, another's handle is not closed by mistake */
    HANDLE(options, stratape_options_close(x_));
    HANDLE(tape, stratape_tape_close(x_));
    HANDLE(records, stratape_records_close(x_));
    HANDLE(schedule, stratape_schedule_close(x_));
    HANDLE(stash, stratape_stash_close(x_));
    OK(stratape_options_close(NULL)); OK(stratape_tape_close(NULL)); OK(stratape_records_close(NULL));
    OK(stratape_schedule_close(NULL)); OK(stratape_stash_close(NULL));
    /* options as arguments of others */
    stratape_tape *t3 = (stratape_tape *)1;
    stratape_tape *lanes[2] = {(stratape_tape *)1, (stratape_tape *)1};
    EXPECT(STRATAPE_WRONG_KIND, stratape_tape_open((stratape_options *)(void *)t, 8, 8, &t3)); CHECK(t3 == NULL);
    t3 = (stratape_tape *)1;
    EXPECT(STRATAPE_CLOSED, stratape_tape_open(o2, 8, 8, &t3)); CHECK(t3 == NULL);
    EXPECT(STRATAPE_CLOSED, stratape_lanes_open(o2, 8, 8, 2, lanes)); CHECK(lanes[0] == NULL && lanes[1] == NULL);
    EXPECT(STRATAPE_CLOSED, stratape_records_open(o2, &r2)); CHECK(r2 == NULL);
    EXPECT(STRATAPE_CLOSED, stratape_stash_open(o2, &s2)); CHECK(s2 == NULL);
    EXPECT(STRATAPE_CLOSED, stratape_tape_load("/nonexistent/x", o2, 8, 8, &t2)); CHECK(t2 == NULL);

    /* null results, with good handles */
    EXPECT(STRATAPE_NULL, stratape_options_open(NULL));
    EXPECT(STRATAPE_NULL, stratape_options_spill_to(o, NULL));
    EXPECT(STRATAPE_NULL, stratape_tape_open(o, 8, 8, NULL));
    EXPECT(STRATAPE_NULL, stratape_tape_open_in_memory(8, 8, NULL));
    EXPECT(STRATAPE_NULL, stratape_tape_open_by_environment(8, 8, 8, true, NULL));
    EXPECT(STRATAPE_NULL, stratape_tape_load(NULL, o, 8, 8, &t2));
    EXPECT(STRATAPE_NULL, stratape_tape_load("x", o, 8, 8, NULL));
    EXPECT(STRATAPE_NULL, stratape_tape_save(t, NULL));
    EXPECT(STRATAPE_NULL, stratape_tape_cursor(t, NULL));
    OK(stratape_tape_push(t, &x, 8));
    OK(stratape_tape_cursor(t, &c));
    EXPECT(STRATAPE_NULL, stratape_tape_climb(t, c.top, NULL));
    EXPECT(STRATAPE_NULL, stratape_tape_descend(t, c.top, NULL));
    EXPECT(STRATAPE_NULL, stratape_tape_run_up(t, 0, NULL));
    EXPECT(STRATAPE_NULL, stratape_tape_run_down(t, 0, NULL));
    EXPECT(STRATAPE_NULL, stratape_tape_stats(t, NULL, sizeof st));
    EXPECT(STRATAPE_NULL, stratape_tape_push(t, NULL, 8));
    EXPECT(STRATAPE_NULL, stratape_tape_pop(t, NULL, 8));
    EXPECT(STRATAPE_NULL, stratape_tape_top(t, NULL, 8));
    EXPECT(STRATAPE_NULL, stratape_tape_get(t, 0, NULL, 8));
    EXPECT(STRATAPE_NULL, stratape_tape_push_many(t, NULL, 8));
    EXPECT(STRATAPE_NULL, stratape_tape_pop_many(t, NULL, 8, &n));
    EXPECT(STRATAPE_NULL, stratape_tape_size(t, NULL));
    EXPECT(STRATAPE_NULL, stratape_tape_mark(t, NULL));
    EXPECT(STRATAPE_NULL, stratape_records_open(o, NULL));
    EXPECT(STRATAPE_NULL, stratape_records_open_in_memory(NULL));
    EXPECT(STRATAPE_NULL, stratape_records_load(NULL, o, &r2));
    EXPECT(STRATAPE_NULL, stratape_records_save(r, NULL));
    EXPECT(STRATAPE_NULL, stratape_records_push(r, NULL, 8));
    EXPECT(STRATAPE_NULL, stratape_records_reserve(r, 8, NULL));
    EXPECT(STRATAPE_NULL, stratape_records_size(r, NULL));
    EXPECT(STRATAPE_NULL, stratape_records_mark(r, NULL));
    EXPECT(STRATAPE_NULL, stratape_records_stats(r, NULL, sizeof st));
    OK(stratape_records_push(r, &x, 8));
    EXPECT(STRATAPE_NULL, stratape_records_pop(r, NULL, 8));
    EXPECT(STRATAPE_NULL, stratape_records_top(r, NULL, 8));
    EXPECT(STRATAPE_NULL, stratape_records_top_size(r, NULL));
    EXPECT(STRATAPE_NULL, stratape_records_take(r, NULL, &n));
    EXPECT(STRATAPE_NULL, stratape_records_take(r, &p, NULL));
    OK(stratape_records_pop(r, &x, 8));
    EXPECT(STRATAPE_NULL, stratape_lanes_open(o, 8, 8, 2, NULL));
    EXPECT(STRATAPE_NULL, stratape_schedule_revolve(3, 3, 0, NULL));
    EXPECT(STRATAPE_NULL, stratape_schedule_store_all(3, NULL));
    EXPECT(STRATAPE_NULL, stratape_schedule_online(3, 0, NULL));
    EXPECT(STRATAPE_NULL, stratape_schedule_periodic(3, 3, 0, 1, NULL));
    EXPECT(STRATAPE_NULL, stratape_schedule_multistage(3, 3, 0, NULL));
    EXPECT(STRATAPE_NULL, stratape_schedule_mixed(3, 3, NULL));
    EXPECT(STRATAPE_INVALID, stratape_schedule_hrevolve(3, NULL, 2, 1, 1, &h2)); CHECK(h2 == NULL);
    EXPECT(STRATAPE_NULL, stratape_schedule_next(h, NULL));
    EXPECT(STRATAPE_NULL, stratape_schedule_slots(h, 0, NULL));
    EXPECT(STRATAPE_NULL, stratape_stash_open(o, NULL));
    EXPECT(STRATAPE_NULL, stratape_stash_put(s, NULL, 8, &u));
    EXPECT(STRATAPE_NULL, stratape_stash_put(s, &x, 8, NULL));

    /* everything still works */
    x = 2.5;
    OK(stratape_tape_pop(t, &x, sizeof x));
    x = 2.5;
    OK(stratape_tape_push(t, &x, sizeof x)); x = 0; OK(stratape_tape_pop(t, &x, sizeof x)); CHECK(x == 2.5);
    OK(stratape_schedule_next(h, &a)); CHECK(a.kind == STRATAPE_STORE && a.step == 0);
    /* double close, and the place used again */
    OK(stratape_tape_close(t)); EXPECT(STRATAPE_CLOSED, stratape_tape_close(t));
    stratape_tape *again[64];
    for (int i = 0; i < 64; ++i) OK(stratape_tape_open_in_memory(8, 8, &again[i]));
    EXPECT(STRATAPE_CLOSED, stratape_tape_push(t, &x, 8));
    EXPECT(STRATAPE_CLOSED, stratape_tape_close(t));
    for (int i = 0; i < 64; ++i) OK(stratape_tape_close(again[i]));
    OK(stratape_options_close(o)); EXPECT(STRATAPE_CLOSED, stratape_options_close(o));
    OK(stratape_records_close(r)); EXPECT(STRATAPE_CLOSED, stratape_records_close(r));
    OK(stratape_stash_close(s)); EXPECT(STRATAPE_CLOSED, stratape_stash_close(s));
    OK(stratape_schedule_close(h)); EXPECT(STRATAPE_CLOSED, stratape_schedule_close(h));
    for (int i = -3; i < 40; ++i) CHECK(stratape_status_text(i)[0] != '\0');
    CHECK(stratape_status_text(INT32_MIN)[0] != '\0' && stratape_status_text(INT32_MAX)[0] != '\0');
    CHECK(strchr(stratape_version(), '.') != NULL);
    free(heap);
    return failures != 0;
}
