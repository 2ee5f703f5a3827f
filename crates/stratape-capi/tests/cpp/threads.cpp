// Tapes and threads in C++: locked tapes of Clad, tapes that are handed over, one tape for each thread.
#include <stratape/clad.hpp>

#include "check.hpp"

#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

int main() {
    { // MT: each call is atomic
        clad::custom_tape<long, 8, 16, true, false> tape = {};
        std::vector<std::thread> threads;
        for (int k = 0; k < 4; ++k) threads.emplace_back([&tape] { for (long i = 0; i < 20000; ++i) tape.emplace_back(i); });
        for (auto& t : threads) t.join();
        CHECK(tape.size() == 80000);
        threads.clear();
        long sums[4] = {};
        for (int k = 0; k < 4; ++k) threads.emplace_back([&tape, &sums, k] {
            for (int i = 0; i < 20000; ++i) {
                std::lock_guard<decltype(tape)> guard(tape);
                sums[k] += tape.back();
                tape.pop_back();
            }
        });
        for (auto& t : threads) t.join();
        CHECK(sums[0] + sums[1] + sums[2] + sums[3] == 4L * 20000 * 19999 / 2 && tape.size() == 0);
    }
    {
        clad::custom_tape<std::string, 1, 1, true, true> tape = {};
        std::thread a([&] { for (int i = 0; i < 2000; ++i) tape.emplace_back(100, 'x'); });
        std::thread b([&] {
            for (int i = 0; i < 2000; ++i) {
                std::lock_guard<decltype(tape)> guard(tape);
                if (tape.size() > 0) CHECK(tape.pop().size() == 100);
            }
        });
        a.join();
        b.join();
        tape.clear();
    }
    { // handed over, with `adopt`, and destroyed by another thread than made it
        stratape::tape<long> tape(stratape::options().memory(1 << 20).spill_to("."));
        for (long i = 0; i < 300000; ++i) tape.push(i);
        std::thread([&tape] { tape.adopt(); for (long i = 300000; i-- > 100000;) CHECK(tape.pop() == i); }).join();
        tape.adopt();
        const auto pop_some = [](stratape::tape<long> mine) {
            mine.adopt();
            for (long i = 100000; i-- > 50000;) CHECK(mine.pop() == i);
            return mine;
        };
        auto moved = std::async(std::launch::async, pop_some, std::move(tape)).get();
        moved.adopt();
        CHECK(tape.empty() && moved.size() == 50000 && moved.back() == 49999);
        std::thread([](stratape::tape<long> last) { CHECK(last.size() == 50000); }, std::move(moved)).join();
    }
#if defined(STRATAPE_DEBUG) && defined(LIBRARY_DEBUG)
    { // without `adopt`, in a debug build of the library
        stratape::tape<long> tape;
        for (long i = 0; i < 100; ++i) tape.push(i);
        bool noticed = false;
        std::thread([&] { try { tape.push(1); } catch (const stratape::error& e) { noticed = e.status() == STRATAPE_WRONG_THREAD; } }).join();
        CHECK(noticed && tape.size() == 100);
    }
#endif
    std::vector<std::thread> threads; // one each
    for (int k = 0; k < 4; ++k) threads.emplace_back([] {
        stratape::tape<double> tape(stratape::options().memory(1 << 20).spill_to("."));
        for (int i = 0; i < 300000; ++i) tape.push(i);
        for (int i = 300000; i-- > 0;) CHECK(tape.pop() == i);
    });
    for (auto& t : threads) t.join();
}
