// Faults that were found, one for each value of FAULT. A test that is ignored says what is not mended yet.
#include <stratape/clad.hpp>
#include <stratape/tape.hpp>

#include "check.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

inline stratape::options little() {
    return std::move(stratape::options().memory(64 << 10).slab_bytes(8 << 10).spill_to("."));
}

#if FAULT == 1
// An index above a tape that has not left its first block.
int main() {
    stratape::tape<double> tape;
    for (int i = 0; i < 10; ++i) tape.push(i);
    CHECK_THROWS(STRATAPE_OUT_OF_RANGE, tape[64]);
    CHECK_THROWS(STRATAPE_OUT_OF_RANGE, tape[static_cast<std::size_t>(-1)]);
}
#elif FAULT == 2
// Algorithms that look at two elements together, as a bidirectional iterator allows.
int main() {
    stratape::tape<long> tape(little());
    for (long i = 0; i < 300000; ++i) tape.push(i);
    const auto gap = [](const long& a, const long& b) { return b != a + 1; };
    CHECK(std::adjacent_find(tape.begin(), tape.end(), gap) == tape.end());
    std::vector<long> steps(tape.size() - 1);
    std::transform(tape.begin(), std::prev(tape.end()), std::next(tape.begin()), steps.begin(),
                   [](const long& a, const long& b) { return b - a; });
    CHECK(std::count(steps.begin(), steps.end(), 1) == 299999);
}
#elif FAULT == 3
// An array of objects that was popped is the argument of the next push. With numbers this works.
int main() {
    stratape::tape<std::string[2]> tape;
    const std::string pair[2] = {std::string(100, 'a'), std::string(100, 'b')};
    tape.push(pair);
    std::string* popped = tape.pop();
    tape.push(popped);
    CHECK(tape.back()[0] == pair[0] && tape.back()[1] == pair[1]);
}
#elif FAULT == 4
// Large elements pushed in a recursion: fifteen of 800 kB.
using Rows = clad::custom_tape<double[100000]>;
__attribute__((noinline)) static int descend(int depth, Rows& tape, const double* row) {
    if (depth == 0) return 0;
    tape.emplace_back(row);
    const int below = descend(depth - 1, tape, row);
    tape.pop_back();
    return below + 1;
}
int main() {
    Rows tape = {};
    const std::vector<double> row(100000, 2.0);
    CHECK(descend(15, tape, row.data()) == 15);
}
#elif FAULT == 5
// Once more than needed: what was pushed since is not lost.
int main() {
    stratape::tape<int> tape;
    for (int i = 0; i < 1000; ++i) tape.push(i);
    (void)tape.handle();
    tape.refresh();
    for (int i = 0; i < 1000; ++i) tape.push(i);
    tape.refresh();
    CHECK(tape.size() == 2000);
    stratape::tape<int> other;
    for (int i = 0; i < 1000; ++i) other.push(i);
    other.refresh();
    CHECK(other.size() == 1000 && other.back() == 999);
}
#elif FAULT == 7
// The disk is full: what is there can still be looked at, and saved elsewhere.
int main() {
    stratape::tape<long> tape(little().disk_limit(128 << 10));
    long count = 0;
    const auto fill = [&] {
        for (;; ++count) tape.push(count);
    };
    CHECK_THROWS(STRATAPE_FULL, (fill(), 0));
    CHECK(tape[0] == 0);
    tape.save("saved");
}
#elif FAULT == 8
// A budget for a tape that has no disk: refused at once, or kept to, but not found out by a later push.
int main() {
    stratape::tape<double> tape;
    tape.push(1);
    try {
        tape.set_memory(8 << 20);
    } catch (const stratape::error&) {
        return 0;
    }
    for (int i = 0; i < 4000000; ++i) tape.push(i);
}
#endif
