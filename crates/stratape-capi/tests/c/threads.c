/* Tapes and threads: hand-over, two at once, lanes, fork; and very many tapes. */
#include "expect.h"
#include <pthread.h>
#include <unistd.h>
#include <sys/wait.h>

static stratape_tape *shared;
static int statuses[2][20];
static int debug_library;

static void *foreign(void *unused) {
    double x = 1; stratape_status s = stratape_tape_push(shared, &x, sizeof x);
    (void)unused;
    if (s == STRATAPE_WRONG_THREAD) {
        debug_library = 1;
        CHECK(stratape_last_error()[0] != '\0');
        EXPECT(STRATAPE_WRONG_THREAD, stratape_tape_check(shared));
        EXPECT(STRATAPE_WRONG_THREAD, stratape_tape_pop(shared, &x, 8));
    }
    else OK(s);
    OK(stratape_tape_adopt(shared)); OK(stratape_tape_check(shared));
    for (int i = 0; i < 100000; ++i) { x = i; OK(stratape_tape_push(shared, &x, sizeof x)); }
    CHECK(s != STRATAPE_OK || stratape_last_error()[0] == '\0'); /* this thread's own text */
    return NULL;
}
static void *hammer(void *p) {
    int *seen = p; double x = 0;
    for (int i = 0; i < 200000; ++i) {
        const stratape_status s = i % 3 ? stratape_tape_push(shared, &x, 8) : stratape_tape_pop(shared, &x, 8);
        if ((int)s < 20) ++seen[s];
        else ++failures;
    }
    return NULL;
}
static void *lane(void *p) {
    stratape_tape *t = p; uint64_t x; OK(stratape_tape_adopt(t));
    for (uint64_t i = 0; i < 200000; ++i) OK(stratape_tape_push(t, &i, 8));
    for (uint64_t i = 200000; i-- > 0;) { OK(stratape_tape_pop(t, &x, 8)); if (x != i) { ++failures; break; } }
    EXPECT(STRATAPE_EMPTY, stratape_tape_pop(t, &x, 8));
    OK(stratape_tape_close(t));
    return NULL;
}
static void *closer(void *p) { OK(stratape_tape_close(p)); return NULL; }
static void *closes_while_used(void *p) {
    double x = 0;
    int s = 0;
    (void)p;
    while (s == STRATAPE_OK || s == STRATAPE_BUSY || s == STRATAPE_WRONG_THREAD) s = stratape_tape_push(shared, &x, 8);
    EXPECT(STRATAPE_CLOSED, s);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t a, b; stratape_options *o; double x;
    OK(stratape_options_open(&o));
    OK(stratape_options_memory(o, 1 << 20));
    OK(stratape_options_spill_to(o, argc > 1 ? argv[1] : "."));
    OK(stratape_tape_open(o, 8, 8, &shared));
    pthread_create(&a, NULL, foreign, NULL); pthread_join(a, NULL);
    if (debug_library) EXPECT(STRATAPE_WRONG_THREAD, stratape_tape_pop(shared, &x, 8));
    OK(stratape_tape_adopt(shared)); OK(stratape_tape_pop(shared, &x, 8)); CHECK(x == 99999);
    /* two at once: all that may come is OK, EMPTY, BUSY and, in debug builds, WRONG_THREAD */
    pthread_create(&a, NULL, hammer, statuses[0]);
    pthread_create(&b, NULL, hammer, statuses[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    for (int k = 0; k < 2; ++k) for (int s = 0; s < 20; ++s) if (statuses[k][s]) {
        if (s != STRATAPE_OK && s != STRATAPE_EMPTY && s != STRATAPE_BUSY && s != STRATAPE_WRONG_THREAD) {
            fprintf(stderr, "status %d\n", s);
            ++failures;
        }
        printf("thread %d: status %d, %d times\n", k, s, statuses[k][s]);
    }
    /* closed by another thread than the owner's */
    stratape_tape *t; OK(stratape_tape_open(o, 8, 8, &t)); pthread_create(&a, NULL, closer, t); pthread_join(a, NULL);
    { const int s = stratape_tape_close(t); printf("after a close by another thread: %d\n", s); }
    /* closed while another thread is busy with it */
    OK(stratape_tape_adopt(shared));
    pthread_create(&a, NULL, closes_while_used, NULL); usleep(2000);
    { int s; do s = stratape_tape_close(shared); while (s == STRATAPE_BUSY); OK(s); }
    pthread_join(a, NULL);
    /* lanes */
    enum { LANES = 4 }; stratape_tape *lanes[LANES]; pthread_t workers[LANES];
    OK(stratape_lanes_open(o, 8, 8, LANES, lanes));
    for (int i = 0; i < LANES; ++i) pthread_create(&workers[i], NULL, lane, lanes[i]);
    for (int i = 0; i < LANES; ++i) pthread_join(workers[i], NULL);
    { const int s = stratape_lanes_open(o, 8, 8, 0, lanes); printf("no lanes: %d\n", s); CHECK(s != STRATAPE_PANIC); }
    {
        const int s = stratape_lanes_open(o, 8, 0, 4, lanes);
        CHECK(s == STRATAPE_INVALID);
        for (int i = 0; i < 4; ++i) CHECK(lanes[i] == NULL);
    }
    {
        stratape_tape **many = calloc(100000, sizeof *many);
        const int s = stratape_lanes_open(o, 8, 8, 100000, many);
        printf("100000 lanes in 1 MiB: %d %s\n", s, s ? stratape_last_error() : "");
        CHECK(s == STRATAPE_INVALID);
        CHECK(many[0] == NULL && many[99999] == NULL);
        free(many);
    }
    /* a child has a copy; the parent's data is untouched */
    OK(stratape_tape_open(o, 8, 8, &t));
    for (int i = 0; i < 300000; ++i) { x = i; OK(stratape_tape_push(t, &x, 8)); }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        int s = 0;
        stratape_tape *mine;
        while ((s = stratape_tape_pop(t, &x, 8)) == STRATAPE_OK) {
        }
        if (s == STRATAPE_PANIC || s == STRATAPE_EMPTY) _exit(1);
        if (stratape_tape_open(o, 8, 8, &mine)) _exit(2);
        for (int i = 0; i < 300000; ++i) { x = i; if (stratape_tape_push(mine, &x, 8)) _exit(3); }
        if (stratape_tape_close(mine) || stratape_tape_close(t)) _exit(4);
        _exit(0); }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (status) fprintf(stderr, "child: %d\n", status);
    for (int i = 300000; i-- > 0 && !failures;) { OK(stratape_tape_pop(t, &x, 8)); CHECK(x == i); }
    OK(stratape_tape_close(t));
    /* very many tapes, one after another and all at once */
    for (int i = 0; i < 100000; ++i) {
        OK(stratape_tape_open_in_memory(8, 8, &t));
        if (i % 100 == 0) OK(stratape_tape_push(t, &x, 8));
        OK(stratape_tape_close(t));
    }
    enum { MANY = 2000 }; stratape_tape *many[MANY];
    for (int i = 0; i < MANY; ++i) OK(stratape_tape_open(o, 8, 8, &many[i]));
    for (int i = 0; i < MANY; ++i) for (int k = 0; k < 10; ++k) OK(stratape_tape_push(many[i], &x, 8));
    for (int i = 0; i < MANY; ++i) OK(stratape_tape_close(many[i]));
    OK(stratape_options_close(o));
    return failures != 0;
}
