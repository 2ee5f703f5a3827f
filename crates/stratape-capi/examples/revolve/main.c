/* Reverses a long time loop with a few snapshots on disk: a C program that drives a Revolve schedule.
 *
 * The state is a field u, a step is u[i] += h * (u[i-1] - 2 u[i] + u[i+1]) - h * u[i]^3 on a ring, and the result is the
 * sum of u[i]^2 after the last step. The gradient with respect to the first state is compared, bit by bit, with a reversal that has
 * kept every state in memory.
 */
#include <stratape.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 4096, STEPS = 200, SLOTS = 8 };
static const double H = 0.1;

static void check(stratape_status status) {
    if (status != STRATAPE_OK) {
        fprintf(stderr, "status %d: %s\n", (int)status, stratape_last_error());
        exit(1);
    }
}

static void *memory(size_t bytes) {
    void *found = malloc(bytes);
    if (found == NULL) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return found;
}

/* One step, from `u` to `next`. */
static void step(const double *u, double *next) {
    for (int i = 0; i < CELLS; ++i) {
        const double left = u[(i + CELLS - 1) % CELLS], right = u[(i + 1) % CELLS];
        next[i] = u[i] + H * (left - 2 * u[i] + right) - H * u[i] * u[i] * u[i];
    }
}

/* Its adjoint: from `next_bar` to `bar`, for the state `u` that the step began with. */
static void step_adjoint(const double *u, const double *next_bar, double *bar) {
    for (int i = 0; i < CELLS; ++i) {
        const double left = next_bar[(i + CELLS - 1) % CELLS], right = next_bar[(i + 1) % CELLS];
        bar[i] = next_bar[i] * (1 - 2 * H - 3 * H * u[i] * u[i]) + H * left + H * right;
    }
}

static void first_state(double *u) {
    for (int i = 0; i < CELLS; ++i) u[i] = 0.5 + 0.001 * (i % 17);
}

/* The gradient with every state in memory. */
static void plain(double *gradient) {
    double *states = memory((STEPS + 1) * CELLS * sizeof(double)), *bar = memory(CELLS * sizeof(double));
    first_state(states);
    for (int k = 0; k < STEPS; ++k) step(states + (size_t)k * CELLS, states + (size_t)(k + 1) * CELLS);
    for (int i = 0; i < CELLS; ++i) gradient[i] = 2 * states[(size_t)STEPS * CELLS + (size_t)i];
    for (int k = STEPS - 1; k >= 0; --k) {
        step_adjoint(states + (size_t)k * CELLS, gradient, bar);
        memcpy(gradient, bar, CELLS * sizeof(double));
    }
    free(bar);
    free(states);
}

int main(int argc, char **argv) {
    const size_t state_bytes = CELLS * sizeof(double);
    double *u = memory(state_bytes), *next = memory(state_bytes);
    double *gradient = memory(state_bytes), *bar = memory(state_bytes), *expected = memory(state_bytes);
    uint64_t tickets[STEPS] = {0}; /* Where the snapshot of a step is, while there is one. */
    int run = 0, reversed = 0, on_disk = 0, most_on_disk = 0;
    char text[200];

    stratape_options *options = NULL;
    check(stratape_options_open(&options));
    check(stratape_options_spill_to(options, argc > 1 ? argv[1] : "/tmp"));
    stratape_stash *snapshots = NULL;
    check(stratape_stash_open(options, &snapshots));
    stratape_records *tape = NULL; /* What a recorded step leaves for its reversal: here the state it began with. */
    check(stratape_records_open(options, &tape));
    stratape_schedule *schedule = NULL;
    check(stratape_schedule_revolve(STEPS, SLOTS, 1, &schedule));
    check(stratape_schedule_describe(schedule, text, sizeof text, NULL));

    first_state(u);
    stratape_status status;
    stratape_action action;
    while ((status = stratape_schedule_next(schedule, &action)) == STRATAPE_OK) {
        void *region;
        size_t bytes;
        switch (action.kind) {
        case STRATAPE_ADVANCE:
            for (size_t k = action.step; k < action.to; ++k, ++run) {
                step(u, next);
                memcpy(u, next, state_bytes);
            }
            break;
        case STRATAPE_STORE:
            check(stratape_stash_put(snapshots, u, state_bytes, &tickets[action.step]));
            if (++on_disk > most_on_disk) most_on_disk = on_disk;
            break;
        case STRATAPE_LOAD:
            check(stratape_stash_get(snapshots, tickets[action.step], u, state_bytes));
            break;
        case STRATAPE_DROP:
            check(stratape_stash_forget(snapshots, tickets[action.step]));
            --on_disk;
            break;
        case STRATAPE_TAPE:
            check(stratape_records_reserve(tape, state_bytes, &region));
            memcpy(region, u, state_bytes);
            step(u, next);
            memcpy(u, next, state_bytes);
            ++run;
            break;
        case STRATAPE_REVERSE:
            check(stratape_records_take(tape, &region, &bytes));
            step_adjoint(region, gradient, bar);
            memcpy(gradient, bar, state_bytes);
            ++reversed;
            break;
        case STRATAPE_END_FORWARD:
            for (int i = 0; i < CELLS; ++i) gradient[i] = 2 * u[i];
            break;
        case STRATAPE_END_REVERSE:
            break;
        }
    }
    if (status != STRATAPE_EMPTY) check(status);

    check(stratape_schedule_close(schedule));
    check(stratape_records_close(tape));
    check(stratape_stash_close(snapshots));
    check(stratape_options_close(options));

    plain(expected);
    const int same = memcmp(gradient, expected, state_bytes) == 0;
    printf("%s: %d steps, %d run, %d reversed, at most %d snapshots on disk; the gradient is %s\n", text, STEPS, run, reversed,
           most_on_disk, same ? "the same to the bit" : "WRONG");
    free(u);
    free(next);
    free(gradient);
    free(bar);
    free(expected);
    return same && reversed == STEPS && most_on_disk <= SLOTS && run > STEPS ? 0 : 1;
}
