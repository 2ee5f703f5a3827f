/* The layered tape and the reversal schedules of Stratape, for C.
 *
 * Generated from the source of stratape-capi; a test keeps it up to date. The guide is docs/c-and-cpp.md.
 *
 * Every call that can fail returns a stratape_status; stratape_last_error() has the text. An object is used by one thread at a
 * time. A handle that is null, closed, of another kind or in use by another thread is a status; a pointer to data that is too
 * short, or a string without an end, cannot be noticed.
 */

#ifndef STRATAPE_H
#define STRATAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Marks a number of steps that is found out at the end.
#define STRATAPE_UNKNOWN_STEPS SIZE_MAX

// How a call went.
typedef enum stratape_status {
    // It did what it says.
    STRATAPE_OK = 0,
    // Nothing is left: a pop from an empty tape, the end of a schedule. No failure, and `stratape_last_error` is unchanged.
    STRATAPE_EMPTY = 1,
    // A pointer or a handle is null that must not be.
    STRATAPE_NULL = 2,
    // The handle was closed, or never opened.
    STRATAPE_CLOSED = 3,
    // The handle is that of another kind of object.
    STRATAPE_WRONG_KIND = 4,
    // Another thread is inside a call on the same object.
    STRATAPE_BUSY = 5,
    // Debug builds: the tape belongs to another thread, which has not let it be adopted.
    STRATAPE_WRONG_THREAD = 6,
    // Another size than that of what is on the tape, or a cursor that is none of this tape's.
    STRATAPE_WRONG_SIZE = 7,
    // An argument or an option that cannot work.
    STRATAPE_INVALID = 8,
    // An index or a mark above the tape.
    STRATAPE_OUT_OF_RANGE = 9,
    // The disk, or the limit on it, is full. The tape is as before.
    STRATAPE_FULL = 10,
    // The disk failed. The tape is as before, and the call may be repeated.
    STRATAPE_IO = 11,
    // Data came back damaged.
    STRATAPE_DAMAGED = 12,
    // A slab is gone for good.
    STRATAPE_LOST = 13,
    // No memory.
    STRATAPE_OUT_OF_MEMORY = 14,
    // The file is no saved tape of such elements.
    STRATAPE_NOT_A_TAPE = 15,
    // The I/O engine that was asked for is not to be had here.
    STRATAPE_UNAVAILABLE = 16,
    // A bug in the library. The object can only be closed.
    STRATAPE_PANIC = 17,
} stratape_status;

// What to do next. There is one *current state*, at step 0 to begin with, and slots for states in memory (level 0) and on disk
// (level 1).
typedef enum stratape_action_kind {
    // Run the steps from `step` up to, and without, `to`, recording nothing.
    STRATAPE_ADVANCE = 0,
    // Copy the current state, which is at `step`, to a slot on `level`.
    STRATAPE_STORE = 1,
    // Copy the state of `step` from its slot on `level` to the current state.
    STRATAPE_LOAD = 2,
    // Free the slot of `step` on `level`.
    STRATAPE_DROP = 3,
    // Run step `step` and record what its reversal needs. With `keep` the record stays while other steps are recorded and reversed.
    STRATAPE_TAPE = 4,
    // Propagate the adjoint through step `step`, and give its record up.
    STRATAPE_REVERSE = 5,
    // The current state is the last one: seed the adjoint.
    STRATAPE_END_FORWARD = 6,
    // Every step is reversed.
    STRATAPE_END_REVERSE = 7,
} stratape_action_kind;

// The I/O engine that moves slabs.
typedef enum stratape_engine {
    // io_uring where the kernel allows it, threads otherwise.
    STRATAPE_ENGINE_AUTO = 0,
    // io_uring, or `STRATAPE_UNAVAILABLE`.
    STRATAPE_ENGINE_URING = 1,
    // Threads with `pread` and `pwrite`.
    STRATAPE_ENGINE_THREADS = 2,
} stratape_engine;

// Settings of a tape. Opaque.
typedef struct stratape_options stratape_options;

// A tape of records of different sizes, in memory or in layers. Opaque.
typedef struct stratape_records stratape_records;

// A reversal schedule. Opaque.
typedef struct stratape_schedule stratape_schedule;

// Blocks of bytes on disk. Opaque.
typedef struct stratape_stash stratape_stash;

// A tape of equal elements, in memory or in layers. Opaque.
typedef struct stratape_tape stratape_tape;

// Where a tape stands in its top slab: `base <= top <= limit`, or three equal addresses that must not be used.
typedef struct stratape_cursor {
    // Where the next element goes; the top element ends here.
    void *top;
    // The first element of the slab.
    void *base;
    // The end of the slab's room.
    void *limit;
} stratape_cursor;

// Elements that lie side by side. Valid until the next call on the tape.
typedef struct stratape_run {
    // The first of them.
    const void *first;
    // Its index, counted from zero at the bottom of the tape.
    size_t index;
    // How many there are: one at least.
    size_t count;
} stratape_run;

// Slots of one kind of storage and what they cost, for `stratape_schedule_hrevolve`.
typedef struct stratape_level_costs {
    // Slots there are.
    size_t slots;
    // Writing a state, in any unit.
    double write;
    // Reading one.
    double read;
} stratape_level_costs;

// One action of a schedule.
typedef struct stratape_action {
    // What to do.
    enum stratape_action_kind kind;
    // Whether a record is kept.
    bool keep;
    // Where a state is kept: 0 in memory, 1 on disk.
    uint32_t level;
    // The step.
    size_t step;
    // The step after the last to run.
    size_t to;
} stratape_action;

// What a tape has done, and where its data is.
typedef struct stratape_stats {
    // Elements on the tape; for records, words of eight bytes.
    uint64_t elements;
    // Bytes those take.
    uint64_t bytes;
    // The memory budget; the greatest number there is for a tape without one.
    uint64_t memory;
    // Bytes of slabs in memory now.
    uint64_t resident;
    // The most there ever were.
    uint64_t resident_peak;
    // Bytes of one slab.
    uint64_t slab_bytes;
    // Slabs whose only copy is in memory.
    uint64_t slabs_unsaved;
    // Slabs in memory that the disk has too.
    uint64_t slabs_saved;
    // Slabs on their way.
    uint64_t slabs_moving;
    // Slabs that are only on disk.
    uint64_t slabs_below;
    // Slabs written so far.
    uint64_t slabs_spilled;
    // Their bytes.
    uint64_t bytes_spilled;
    // Slabs read back so far.
    uint64_t slabs_read;
    // Their bytes.
    uint64_t bytes_read;
    // Slabs that had been read when the reverse pass reached them.
    uint64_t read_ahead_hits;
    // Slabs that were read ahead for nothing.
    uint64_t read_ahead_wasted;
    // How often push waited for the disk.
    uint64_t push_waits;
    // For how long in all, in nanoseconds.
    uint64_t push_waited_ns;
    // How often pop waited for the disk.
    uint64_t pop_waits;
    // For how long in all, in nanoseconds.
    uint64_t pop_waited_ns;
    // Writes that failed.
    uint64_t failed_writes;
    // Reads that failed.
    uint64_t failed_reads;
    // Bytes on disk; for lanes, those of all of them.
    uint64_t tier_bytes;
} stratape_stats;

// A height of a tape, to come back to.
typedef struct stratape_mark {
    // Elements on the tape when the mark was set.
    size_t height;
} stratape_mark;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Where the tape stands.
enum stratape_status stratape_tape_cursor(struct stratape_tape *tape, struct stratape_cursor *out);

// Takes over how far the program has moved the cursor. `STRATAPE_WRONG_SIZE` for an address that cannot be: outside the slab, or
// between two elements.
enum stratape_status stratape_tape_set_top(struct stratape_tape *tape,
                                           void *top);

// Takes over `top`, and goes on to the next slab if this one is full. After a failure the cursor that the program has is still
// right.
enum stratape_status stratape_tape_climb(struct stratape_tape *tape,
                                         void *top,
                                         struct stratape_cursor *out);

// Takes over `top`, and goes back to the slab below if this one is empty. `STRATAPE_EMPTY` if the tape is; then, and after a
// failure, the cursor that the program has is still right.
enum stratape_status stratape_tape_descend(struct stratape_tape *tape,
                                           void *top,
                                           struct stratape_cursor *out);

// The elements from `index` upwards as far as they lie side by side; the slab above is read in the background.
//
// `STRATAPE_OUT_OF_RANGE` from the size of the tape on.
enum stratape_status stratape_tape_run_up(struct stratape_tape *tape,
                                          size_t index,
                                          struct stratape_run *out);

// The elements that lie side by side up to `index` and with it; the slab below is read in the background.
//
// `STRATAPE_OUT_OF_RANGE` from the size of the tape on.
enum stratape_status stratape_tape_run_down(struct stratape_tape *tape,
                                            size_t index,
                                            struct stratape_run *out);

// Opens `count` tapes that share the memory in equal parts, the spill file and its engine, and nothing else: one for each worker.
//
// `out` has room for `count` handles. Each is a tape like any other, used by one thread at a time (in debug builds: after
// `stratape_tape_adopt` on that thread) and closed by itself. After a failure all of `out` is null.
enum stratape_status stratape_lanes_open(const struct stratape_options *options,
                                         size_t size,
                                         size_t align,
                                         size_t count,
                                         struct stratape_tape **out);

// Makes options with the defaults: 1 GiB in memory, the rest in the system's directory for temporary files.
enum stratape_status stratape_options_open(struct stratape_options **out);

// Closes options. Tapes that were opened with them go on. Null does nothing.
enum stratape_status stratape_options_close(struct stratape_options *options);

// Bytes of slabs kept in memory. A tape needs three slabs at least; from about sixteen on, transfers overlap fully with work.
enum stratape_status stratape_options_memory(struct stratape_options *options,
                                             size_t bytes);

// The directory for the spill file, on a fast local disk if possible.
enum stratape_status stratape_options_spill_to(struct stratape_options *options, const char *directory);

// Bytes of a slab, the unit that moves between memory and disk. Default 1 MiB, or an eighth of the memory if that is less.
enum stratape_status stratape_options_slab_bytes(struct stratape_options *options,
                                                 size_t bytes);

// The I/O engine: one of `stratape_engine`.
enum stratape_status stratape_options_engine(struct stratape_options *options, int32_t engine);

// The most bytes the spill file may hold; beyond it, pushes return `STRATAPE_FULL`.
enum stratape_status stratape_options_disk_limit(struct stratape_options *options, uint64_t bytes);

// Slabs written, and slabs read, at once. Default 16.
enum stratape_status stratape_options_in_flight(struct stratape_options *options, size_t slabs);

// How long to wait for a disk that does not answer, in milliseconds. Default two minutes.
enum stratape_status stratape_options_patience(struct stratape_options *options, uint64_t milliseconds);

// Whether slabs carry a checksum that is verified when they come back. Default true.
enum stratape_status stratape_options_checksum(struct stratape_options *options, bool on);

// Whether to bypass the page cache where the file system can. Default true.
enum stratape_status stratape_options_direct(struct stratape_options *options, bool on);

// Takes memory and spill directory from the environment: `STRATAPE_MEMORY` (bytes, or with a unit: `64M`, `2GiB`) and
// `STRATAPE_SPILL`. Variables that are not set change nothing; a number that makes no sense is `STRATAPE_INVALID`.
enum stratape_status stratape_options_environment(struct stratape_options *options);

// Opens a tape of records in layers. Null options mean the defaults.
enum stratape_status stratape_records_open(const struct stratape_options *options,
                                           struct stratape_records **out);

// Opens a tape of records in memory, without a budget.
enum stratape_status stratape_records_open_in_memory(struct stratape_records **out);

// Opens a saved tape of records, which must have been saved from C or C++: records of other programs have no such sizes.
enum stratape_status stratape_records_load(const char *file,
                                           const struct stratape_options *options,
                                           struct stratape_records **out);

// Writes the tape to a durable file. The tape stays as it is.
enum stratape_status stratape_records_save(struct stratape_records *records, const char *file);

// Closes a tape of records. Null does nothing.
enum stratape_status stratape_records_close(struct stratape_records *records);

// Makes the calling thread the owner of the tape.
enum stratape_status stratape_records_adopt(struct stratape_records *records);

// Puts `size` bytes on top.
enum stratape_status stratape_records_push(struct stratape_records *records, const void *data, size_t size);

// Takes the record on top, which must have `size` bytes; otherwise the tape is as before.
enum stratape_status stratape_records_pop(struct stratape_records *records, void *out, size_t size);

// Copies the record on top, which must have `size` bytes, and leaves it.
enum stratape_status stratape_records_top(struct stratape_records *records, void *out, size_t size);

// Bytes of the record on top; `STRATAPE_EMPTY` from an empty tape.
enum stratape_status stratape_records_top_size(struct stratape_records *records, size_t *out);

// Puts a region of `size` bytes on top, for the program to fill: one call for a whole loop. The bytes are arbitrary at first, and
// aligned to eight. The address holds until the next call on the tape.
enum stratape_status stratape_records_reserve(struct stratape_records *records,
                                              size_t size,
                                              void **out);

// Keeps the first `size` bytes of the region on top, for a loop that ended early.
enum stratape_status stratape_records_commit(struct stratape_records *records, size_t size);

// Takes the region (or record) on top, without a copy. The address holds until the next call on the tape.
enum stratape_status stratape_records_take(struct stratape_records *records, void **out, size_t *size);

// Bytes on the tape, with what records take beside their own.
enum stratape_status stratape_records_size(struct stratape_records *records, size_t *out);

// The present height, to come back to with `stratape_records_rewind`, as a number that is valid until the tape falls below it.
enum stratape_status stratape_records_mark(struct stratape_records *records,
                                           uint64_t *out);

// Drops everything pushed since the mark was set; `STRATAPE_OUT_OF_RANGE` for a mark that the tape has fallen below.
enum stratape_status stratape_records_rewind(struct stratape_records *records,
                                             uint64_t mark);

// Drops everything. Keeps the memory.
enum stratape_status stratape_records_clear(struct stratape_records *records);

// Revolve: the fewest steps for a known number of them and `slots` on one level, that of the first state included.
enum stratape_status stratape_schedule_revolve(size_t steps,
                                               size_t slots,
                                               uint32_t on_level,
                                               struct stratape_schedule **out);

// Every state is kept, nothing is recomputed. `STRATAPE_UNKNOWN_STEPS` is allowed.
enum stratape_status stratape_schedule_store_all(size_t steps, struct stratape_schedule **out);

// For a number of steps that is found out at the end, and told with `stratape_schedule_finished`.
enum stratape_status stratape_schedule_online(size_t slots,
                                              uint32_t on_level,
                                              struct stratape_schedule **out);

// A state every `period` steps, on one level, and `inner` slots in memory inside a period. `STRATAPE_UNKNOWN_STEPS` is allowed.
enum stratape_status stratape_schedule_periodic(size_t steps,
                                                size_t period,
                                                uint32_t on_level,
                                                size_t inner,
                                                struct stratape_schedule **out);

// Revolve over memory and disk together, the slots used most in memory.
enum stratape_status stratape_schedule_multistage(size_t steps,
                                                  size_t memory_slots,
                                                  size_t disk_slots,
                                                  struct stratape_schedule **out);

// The least time for slots on several levels with costs of their own, the fastest first; running a step costs `forward`, reversing
// one `backward`.
enum stratape_status stratape_schedule_hrevolve(size_t steps,
                                                const struct stratape_level_costs *levels,
                                                size_t level_count,
                                                double forward,
                                                double backward,
                                                struct stratape_schedule **out);

// A slot in memory holds a state or the record of a step: fewer steps than Revolve when they are alike in size.
enum stratape_status stratape_schedule_mixed(size_t steps,
                                             size_t slots,
                                             struct stratape_schedule **out);

// Closes a schedule. Null does nothing.
enum stratape_status stratape_schedule_close(struct stratape_schedule *schedule);

// The next action; `STRATAPE_EMPTY` after the last.
enum stratape_status stratape_schedule_next(struct stratape_schedule *schedule, struct stratape_action *out);

// Tells a schedule for an unknown number of steps that there are `steps`: the current state is the last one. To be said in
// the middle of an advance, which then ends there, or in place of the step to be recorded that was handed out last.
enum stratape_status stratape_schedule_finished(struct stratape_schedule *schedule,
                                                size_t steps);

// The most slots that the schedule uses at once on a level; the greatest number there is for no limit.
enum stratape_status stratape_schedule_slots(struct stratape_schedule *schedule,
                                             uint32_t on_level,
                                             size_t *out);

// What the schedule is, in a few words, ended by a zero byte and cut to `capacity`. `length`, if it is not null, tells how long
// the whole text is.
enum stratape_status stratape_schedule_describe(struct stratape_schedule *schedule,
                                                char *buffer,
                                                size_t capacity,
                                                size_t *length);

// Opens a stash on the directory, engine and limits of the options; their memory budget means nothing here. Null options mean
// the defaults.
enum stratape_status stratape_stash_open(const struct stratape_options *options,
                                         struct stratape_stash **out);

// Closes a stash; its blocks are gone. Null does nothing.
enum stratape_status stratape_stash_close(struct stratape_stash *stash);

// Makes the calling thread the owner of the stash.
enum stratape_status stratape_stash_adopt(struct stratape_stash *stash);

// Copies `size` bytes and begins to write them. `ticket` names the block from then on; it is never zero.
//
// A block that cannot be written stays in memory, and is still found there.
enum stratape_status stratape_stash_put(struct stratape_stash *stash,
                                        const void *data,
                                        size_t size,
                                        uint64_t *ticket);

// Begins to read a block back; does not wait.
enum stratape_status stratape_stash_fetch(struct stratape_stash *stash, uint64_t ticket);

// Copies a block's bytes out, of which there must be `size`; waits for the disk if need be. The block stays until it is forgotten.
enum stratape_status stratape_stash_get(struct stratape_stash *stash,
                                        uint64_t ticket,
                                        void *out,
                                        size_t size);

// Gives a block up, wherever it is.
enum stratape_status stratape_stash_forget(struct stratape_stash *stash, uint64_t ticket);

// The numbers of a tape. `size` is `sizeof(stratape_stats)` of the program: a program that was compiled against an older header
// gets the numbers it knows.
enum stratape_status stratape_tape_stats(struct stratape_tape *tape,
                                         struct stratape_stats *out,
                                         size_t size);

// The numbers of a tape of records.
enum stratape_status stratape_records_stats(struct stratape_records *records,
                                            struct stratape_stats *out,
                                            size_t size);

// The statistics of a tape as a table, ended by a zero byte and cut to `capacity`. `length`, if it is not null, tells how
// long the whole text is.
enum stratape_status stratape_tape_stats_text(struct stratape_tape *tape,
                                              char *buffer,
                                              size_t capacity,
                                              size_t *length);

// The statistics of a tape of records as a table.
enum stratape_status stratape_records_stats_text(struct stratape_records *records,
                                                 char *buffer,
                                                 size_t capacity,
                                                 size_t *length);

// The text of the last failure on this thread: what happened, what still holds, what to do. Empty if there was none.
//
// The text is valid until the next call on this thread that fails.
const char *stratape_last_error(void);

// A few words for a status, for programs that have nothing better to say. Any number is allowed.
const char *stratape_status_text(int32_t status);

// The version of the library, as "0.1.0".
const char *stratape_version(void);

// Opens a tape in layers for elements of `size` bytes aligned to `align`. Null options mean the defaults.
//
// The spill file is made when the memory begins to fill; it has no name and goes away with the tape.
enum stratape_status stratape_tape_open(const struct stratape_options *options,
                                        size_t size,
                                        size_t align,
                                        struct stratape_tape **out);

// Opens a tape in memory, without a budget.
enum stratape_status stratape_tape_open_in_memory(size_t size, size_t align, struct stratape_tape **out);

// Opens a tape as the environment wants it: in layers if `STRATAPE_MEMORY` or `STRATAPE_SPILL` is set or `layered` is true,
// otherwise in memory. A slab holds `slab_elements` at least, as far as the memory allows. This is what the C++ header calls.
enum stratape_status stratape_tape_open_by_environment(size_t size,
                                                       size_t align,
                                                       size_t slab_elements,
                                                       bool layered,
                                                       struct stratape_tape **out);

// Opens a saved tape of equal elements, saved from C, C++ or Rust. Size and alignment must be those of the file.
//
// Its slabs are read as they are needed; the file is not changed. The slab size is the file's.
enum stratape_status stratape_tape_load(const char *file,
                                        const struct stratape_options *options,
                                        size_t size,
                                        size_t align,
                                        struct stratape_tape **out);

// Writes the tape to a durable file, which appears under its name only when it is complete. The tape stays as it is.
enum stratape_status stratape_tape_save(struct stratape_tape *tape,
                                        const char *file);

// Closes a tape; what is on it is gone. Null does nothing.
enum stratape_status stratape_tape_close(struct stratape_tape *tape);

// Makes the calling thread the owner of the tape. The thread that had it must not be using it.
enum stratape_status stratape_tape_adopt(struct stratape_tape *tape);

// Whether this thread may use the tape now: the checks of every call, and nothing else.
enum stratape_status stratape_tape_check(struct stratape_tape *tape);

// Puts an element on top.
enum stratape_status stratape_tape_push(struct stratape_tape *tape, const void *element, size_t size);

// Takes the top element; `STRATAPE_EMPTY` from an empty tape.
enum stratape_status stratape_tape_pop(struct stratape_tape *tape, void *out, size_t size);

// Copies the top element and leaves it; `STRATAPE_EMPTY` from an empty tape.
enum stratape_status stratape_tape_top(struct stratape_tape *tape, void *out, size_t size);

// Copies element number `index`, counted from zero at the bottom; `STRATAPE_OUT_OF_RANGE` above the tape.
enum stratape_status stratape_tape_get(struct stratape_tape *tape, size_t index, void *out, size_t size);

// Puts `count` elements on top, in order. After a failure those before the one that found no room are on the tape.
enum stratape_status stratape_tape_push_many(struct stratape_tape *tape,
                                             const void *elements,
                                             size_t count);

// Takes up to `count` elements off the top, in the order in which they were pushed. `taken` tells how many; fewer only if the
// tape had no more. After a failure the tape is as before, and `out` holds anything.
enum stratape_status stratape_tape_pop_many(struct stratape_tape *tape,
                                            void *out,
                                            size_t count,
                                            size_t *taken);

// Elements on the tape, in all layers.
enum stratape_status stratape_tape_size(struct stratape_tape *tape, size_t *out);

// Drops the elements above the first `count`. More than there are changes nothing.
enum stratape_status stratape_tape_truncate(struct stratape_tape *tape, size_t count);

// Drops all elements. Keeps the memory.
enum stratape_status stratape_tape_clear(struct stratape_tape *tape);

// The present height, to come back to with `stratape_tape_rewind`.
enum stratape_status stratape_tape_mark(struct stratape_tape *tape, struct stratape_mark *out);

// Drops everything pushed since the mark was set; `STRATAPE_OUT_OF_RANGE` for a mark above the tape.
enum stratape_status stratape_tape_rewind(struct stratape_tape *tape, struct stratape_mark mark);

// Changes the memory budget: up to go on after the disk has failed, down to give way.
enum stratape_status stratape_tape_set_memory(struct stratape_tape *tape, size_t bytes);

// Hands memory that holds no element back.
enum stratape_status stratape_tape_shrink(struct stratape_tape *tape);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* STRATAPE_H */
