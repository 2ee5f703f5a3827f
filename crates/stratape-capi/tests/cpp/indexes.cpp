// Every element by index and iterator: in the first block, in slabs, on disk; while the tape changes in between.
#include <stratape/tape.hpp>

#include "check.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <ranges>
#endif

using Spilled = stratape::tape<long>;
static stratape::options little() {
    return std::move(stratape::options().memory(256 << 10).slab_bytes(16 << 10).spill_to("."));
}

static void against_vector(Spilled& tape, unsigned seed, int rounds) {
    std::vector<long> model;
    const auto random = [&seed](unsigned below) {
        seed = seed * 1664525u + 1013904223u;
        return static_cast<std::size_t>((seed >> 8) % below);
    };
    std::vector<std::pair<std::size_t, stratape_mark>> marks;
    for (int round = 0; round < rounds; ++round) {
        switch (random(9)) {
        case 0: case 1: case 2:
            for (std::size_t n = random(40000); n > 0; --n) {
                tape.push(static_cast<long>(seed ^ n));
                model.push_back(static_cast<long>(seed ^ n));
            }
            break;
        case 3: case 4:
            for (std::size_t n = random(40000); n > 0 && !model.empty(); --n) {
                CHECK(tape.back() == model.back());
                CHECK(tape.pop() == model.back());
                model.pop_back();
            }
            break;
        case 5: {
            const std::size_t to = model.empty() ? 0 : random(static_cast<unsigned>(model.size()));
            tape.truncate(to);
            model.resize(to);
            break;
        }
        case 6:
            for (int k = 0; k < 200 && !model.empty(); ++k) {
                const std::size_t i = random(static_cast<unsigned>(model.size()));
                CHECK(tape[i] == model[i]);
                if (k % 16 == 0) (void)tape.stats();
                if (k % 32 == 0) (void)tape.stats_text();
                CHECK(tape[i] == model[i]);
                CHECK(static_cast<const Spilled&>(tape)[i] == model[i]);
            }
            break;
        case 7:
            if (random(4) == 0) {
                tape.clear();
                model.clear();
            }
            tape.push(1);
            model.push_back(1);
            break;
        case 8: {
            const stratape_mark mark = tape.mark();
            for (int k = 0; k < 5000; ++k) tape.push(k);
            if (!model.empty()) CHECK(tape[0] == model[0]);
            tape.rewind(mark);
            break;
        }
        }
        CHECK(tape.size() == model.size());
        CHECK(tape.empty() == model.empty());
        if (!model.empty()) CHECK(tape.back() == model.back());
        CHECK_THROWS(STRATAPE_OUT_OF_RANGE, tape[model.size()]);
        stratape_mark above = tape.mark();
        ++above.height;
        CHECK_THROWS(STRATAPE_OUT_OF_RANGE, tape.rewind(above));
        if (round % 8 == 0) {
            CHECK(std::equal(tape.begin(), tape.end(), model.begin(), model.end()));
            CHECK(std::equal(tape.rbegin(), tape.rend(), model.rbegin(), model.rend()));
        }
        if (round % 16 == 15) { // through the handle of C
            stratape_tape* handle = tape.handle();
            const long value = 77;
            CHECK(stratape_tape_push(handle, &value, sizeof value) == STRATAPE_OK);
            tape.refresh();
            model.push_back(77);
            CHECK(tape.back() == 77);
        }
    }
}

int main() {
    for (unsigned seed = 1; seed < 4; ++seed) {
        Spilled spilled(little());
        against_vector(spilled, seed, 60);
        CHECK(spilled.stats().slabs_spilled > 0 && spilled.stats().resident_peak <= 256 << 10);
        Spilled plain;
        against_vector(plain, seed + 10, 60);
    }
    { // a tape that has not left its first block
        stratape::tape<double> tape;
        CHECK(tape.begin() == tape.end() && tape.rbegin() == tape.rend());
        CHECK_THROWS(STRATAPE_OUT_OF_RANGE, tape[0]);
        for (int i = 0; i < 10; ++i) tape.push(i);
        CHECK_THROWS(STRATAPE_OUT_OF_RANGE, tape[10]);
        CHECK_THROWS(STRATAPE_OUT_OF_RANGE, tape[63]);
    }
    { // iterators as the standard library uses them
        Spilled tape(little());
        const long count = 400000;
        for (long i = 0; i < count; ++i) tape.push(i);
        CHECK(std::accumulate(tape.begin(), tape.end(), 0L) == count * (count - 1) / 2);
        CHECK(*std::find(tape.begin(), tape.end(), 200000) == 200000);
        CHECK(std::distance(tape.begin(), tape.end()) == count);
        CHECK(*std::max_element(tape.begin(), tape.end()) == count - 1);
        CHECK(*std::prev(tape.end()) == count - 1 && *std::next(tape.begin(), 100000) == 100000);
        std::vector<long> copy(tape.rbegin(), tape.rend());
        CHECK(copy.front() == count - 1 && copy.back() == 0);
        const Spilled& constant = tape;
        long expected = 0;
        for (const long& value : constant) CHECK(value == expected++);
        auto it = tape.begin();
        CHECK(*it++ == 0 && *it == 1 && *it-- == 1 && *it == 0);
        Spilled::iterator none;
        none = it;
        CHECK(none == it);
#if __cplusplus >= 202002L
        static_assert(std::bidirectional_iterator<Spilled::iterator>);
        static_assert(std::ranges::bidirectional_range<Spilled>);
        long sum = 0;
        for (long value : tape | std::views::reverse | std::views::take(3)) sum += value;
        CHECK(sum == 3 * count - 6);
#endif
    }
}
