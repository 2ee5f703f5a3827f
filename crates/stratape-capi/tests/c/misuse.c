/* Every misuse that can be noticed is a status, and leaves the object as it was. */
#include <stratape.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(expected, call)                                                                                     \
    do {                                                                                                           \
        const int status_ = (int)(call);                                                                           \
        if (status_ != (int)(expected)) {                                                                          \
            fprintf(stderr, "line %d: %s is %d (%s)\n", __LINE__, #call, status_, stratape_last_error());            \
            ++failures;                                                                                            \
        }                                                                                                          \
    } while (0)

#define TRUE(condition)                                                                                            \
    do {                                                                                                           \
        if (!(condition)) {                                                                                        \
            fprintf(stderr, "line %d: not %s\n", __LINE__, #condition);                                            \
            ++failures;                                                                                            \
        }                                                                                                          \
    } while (0)

static void elements(const char *directory) {
    stratape_options *options = NULL;
    stratape_tape *tape = NULL, *other = NULL;
    double value = 1.5;
    size_t size = 7;
    char file[4096];

    EXPECT(STRATAPE_NULL, stratape_options_open(NULL));
    EXPECT(STRATAPE_OK, stratape_options_open(&options));
    EXPECT(STRATAPE_OK, stratape_options_memory(options, 1 << 16));
    EXPECT(STRATAPE_NULL, stratape_options_spill_to(options, NULL));
    EXPECT(STRATAPE_OK, stratape_options_spill_to(options, directory));
    EXPECT(STRATAPE_INVALID, stratape_options_engine(options, 77));
    EXPECT(STRATAPE_OK, stratape_options_engine(options, STRATAPE_ENGINE_THREADS));

    EXPECT(STRATAPE_INVALID, stratape_tape_open(options, 12, 8, &tape));
    TRUE(tape == NULL && strstr(stratape_last_error(), "alignment") != NULL);
    EXPECT(STRATAPE_INVALID, stratape_tape_open(options, 0, 1, &tape));
    EXPECT(STRATAPE_NULL, stratape_tape_open(options, 8, 8, NULL));
    EXPECT(STRATAPE_OK, stratape_tape_open(options, sizeof value, sizeof value, &tape));

    EXPECT(STRATAPE_EMPTY, stratape_tape_pop(tape, &value, sizeof value));
    EXPECT(STRATAPE_EMPTY, stratape_tape_top(tape, &value, sizeof value));
    TRUE(value == 1.5);
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_push(tape, &value, 4));
    EXPECT(STRATAPE_NULL, stratape_tape_push(tape, NULL, sizeof value));
    EXPECT(STRATAPE_OK, stratape_tape_push(tape, &value, sizeof value));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_pop(tape, &value, 16));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_get(tape, 0, &value, 1));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_tape_get(tape, 1, &value, sizeof value));
    EXPECT(STRATAPE_NULL, stratape_tape_size(tape, NULL));
    EXPECT(STRATAPE_OK, stratape_tape_size(tape, &size));
    TRUE(size == 1);
    const stratape_mark above = {2};
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_tape_rewind(tape, above));

    stratape_cursor cursor;
    EXPECT(STRATAPE_OK, stratape_tape_cursor(tape, &cursor));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_set_top(tape, (char *)cursor.base - 8));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_set_top(tape, (char *)cursor.base + 1));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_tape_climb(tape, NULL, &cursor));

    stratape_run run;
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_tape_run_up(tape, 1, &run));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_tape_run_down(tape, (size_t)-1, &run));

    snprintf(file, sizeof file, "%s/none.tape", directory);
    EXPECT(STRATAPE_IO, stratape_tape_load(file, options, 8, 8, &other));
    snprintf(file, sizeof file, "%s/no/such/directory.tape", directory);
    EXPECT(STRATAPE_IO, stratape_tape_save(tape, file));
    snprintf(file, sizeof file, "%s/saved.tape", directory);
    EXPECT(STRATAPE_OK, stratape_tape_save(tape, file));
    EXPECT(STRATAPE_NOT_A_TAPE, stratape_tape_load(file, options, 16, 8, &other));
    EXPECT(STRATAPE_OK, stratape_tape_load(file, options, 8, 8, &other));
    value = 0;
    EXPECT(STRATAPE_OK, stratape_tape_pop(other, &value, sizeof value));
    TRUE(value == 1.5);
    EXPECT(STRATAPE_OK, stratape_tape_close(other));

    /* Handles. */
    EXPECT(STRATAPE_NULL, stratape_tape_push(NULL, &value, sizeof value));
    EXPECT(STRATAPE_CLOSED, stratape_tape_push(other, &value, sizeof value));
    EXPECT(STRATAPE_CLOSED, stratape_tape_close(other));
    EXPECT(STRATAPE_OK, stratape_tape_close(NULL));
    EXPECT(STRATAPE_WRONG_KIND, stratape_tape_push((stratape_tape *)options, &value, sizeof value));
    EXPECT(STRATAPE_WRONG_KIND, stratape_options_close((stratape_options *)tape));
    EXPECT(STRATAPE_OK, stratape_tape_close(tape));
    /* The place is used again, and the old handle still does not fit. */
    EXPECT(STRATAPE_OK, stratape_tape_open_in_memory(8, 8, &other));
    EXPECT(STRATAPE_CLOSED, stratape_tape_push(tape, &value, sizeof value));
    EXPECT(STRATAPE_OK, stratape_tape_close(other));

    /* A disk that is full: what was pushed stays, and memory helps. */
    EXPECT(STRATAPE_OK, stratape_options_disk_limit(options, 1 << 16));
    EXPECT(STRATAPE_OK, stratape_tape_open(options, 8, 8, &tape));
    stratape_status status = STRATAPE_OK;
    size_t pushed = 0;
    while (pushed < 1000000 && (status = stratape_tape_push(tape, &value, 8)) == STRATAPE_OK) ++pushed;
    EXPECT(STRATAPE_FULL, status);
    EXPECT(STRATAPE_OK, stratape_tape_size(tape, &size));
    TRUE(size == pushed);
    EXPECT(STRATAPE_OK, stratape_tape_set_memory(tape, 1 << 20));
    EXPECT(STRATAPE_OK, stratape_tape_push(tape, &value, 8));
    EXPECT(STRATAPE_OK, stratape_tape_close(tape));
    EXPECT(STRATAPE_OK, stratape_options_spill_to(options, "/nonexistent"));
    EXPECT(STRATAPE_IO, stratape_tape_open(options, 8, 8, &tape));
    EXPECT(STRATAPE_OK, stratape_options_close(options));
    EXPECT(STRATAPE_CLOSED, stratape_options_memory(options, 1));
}

static void records(const char *directory) {
    stratape_records *tape = NULL;
    char text[16] = "fourteen bytes", file[4096];
    void *region = text;
    size_t size = 1;
    uint64_t low = 0, high = 0;

    EXPECT(STRATAPE_OK, stratape_records_open_in_memory(&tape));
    EXPECT(STRATAPE_EMPTY, stratape_records_pop(tape, text, 1));
    EXPECT(STRATAPE_EMPTY, stratape_records_top_size(tape, &size));
    EXPECT(STRATAPE_EMPTY, stratape_records_take(tape, &region, &size));
    TRUE(region == NULL && size == 0);
    EXPECT(STRATAPE_EMPTY, stratape_records_commit(tape, 0));
    EXPECT(STRATAPE_OK, stratape_records_mark(tape, &low));
    EXPECT(STRATAPE_OK, stratape_records_push(tape, text, 14));
    EXPECT(STRATAPE_OK, stratape_records_push(tape, NULL, 0));
    EXPECT(STRATAPE_OK, stratape_records_pop(tape, NULL, 0));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_records_pop(tape, text, 13));
    memset(text, 0, sizeof text);
    EXPECT(STRATAPE_OK, stratape_records_top(tape, text, 14));
    TRUE(strcmp(text, "fourteen bytes") == 0);
    EXPECT(STRATAPE_OK, stratape_records_mark(tape, &high));
    TRUE(high != low);
    EXPECT(STRATAPE_OK, stratape_records_reserve(tape, 1000, &region));
    memset(region, 7, 1000);
    EXPECT(STRATAPE_WRONG_SIZE, stratape_records_commit(tape, 1001));
    EXPECT(STRATAPE_OK, stratape_records_commit(tape, 10));
    EXPECT(STRATAPE_OK, stratape_records_top_size(tape, &size));
    TRUE(size == 10);
    snprintf(file, sizeof file, "%s/records.tape", directory);
    EXPECT(STRATAPE_OK, stratape_records_save(tape, file));
    EXPECT(STRATAPE_OK, stratape_records_rewind(tape, high));
    EXPECT(STRATAPE_OK, stratape_records_top(tape, text, 14));
    EXPECT(STRATAPE_OK, stratape_records_rewind(tape, low));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_records_rewind(tape, high));
    EXPECT(STRATAPE_OK, stratape_records_size(tape, &size));
    TRUE(size == 0);
    EXPECT(STRATAPE_INVALID, stratape_records_reserve(tape, (size_t)-1, &region));
    EXPECT(STRATAPE_OK, stratape_records_close(tape));
    EXPECT(STRATAPE_CLOSED, stratape_records_clear(tape));

    EXPECT(STRATAPE_OK, stratape_records_load(file, NULL, &tape));
    EXPECT(STRATAPE_OK, stratape_records_take(tape, &region, &size));
    TRUE(size == 10 && ((char *)region)[9] == 7);
    EXPECT(STRATAPE_OK, stratape_records_pop(tape, text, 14));
    TRUE(strcmp(text, "fourteen bytes") == 0);
    EXPECT(STRATAPE_OK, stratape_records_close(tape));
}

static void others(const char *directory) {
    stratape_tape *lanes[3] = {0};
    stratape_stash *stash = NULL;
    stratape_schedule *schedule = NULL;
    stratape_action action;
    stratape_stats stats;
    uint64_t ticket = 0;
    char text[64];
    size_t length = 0;

    EXPECT(STRATAPE_INVALID, stratape_lanes_open(NULL, 8, 8, 0, lanes));
    EXPECT(STRATAPE_NULL, stratape_lanes_open(NULL, 8, 8, 3, NULL));
    EXPECT(STRATAPE_OK, stratape_lanes_open(NULL, 8, 8, 3, lanes));
    for (uint64_t i = 0; i < 3; ++i) {
        uint64_t found = 0;
        EXPECT(STRATAPE_OK, stratape_tape_push(lanes[i], &i, 8));
        EXPECT(STRATAPE_OK, stratape_tape_stats(lanes[i], &stats, sizeof stats));
        TRUE(stats.elements == 1 && stats.memory == (1u << 30) / 3);
        EXPECT(STRATAPE_OK, stratape_tape_pop(lanes[i], &found, 8));
        TRUE(found == i);
    }
    EXPECT(STRATAPE_OK, stratape_tape_stats_text(lanes[0], text, sizeof text, &length));
    TRUE(strlen(text) == sizeof text - 1 && length > sizeof text && strncmp(text, "elements", 8) == 0);
    for (int i = 0; i < 3; ++i) EXPECT(STRATAPE_OK, stratape_tape_close(lanes[i]));

    EXPECT(STRATAPE_OK, stratape_stash_open(NULL, &stash));
    EXPECT(STRATAPE_OK, stratape_stash_put(stash, directory, 1, &ticket));
    EXPECT(STRATAPE_WRONG_SIZE, stratape_stash_get(stash, ticket, text, 2));
    EXPECT(STRATAPE_OK, stratape_stash_get(stash, ticket, text, 1));
    TRUE(text[0] == directory[0]);
    EXPECT(STRATAPE_OK, stratape_stash_forget(stash, ticket));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_stash_get(stash, ticket, text, 1));
    EXPECT(STRATAPE_OUT_OF_RANGE, stratape_stash_forget(stash, ticket));
    EXPECT(STRATAPE_OK, stratape_stash_close(stash));

    EXPECT(STRATAPE_INVALID, stratape_schedule_revolve(10, 0, 0, &schedule));
    EXPECT(STRATAPE_INVALID, stratape_schedule_revolve(10, 3, 9, &schedule));
    EXPECT(STRATAPE_INVALID, stratape_schedule_revolve(STRATAPE_UNKNOWN_STEPS, 3, 0, &schedule));
    EXPECT(STRATAPE_OK, stratape_schedule_revolve(10, 3, 0, &schedule));
    EXPECT(STRATAPE_INVALID, stratape_schedule_finished(schedule, 11));
    EXPECT(STRATAPE_NULL, stratape_schedule_next(schedule, NULL));
    int steps = 0, reversed = 0;
    stratape_status status;
    while ((status = stratape_schedule_next(schedule, &action)) == STRATAPE_OK) {
        if (action.kind == STRATAPE_ADVANCE) steps += (int)(action.to - action.step);
        if (action.kind == STRATAPE_TAPE) ++steps;
        if (action.kind == STRATAPE_REVERSE) ++reversed;
    }
    EXPECT(STRATAPE_EMPTY, status);
    TRUE(steps == 25 && reversed == 10);
    EXPECT(STRATAPE_OK, stratape_schedule_close(schedule));

    /* Each schedule reverses every step once, the last first; those that can be told the end are told it. */
    const stratape_level_costs costs[2] = {{3, 0, 0}, {10, 2, 2}};
    for (int kind = 0; kind < 6; ++kind) {
        switch (kind) {
        case 0: EXPECT(STRATAPE_OK, stratape_schedule_store_all(STRATAPE_UNKNOWN_STEPS, &schedule)); break;
        case 1: EXPECT(STRATAPE_OK, stratape_schedule_online(4, 0, &schedule)); break;
        case 2: EXPECT(STRATAPE_OK, stratape_schedule_periodic(20, 5, 1, 2, &schedule)); break;
        case 3: EXPECT(STRATAPE_OK, stratape_schedule_multistage(20, 2, 3, &schedule)); break;
        case 4: EXPECT(STRATAPE_OK, stratape_schedule_hrevolve(20, costs, 2, 1, 1, &schedule)); break;
        default: EXPECT(STRATAPE_OK, stratape_schedule_mixed(20, 4, &schedule)); break;
        }
        size_t left = 20;
        while ((status = stratape_schedule_next(schedule, &action)) == STRATAPE_OK) {
            const int unknown = kind < 2 && left == 20;
            if (unknown && action.kind == STRATAPE_ADVANCE && action.to >= 20) stratape_schedule_finished(schedule, 20);
            if (unknown && action.kind == STRATAPE_TAPE && action.step >= 20) stratape_schedule_finished(schedule, 20);
            if (action.kind == STRATAPE_REVERSE) TRUE(action.step == --left);
        }
        EXPECT(STRATAPE_EMPTY, status);
        TRUE(left == 0);
        EXPECT(STRATAPE_OK, stratape_schedule_slots(schedule, 0, &length));
        EXPECT(STRATAPE_OK, stratape_schedule_close(schedule));
    }
    TRUE(strcmp(stratape_status_text(STRATAPE_FULL), "the disk is full") == 0);
    TRUE(strcmp(stratape_status_text(-5), "an unknown status") == 0);
    TRUE(strlen(stratape_version()) >= 5);
}

int main(int argc, char **argv) {
    const char *directory = argc > 1 ? argv[1] : "/tmp";
    elements(directory);
    records(directory);
    others(directory);
    printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
