// What goes wrong in constructors, on disk and in the environment; the tape is as it was, and goes on.
#include <stratape/clad.hpp>
#include <stratape/tape.hpp>

#include "check.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

static int alive = 0, fuse = -1;
struct Bomb {
    std::string text;
    explicit Bomb(int i) : text(std::to_string(i)) { burn(); ++alive; }
    Bomb(const Bomb& o) : text(o.text) { burn(); ++alive; }
    Bomb(Bomb&& o) : text((burn(), std::move(o.text))) { ++alive; }
    ~Bomb() { --alive; }
    static void burn() { if (fuse >= 0 && fuse-- == 0) throw std::runtime_error("bomb"); }
};
// trivially copyable, and its constructor throws all the same
struct Small {
    int value;
    explicit Small(int v) : value(v) { if (v < 0) throw std::runtime_error("negative"); }
};

template <class F> bool throws(F f) { try { f(); } catch (const std::runtime_error&) { return true; } return false; }

static void constructors() {
    {
        stratape::tape<Bomb, 2, 3> tape;
        for (int i = 0; i < 30; ++i) { // at every place of a slab, also its first
            fuse = 0;
            CHECK(throws([&] { tape.emplace_back(i); }));
            CHECK(tape.size() == static_cast<std::size_t>(i) && alive == i);
            tape.emplace_back(i);
        }
        for (int i = 30; i-- > 0;) {
            fuse = 0;
            CHECK(throws([&] { tape.pop(); })); // moving out throws: still there
            CHECK(tape.size() == static_cast<std::size_t>(i) + 1);
            Bomb b = tape.pop();
            CHECK(b.text == std::to_string(i));
        }
        for (int i = 0; i < 10; ++i) tape.emplace_back(i);
    }
    CHECK(alive == 0);
    {
        stratape::tape<Bomb[3], 1, 2> tape;
        std::vector<Bomb> source;
        source.reserve(3);
        for (int i = 0; i < 3; ++i) source.emplace_back(i);
        for (int i = 0; i < 10; ++i) {
            fuse = i % 3;
            CHECK(throws([&] { tape.emplace_back(source); }));
            CHECK(alive == 3 * i + 3);
            tape.emplace_back(source);
        }
        for (int i = 10; i-- > 0;) {
            Bomb* b = tape.pop();
            CHECK(b[2].text == "2" && tape.size() == static_cast<std::size_t>(i));
        }
    }
    CHECK(alive == 0);
    stratape::tape<Small, 2, 1> small;
    for (int i = 0; i < 200; ++i) { CHECK(throws([&] { small.emplace_back(-1); })); small.emplace_back(i); }
    for (int i = 200; i-- > 0;) CHECK(small.pop().value == i);
    try { // thrown while tapes are alive
        stratape::tape<double> a(stratape::options().memory(1 << 20).spill_to("."));
        stratape::tape<std::string> b;
        for (int i = 0; i < 300000; ++i) a.push(i);
        for (int i = 0; i < 300; ++i) b.push(std::string(100, 'x'));
        throw 5;
    } catch (int i) { CHECK(i == 5); }
}

static void aliases() {
    stratape::tape<std::string, 1, 1> strings;
    strings.push(std::string(100, 'a'));
    for (int i = 0; i < 50; ++i) { strings.emplace_back(strings.back()); strings.push(strings[0]); }
    for (const std::string& s : strings) CHECK(s == std::string(100, 'a'));
    stratape::tape<long> longs(stratape::options().memory(64 << 10).slab_bytes(8 << 10).spill_to("."));
    for (long i = 0; i < 60000; ++i) longs.push(i);
    for (std::size_t i = 0; i < 60000; ++i) longs.push(longs[i]);
    for (long i = 60000; i-- > 0;) CHECK(longs.pop() == i);
    for (long i = 0; i < 60000; ++i) longs.emplace_back(longs.back());
    CHECK(longs.size() == 120000 && longs.pop() == 59999);
    clad::custom_tape<double[4]> arrays = {};
    double a[4] = {1, 2, 3, 4};
    arrays.emplace_back(a);
    for (int i = 0; i < 100000; ++i) arrays.emplace_back(arrays.back());
    CHECK(arrays.back()[3] == 4);
    double* p = arrays.pop();
    arrays.emplace_back(p); // what was popped is pushed again
    CHECK(arrays.back()[3] == 4);
}

static void disk() {
    stratape::tape<long> tape(stratape::options().memory(128 << 10).slab_bytes(16 << 10).disk_limit(256 << 10).spill_to("."));
    long count = 0;
    const auto fill = [&] { for (;; ++count) tape.push(count); };
    CHECK_THROWS(STRATAPE_FULL, (fill(), 0));
    CHECK(count > 40000 && tape.size() == static_cast<std::size_t>(count) && tape.back() == count - 1);
    CHECK_THROWS(STRATAPE_FULL, (tape.push(1), 0));
    CHECK_THROWS(STRATAPE_FULL, tape.emplace_back(2));
    CHECK(tape.size() == static_cast<std::size_t>(count));
    tape.set_memory(1 << 20); // go on in memory
    for (int i = 0; i < 20000; ++i) tape.push(count++);
    for (long i = count; i-- > 0;) CHECK(tape.pop() == i);
    // a directory that is not there: open fails, or the push that needs it
    CHECK_THROWS(STRATAPE_IO, stratape::tape<int>(stratape::options().spill_to("/nonexistent/place")));
}

static void environment() {
    const char* const bad[] = {"", "abc", "-1", "1.5G", "1 G", "K", "99999999999999999999",
                               "1X", "0", "1Mi", "0x10", "18446744073709551615T", " 64M", "64M "};
    for (const char* value : bad) {
        setenv("STRATAPE_MEMORY", value, 1);
        stratape_status found = STRATAPE_OK;
        stratape::tape<long> tape;
        for (long i = 0; i < 64; ++i) tape.push(i); // the first block does not ask
        try { tape.push(64); } catch (const stratape::error& error) { found = error.status(); }
        CHECK(found == STRATAPE_INVALID || (found == STRATAPE_OK));
        CHECK(tape.size() == (found == STRATAPE_OK ? 65u : 64u));
        setenv("STRATAPE_MEMORY", "1M", 1); // repaired: the same push again
        if (found != STRATAPE_OK) tape.push(64);
        for (long i = 65; i-- > 0;) CHECK(tape.pop() == i);
        stratape_options* o = nullptr;
        CHECK(stratape_options_open(&o) == STRATAPE_OK);
        setenv("STRATAPE_MEMORY", value, 1);
        const stratape_status direct = stratape_options_environment(o);
        CHECK(direct == STRATAPE_OK || direct == STRATAPE_INVALID);
        stratape_options_close(o);
    }
    const char* const good[] = {"1M", "1MiB", "1MB", "1048576", "1m", "1024K", "2G", "1T"};
    for (const char* value : good) {
        setenv("STRATAPE_MEMORY", value, 1);
        stratape::tape<long> tape;
        for (long i = 0; i < 300000; ++i) tape.push(i);
        for (long i = 300000; i-- > 0;) CHECK(tape.pop() == i);
    }
    setenv("STRATAPE_MEMORY", "1M", 1);
    setenv("STRATAPE_SPILL", "/nonexistent/place", 1);
    {
        stratape::tape<long> tape;
        for (long i = 0; i < 64; ++i) tape.push(i);
        CHECK_THROWS(STRATAPE_IO, (tape.push(1), 0));
        CHECK(tape.size() == 64 && tape.back() == 63);
    }
    setenv("STRATAPE_SPILL", "", 1);
    {
        stratape::tape<long> tape;
        stratape_status found = STRATAPE_OK;
        try { for (long i = 0; i < 300000; ++i) tape.push(i); } catch (const stratape::error& e) { found = e.status(); }
        CHECK(found == STRATAPE_OK);
    }
    unsetenv("STRATAPE_SPILL");
    { // ten million through 1 MiB
        stratape::tape<double> tape;
        for (int i = 0; i < 10000000; ++i) tape.push(i);
        CHECK(tape.stats().memory == 1 << 20 && tape.stats().resident_peak <= 1 << 20);
        for (int i = 10000000; i-- > 0;) if (tape.pop() != i) CHECK(false);
        CHECK(tape.empty());
        tape.push(1);
        tape.clear();
        CHECK(tape.empty() && tape.size() == 0);
    }
    unsetenv("STRATAPE_MEMORY");
}

int main() {
    constructors();
    aliases();
    disk();
    environment();
}
