// Tapes of trivially copyable elements: against a vector, over the ends of slabs, in memory and on disk.
#include <stratape/tape.hpp>

#include "check.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

std::string directory;

stratape::options small() {
    stratape::options options;
    options.memory(64 << 10).slab_bytes(4 << 10).spill_to(directory);
    return options;
}

struct wide {
    std::int64_t value;
    double rest[6];
};
bool operator==(const wide& a, const wide& b) { return a.value == b.value && a.rest[5] == b.rest[5]; }

struct alignas(64) aligned {
    std::int64_t value;
};
bool operator==(const aligned& a, const aligned& b) { return a.value == b.value; }

template <class T>
T make(std::int64_t i);
template <>
wide make<wide>(std::int64_t i) { return wide{i, {0, 0, 0, 0, 0, static_cast<double>(i) / 3}}; }
template <>
aligned make<aligned>(std::int64_t i) { return aligned{i}; }
template <>
double make<double>(std::int64_t i) { return static_cast<double>(i); }
template <>
char make<char>(std::int64_t i) { return static_cast<char>(i); }

/// Random operations against a vector.
template <class Tape>
void model(Tape tape, unsigned seed) {
    using T = typename Tape::value_type;
    std::vector<T> expected;
    std::mt19937 random(seed);
    std::int64_t next = 0;
    for (int round = 0; round < 30; ++round) {
        const std::size_t count = random() % 2000;
        switch (random() % 8) {
        case 0:
        case 1:
        case 2:
            for (std::size_t i = 0; i < count; ++i, ++next) {
                tape.push(make<T>(next));
                expected.push_back(make<T>(next));
            }
            break;
        case 3:
        case 4:
            for (std::size_t i = 0; i < count && !expected.empty(); ++i) {
                CHECK(tape.back() == expected.back());
                CHECK(tape.pop() == expected.back());
                expected.pop_back();
            }
            break;
        case 5:
            for (std::size_t i = 0; i < 20 && !expected.empty(); ++i) {
                const std::size_t at = random() % expected.size();
                CHECK(tape[at] == expected[at]);
            }
            break;
        case 6: {
            const stratape_mark mark = tape.mark();
            for (std::size_t i = 0; i < count; ++i) tape.emplace_back(make<T>(-1));
            tape.rewind(mark);
            break;
        }
        default:
            if (!expected.empty()) {
                const std::size_t keep = random() % expected.size();
                if (random() % 3 == 0) {
                    tape.truncate(keep);
                    expected.resize(keep);
                } else {
                    Tape moved(std::move(tape));
                    CHECK(tape.empty());
                    tape = std::move(moved);
                }
            }
        }
        CHECK(tape.size() == expected.size());
    }
    CHECK(std::equal(expected.begin(), expected.end(), tape.begin()));
    CHECK(std::equal(expected.rbegin(), expected.rend(), tape.rbegin()));
    CHECK(std::distance(tape.begin(), tape.end()) == static_cast<std::ptrdiff_t>(expected.size()));
    CHECK_THROWS(STRATAPE_OUT_OF_RANGE, tape[expected.size()]);
    tape.clear();
    CHECK(tape.empty());
    CHECK_THROWS(STRATAPE_EMPTY, tape.pop());
    CHECK_THROWS(STRATAPE_EMPTY, tape.back());
    CHECK_THROWS(STRATAPE_EMPTY, tape.pop_back());
    tape.push(make<T>(5));
    CHECK(tape.pop() == make<T>(5));
}

template <class T>
void models(unsigned seeds) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
        model(stratape::tape<T>(), seed);
        model(stratape::tape<T>(small()), seed);
    }
}

void properties() {
    using tape = stratape::tape<double>;
    static_assert(!std::is_copy_constructible<tape>::value && !std::is_copy_assignable<tape>::value, "no copies");
    static_assert(std::is_nothrow_move_constructible<tape>::value && std::is_nothrow_move_assignable<tape>::value, "moves");
    static_assert(std::is_nothrow_default_constructible<tape>::value, "makes no call");
    static_assert(noexcept(std::declval<const tape&>().size()), "counts only");
    static_assert(std::is_same<std::iterator_traits<tape::iterator>::iterator_category, std::bidirectional_iterator_tag>::value,
                  "both directions");
}

void files() {
    const std::string file = directory + "/tape.saved";
    stratape::tape<double> tape;
    for (int i = 0; i < 200000; ++i) tape.push(i);
    const double* top = &tape.back();
    CHECK(*top == 199999);
    tape.save(file.c_str());
    CHECK(tape.size() == 200000 && tape.pop() == 199999);
    stratape::tape<double> loaded;
    loaded.push(-1);
    loaded.load(file.c_str(), small().memory(16 << 20));
    CHECK(loaded.size() == 200000 && loaded[0] == 0 && loaded[123456] == 123456);
    for (int i = 199999; i >= 0; --i) CHECK(loaded.pop() == i);
    CHECK_THROWS(STRATAPE_NOT_A_TAPE, stratape::tape<float>().load(file.c_str(), small()));
    CHECK_THROWS(STRATAPE_IO, tape.save("/nonexistent/file"));
    stratape::tape<double> few;
    few.push(1);
    few.save(file.c_str());
    few.load(file.c_str(), stratape::options());
    CHECK(few.size() == 1 && few.pop() == 1);
}

void handles() {
    stratape::tape<double> tape;
    for (int i = 0; i < 1000; ++i) tape.push(i);
    double value = 0;
    CHECK(stratape_tape_pop(tape.handle(), &value, sizeof value) == STRATAPE_OK && value == 999);
    tape.refresh();
    CHECK(tape.size() == 999 && tape.pop() == 998);
    tape.push(tape.back());
    CHECK(tape.pop() == 997 && tape.pop() == 997);
    const std::string text = tape.stats_text();
    CHECK(text.find("elements") == 0 && text.size() > 100);
    CHECK(stratape::tape<double>().stats_text().find("elements") == 0);
    CHECK_THROWS(STRATAPE_OUT_OF_RANGE, tape.rewind(stratape_mark{100000}));
}

void failures() {
    CHECK_THROWS(STRATAPE_INVALID, stratape::tape<double>(small().memory(4096)));
    CHECK_THROWS(STRATAPE_IO, stratape::tape<double>(small().spill_to("/nonexistent")));
    stratape::tape<double> tape(small().disk_limit(64 << 10));
    std::size_t pushed = 0;
    stratape_status status = STRATAPE_OK;
    try {
        for (; pushed < 1000000; ++pushed) tape.push(static_cast<double>(pushed));
    } catch (const stratape::error& error) {
        status = error.status();
    }
    // Nothing is lost, and more memory helps.
    CHECK(status == STRATAPE_FULL && tape.size() == pushed);
    tape.set_memory(1 << 20);
    tape.push(-1);
    CHECK(tape.pop() == -1);
    while (pushed > 0) CHECK(tape.pop() == static_cast<double>(--pushed));
    CHECK(tape.empty() && tape.stats().failed_writes > 0);
}

void spilling() {
    stratape::tape<double> tape(small());
    const int count = 300000;
    for (int i = 0; i < count; ++i) tape.push(i);
    CHECK(tape.stats().slabs_below > 100 && tape.stats().resident_peak <= 64 << 10);
    double sum = 0;
    for (double value : tape) sum += value;
    CHECK(sum == 0.5 * count * (count - 1.0));
    for (int i = count - 1; i >= 0; --i) CHECK(tape.pop() == i);
}

void threads() {
    stratape::tape<double> tape(small());
    tape.push(1);
    std::thread([moved = std::move(tape)]() mutable {
        moved.adopt();
        for (int i = 0; i < 10000; ++i) moved.push(i);
        CHECK(moved.pop() == 9999);
    }).join();
    // Without adopting, a debug build of the library notices at the end of a slab.
    stratape::tape<double> kept(small());
    kept.push(1);
    stratape_status status = STRATAPE_OK;
    std::thread([&] {
        try {
            for (int i = 0; i < 10000; ++i) kept.push(i);
        } catch (const stratape::error& error) {
            status = error.status();
        }
    }).join();
    CHECK(status == STRATAPE_WRONG_THREAD || status == STRATAPE_OK);
#ifdef LIBRARY_DEBUG
    CHECK(status == STRATAPE_WRONG_THREAD);
#endif
}

} // namespace

int main(int, char** argv) {
    directory = argv[1];
    properties();
    models<double>(3);
    model(stratape::tape<double, 0>(), 1);
    model(stratape::tape<double, 1, 1>(), 1);
    models<char>(1);
    models<wide>(1);
    models<aligned>(1);
    files();
    handles();
    failures();
    spilling();
    threads();
}
