/* Schedules: each is driven on a model that checks every action; then wrongly. */
#include "expect.h"

enum { MOST = 600 };
/* Runs a schedule over `steps` steps; for one that does not know them `end` is said when the current state gets there. */
static void drive(const char *name, stratape_schedule *h, size_t steps, int unknown) {
    static signed char slot[2][MOST + 1]; static signed char taped[MOST + 1];
    size_t used[2] = {0, 0}, allowed[2];
    size_t current = 0, reversed = 0;
    int ended = 0, over = 0;
    stratape_action a;
    long actions = 0;
    memset(slot, 0, sizeof slot); memset(taped, 0, sizeof taped);
    OK(stratape_schedule_slots(h, 0, &allowed[0])); OK(stratape_schedule_slots(h, 1, &allowed[1]));
#define BAD(why) do { fprintf(stderr, "%s, %zu steps: action %ld (kind %d, step %zu, to %zu): %s\n", name, steps, actions, a.kind, a.step, a.to, why); ++failures; return; } while (0)
    stratape_status s;
    while ((s = stratape_schedule_next(h, &a)) == STRATAPE_OK) {
        if (++actions > 1000000) BAD("too many");
        if (over) BAD("after the end");
        switch (a.kind) {
        case STRATAPE_ADVANCE:
            if (a.step != current || a.to <= a.step) BAD("advance");
            if (unknown && !ended && a.to >= steps) { current = steps; OK(stratape_schedule_finished(h, steps)); break; }
            if (a.to > steps) BAD("advance beyond");
            current = a.to; break;
        case STRATAPE_STORE:
            if (a.level > 1 || a.step != current || slot[a.level][a.step]) BAD("store");
            slot[a.level][a.step] = 1; if (++used[a.level] > allowed[a.level]) BAD("more slots than said"); break;
        case STRATAPE_LOAD: if (a.level > 1 || !slot[a.level][a.step]) BAD("load"); current = a.step; break;
        case STRATAPE_DROP: if (a.level > 1 || !slot[a.level][a.step]) BAD("drop");
        slot[a.level][a.step] = 0;
        --used[a.level];
        break;
        case STRATAPE_TAPE:
            if (a.step != current) BAD("tape");
            if (unknown && !ended && a.step == steps) { OK(stratape_schedule_finished(h, steps)); break; }
            if (a.step >= steps) BAD("tape beyond");
            taped[a.step] = 1; current = a.step + 1; break;
        case STRATAPE_REVERSE: if (a.step != steps - 1 - reversed || !taped[a.step] || !ended) BAD("reverse");
        taped[a.step] = 0;
        ++reversed;
        break;
        case STRATAPE_END_FORWARD: if (current != steps || ended) BAD("end forward"); ended = 1; break;
        case STRATAPE_END_REVERSE: if (reversed != steps) BAD("end reverse"); over = 1; break;
        }
    }
    if (s != STRATAPE_EMPTY || !over || reversed != steps) {
        fprintf(stderr, "%s, %zu steps: ended with %d, %zu reversed: %s\n", name, steps, (int)s, reversed, stratape_last_error());
        ++failures;
    }
    for (int i = 0; i < 3; ++i) EXPECT(STRATAPE_EMPTY, stratape_schedule_next(h, &a));
    { const int f = stratape_schedule_finished(h, steps); if (f == STRATAPE_PANIC) BAD("panic"); }
}

#define DRIVE(steps, unknown, call)                          \
    do {                                                     \
        stratape_schedule *h = NULL;                         \
        const stratape_status s_ = call;                     \
        if (s_ == STRATAPE_OK) {                             \
            drive(#call, h, steps, unknown);                 \
            OK(stratape_schedule_close(h));                  \
        } else { fprintf(stderr, "%s (%zu) gives %d: %s\n", #call, (size_t)(steps), (int)s_, stratape_last_error()); ++failures; } \
    } while (0)

int main(void) {
    const size_t lengths[] = {1, 2, 3, 5, 17, 100, 333};
    const stratape_level_costs costs[2] = {{3, 0, 0}, {5, 2, 2}};
    for (int i = 0; i < 7; ++i) {
        const size_t n = lengths[i];
        for (size_t slots = 1; slots < 12; slots += 3) for (uint32_t level = 0; level < 2; ++level) {
            if (slots > 1 || n < 50) DRIVE(n, 0, stratape_schedule_revolve(n, slots, level, &h));
            if (slots > 1) DRIVE(n, 1, stratape_schedule_online(slots, level, &h));
            DRIVE(n, 0, stratape_schedule_periodic(n, slots, level, 2, &h));
            DRIVE(n, 1, stratape_schedule_periodic(STRATAPE_UNKNOWN_STEPS, slots, level, 2, &h));
        }
        DRIVE(n, 0, stratape_schedule_store_all(n, &h));
        DRIVE(n, 1, stratape_schedule_store_all(STRATAPE_UNKNOWN_STEPS, &h));
        DRIVE(n, 0, stratape_schedule_multistage(n, 2, 3, &h));
        DRIVE(n, 0, stratape_schedule_hrevolve(n, costs, 2, 1, 2, &h));
        DRIVE(n, 0, stratape_schedule_mixed(n, 4, &h));
    }
    /* what cannot be: a status, in reasonable time, and no handle */
#define REFUSED(call) do { stratape_schedule *h = (stratape_schedule *)1; const int s_ = (int)(call); \
        if (s_ == STRATAPE_OK || s_ == STRATAPE_PANIC) { fprintf(stderr, "%s:%d: %s gives %d %s\n", __FILE__, __LINE__, #call, s_, stratape_last_error()); ++failures; } \
        if (s_ == STRATAPE_OK) stratape_schedule_close(h); else CHECK(h == NULL); } while (0)
    REFUSED(stratape_schedule_revolve(10, 0, 0, &h));
    REFUSED(stratape_schedule_revolve(10, 3, 2, &h));
    REFUSED(stratape_schedule_revolve(10, 3, UINT32_MAX, &h));
    REFUSED(stratape_schedule_revolve(STRATAPE_UNKNOWN_STEPS, 3, 0, &h));
    REFUSED(stratape_schedule_online(0, 0, &h));
    REFUSED(stratape_schedule_online(3, 9, &h));
    REFUSED(stratape_schedule_periodic(10, 0, 0, 1, &h));
    REFUSED(stratape_schedule_periodic(10, 3, 9, 1, &h));
    REFUSED(stratape_schedule_multistage(10, 0, 0, &h));
    REFUSED(stratape_schedule_multistage(STRATAPE_UNKNOWN_STEPS, 3, 3, &h));
    REFUSED(stratape_schedule_mixed(10, 0, &h));
    REFUSED(stratape_schedule_mixed(STRATAPE_UNKNOWN_STEPS, 3, &h));
    REFUSED(stratape_schedule_mixed(1000000000, 1000, &h));
    REFUSED(stratape_schedule_hrevolve(10, costs, 0, 1, 1, &h));
    REFUSED(stratape_schedule_hrevolve(10, costs, 2, -1, 1, &h));
    REFUSED(stratape_schedule_hrevolve(10, costs, 2, 0.0 / 0.0, 1, &h));
    REFUSED(stratape_schedule_hrevolve(10, costs, 2, 1, 1.0 / 0.0, &h));
    REFUSED(stratape_schedule_hrevolve(1000000000, costs, 2, 1, 1, &h));
    REFUSED(stratape_schedule_hrevolve(STRATAPE_UNKNOWN_STEPS, costs, 2, 1, 1, &h));
    const stratape_level_costs bad[][2] = {{{3, -1, 0}, {5, 2, 2}}, {{3, 0.0 / 0.0, 0}, {5, 2, 2}}, {{3, 0, 1.0 / 0.0}, {5, 2, 2}}, {{0, 0, 0}, {0, 2, 2}}};
    for (int i = 0; i < 4; ++i) REFUSED(stratape_schedule_hrevolve(10, bad[i], 2, 1, 1, &h));
    const stratape_level_costs big[2] = {{SIZE_MAX, 0, 0}, {SIZE_MAX, 1, 1}};
    {
        stratape_schedule *h = NULL;
        const int s = stratape_schedule_hrevolve(10, big, 2, 1, 1, &h);
        printf("hrevolve with slots without end: %d %s\n", s, s ? stratape_last_error() : "");
        CHECK(s != STRATAPE_PANIC);
        if (!s) {
            drive("hrevolve big", h, 10, 0);
            stratape_schedule_close(h);
        }
    }
    {
        stratape_schedule *h = NULL;
        const int s = stratape_schedule_hrevolve(10, costs, SIZE_MAX, 1, 1, &h);
        printf("hrevolve level_count SIZE_MAX: %d %s\n", s, s ? stratape_last_error() : "");
        CHECK(s != STRATAPE_PANIC && s != STRATAPE_OK);
    }
    /* no steps at all */
    {
        stratape_schedule *h = NULL;
        stratape_action a;
        const int s = stratape_schedule_revolve(0, 3, 0, &h);
        printf("revolve of no steps: %d\n", s);
      if (!s) {
          int kinds = 0, q;
          while ((q = stratape_schedule_next(h, &a)) == STRATAPE_OK && ++kinds < 10) printf("  kind %d\n", a.kind);
          CHECK(q == STRATAPE_EMPTY);
          stratape_schedule_close(h);
      }
  }
    /* very many steps: the first actions come at once */
    {
        stratape_schedule *h = NULL;
        stratape_action a;
        OK(stratape_schedule_revolve(1000000000, 100, 0, &h));
        for (int i = 0; i < 1000; ++i) OK(stratape_schedule_next(h, &a));
        OK(stratape_schedule_close(h));
    }
    {
        stratape_schedule *h = NULL;
        stratape_action a;
        const int s = stratape_schedule_revolve(SIZE_MAX - 1, 3, 0, &h);
        printf("revolve of SIZE_MAX-1 steps in 3: %d %s\n", s, s ? stratape_last_error() : "");
        CHECK(s != STRATAPE_PANIC);
        if (!s) {
            for (int i = 0; i < 100; ++i) OK(stratape_schedule_next(h, &a));
            stratape_schedule_close(h);
        }
    }
    /* said wrongly */
    { stratape_schedule *h; stratape_action a; size_t n;
      OK(stratape_schedule_revolve(10, 3, 0, &h));
      {
          const int s = stratape_schedule_finished(h, 7);
          printf("finished on revolve: %d %s\n", s, stratape_last_error());
          CHECK(s != STRATAPE_OK && s != STRATAPE_PANIC);
      }
      drive("revolve after a wrong finished", h, 10, 0);
      {
          const int s = stratape_schedule_slots(h, 7, &n);
          printf("slots of level 7: %d %zu\n", s, n);
          CHECK(s != STRATAPE_PANIC);
      }
      OK(stratape_schedule_close(h));
      OK(stratape_schedule_online(3, 0, &h));
      {
          const int s = stratape_schedule_finished(h, 5);
          printf("finished before the first action: %d %s\n", s, s ? stratape_last_error() : "");
          CHECK(s != STRATAPE_PANIC);
      }
      OK(stratape_schedule_close(h));
      OK(stratape_schedule_online(3, 0, &h));
      do OK(stratape_schedule_next(h, &a)); while (a.kind != STRATAPE_ADVANCE && a.kind != STRATAPE_TAPE);
      {
          const int s = stratape_schedule_finished(h, SIZE_MAX);
          printf("finished beyond the advance: %d %s\n", s, s ? stratape_last_error() : "");
          CHECK(s != STRATAPE_OK && s != STRATAPE_PANIC);
      }
      OK(stratape_schedule_close(h));
      /* backwards */
      OK(stratape_schedule_online(3, 0, &h));
      for (int i = 0; i < 20; ++i) OK(stratape_schedule_next(h, &a));
      {
          const int s = stratape_schedule_finished(h, 0);
          printf("finished at 0 after 20 actions (%zu): %d %s\n", a.step, s, s ? stratape_last_error() : "");
          CHECK(s != STRATAPE_OK && s != STRATAPE_PANIC);
      }
      OK(stratape_schedule_close(h));
      /* text */
      char text[200]; memset(text, 'x', sizeof text);
      OK(stratape_schedule_multistage(10, 2, 3, &h));
      OK(stratape_schedule_describe(h, NULL, 0, &n)); CHECK(n > 0 && n < 200);
      OK(stratape_schedule_describe(h, text, 1, NULL)); CHECK(text[0] == 0 && text[1] == 'x');
      OK(stratape_schedule_describe(h, text, 5, &n)); CHECK(strlen(text) == 4 && text[5] == 'x');
      OK(stratape_schedule_describe(h, text, n, NULL)); CHECK(strlen(text) == n - 1);
      OK(stratape_schedule_describe(h, text, n + 1, NULL)); CHECK(strlen(text) == n);
      EXPECT(STRATAPE_NULL, stratape_schedule_describe(h, NULL, 5, &n));
      OK(stratape_schedule_describe(h, text, 0, &n));
      OK(stratape_schedule_close(h)); }
    return failures != 0;
}
