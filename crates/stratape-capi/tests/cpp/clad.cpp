// Code with the call shapes of what Clad generates, on our tape. The functions in namespace `clad` stand in for Clad's own, and
// know nothing of the tape but the members that clad.hpp documents.
#include <stratape/clad.hpp>

#include "check.hpp"

#include <cmath>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace clad {

template <typename Tape, typename... Args>
auto push(Tape& to, Args&&... value) -> decltype(to.back()) {
    to.emplace_back(std::forward<Args>(value)...);
    return to.back();
}

template <typename Tape>
auto& back(Tape& of) {
    return of.back();
}

/// A value.
template <typename Tape, typename T = typename Tape::value_type>
typename std::enable_if<!std::is_array<T>::value, T>::type pop(Tape& from) {
    T value = std::move(from.back());
    from.pop_back();
    return value;
}

/// An array: a pointer to what was popped.
template <typename Tape, typename T = typename Tape::value_type>
typename std::enable_if<std::is_array<T>::value, typename std::remove_extent<T>::type*>::type pop(Tape& from) {
    auto* popped = &from.back()[0];
    from.pop_back();
    return popped;
}

/// The arguments of a tape can be deduced.
template <typename T, std::size_t SBO, std::size_t SLAB, bool MT, bool Disk>
constexpr std::size_t first_elements(const custom_tape<T, SBO, SLAB, MT, Disk>&) {
    return SBO;
}

} // namespace clad

namespace {

/// f(x, n): x <- sin(x) * x + 0.1 while it is small, n times; and its gradient as a source transformation writes it.
double f(double x, int n) {
    for (int i = 0; i < n; ++i) {
        if (x < 2.0) x = std::sin(x) * x + 0.1;
        else x = x * 0.5;
    }
    return x;
}

template <bool MT, bool Disk>
void f_grad(double x, int n, double* d_x) {
    clad::custom_tape<bool, 64, 1024, MT, Disk> _cond0 = {};
    clad::custom_tape<double, 64, 1024, MT, Disk> _t1 = {};
    unsigned long _t0 = 0;
    for (int i = 0; i < n; ++i) {
        _t0++;
        clad::push(_cond0, x < 2.0);
        clad::push(_t1, x);
        if (clad::back(_cond0)) x = std::sin(x) * x + 0.1;
        else x = x * 0.5;
    }
    double _d_x = 1.0;
    for (; _t0; _t0--) {
        x = clad::pop(_t1);
        if (clad::back(_cond0)) _d_x *= std::cos(x) * x + std::sin(x);
        else _d_x *= 0.5;
        clad::pop(_cond0);
    }
    *d_x += _d_x;
}

template <bool MT, bool Disk>
void gradients() {
    for (int n : {0, 1, 63, 64, 65, 100, 300000}) {
        const double x = 1.7, h = 1e-6;
        double d_x = 0;
        f_grad<MT, Disk>(x, n, &d_x);
        if (n <= 100) CHECK(std::fabs(d_x - (f(x + h, n) - f(x - h, n)) / (2 * h)) < 1e-5 * (1 + std::fabs(d_x)));
    }
}

/// The pointer that `pop` gives is right until the next push, at every place: over the ends of the block and of slabs, on disk.
template <class Tape>
void arrays(int count) {
    Tape tape = {};
    double source[3];
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < 3; ++j) source[j] = 10.0 * i + j;
        clad::push(tape, source);
    }
    double* before = nullptr;
    for (int i = count - 1; i >= 0; --i) {
        double* popped = clad::pop(tape);
        CHECK(popped[0] == 10.0 * i && popped[1] == 10.0 * i + 1 && popped[2] == 10.0 * i + 2);
        // And still after another pop, which may have gone to the slab below.
        if (before != nullptr) CHECK(before[0] == 10.0 * (i + 1));
        before = popped;
    }
    CHECK(before[2] == 2.0);
    const double* pointer = source;
    clad::push(tape, pointer);
    CHECK(clad::back(tape)[2] == source[2]);
    clad::back(tape)[1] = 77;
    tape.emplace_back();
    CHECK(clad::pop(tape)[0] == 0.0 && clad::pop(tape)[1] == 77);
}

struct point {
    double x, y;
    point(double x, double y) : x(x), y(y) {}
};

void classes() {
    clad::custom_tape<point> points = {};
    clad::custom_tape<std::vector<double>> vectors = {};
    clad::custom_tape<double*> pointers = {};
    clad::custom_tape<int[2][2]> matrices = {};
    double cell = 3;
    const int matrix[2][2] = {{1, 2}, {3, 4}};
    for (int i = 0; i < 3000; ++i) {
        clad::push(points, i, 2.0 * i);
        clad::push(vectors, std::vector<double>(3, i));
        clad::push(pointers, &cell);
        clad::push(matrices, matrix);
    }
    for (int i = 2999; i >= 0; --i) {
        CHECK(clad::pop(points).y == 2.0 * i);
        CHECK(clad::pop(vectors)[2] == i);
        CHECK(*clad::pop(pointers) == 3);
        CHECK(clad::pop(matrices)[1][1] == 4);
    }
}

/// Threads that push and pop under the tape's lock: each takes back a value that some thread has pushed, and none is lost.
void threads() {
    clad::custom_tape<std::int64_t, 64, 1024, true> tape = {};
    std::int64_t sums[4] = {0, 0, 0, 0};
    std::vector<std::thread> workers;
    for (int number = 0; number < 4; ++number) {
        workers.emplace_back([&tape, &sums, number] {
            for (std::int64_t i = 0; i < 20000; ++i) {
                clad::push(tape, i);
                if (i % 2 == 1) {
                    const std::lock_guard<decltype(tape)> held(tape);
                    sums[number] += clad::pop(tape);
                }
            }
        });
    }
    for (std::thread& worker : workers) worker.join();
    std::int64_t sum = sums[0] + sums[1] + sums[2] + sums[3];
    CHECK(tape.size() == 40000);
    while (tape.size() > 0) sum += tape.pop();
    CHECK(sum == 4 * (20000LL * 19999 / 2));
}

} // namespace

int main() {
    clad::custom_tape<float, 8, 16, true> few = {};
    CHECK(clad::first_elements(few) == 8);
    CHECK(clad::first_elements(clad::custom_tape<double[2]>()) == 64);
    gradients<false, false>();
    gradients<true, false>();
    gradients<false, true>();
    gradients<true, true>();
    arrays<clad::custom_tape<double[3]>>(300000);
    arrays<clad::custom_tape<double[3], 0, 1>>(1000);
    arrays<clad::custom_tape<double[3], 1, 1, false, true>>(300000);
    classes();
    threads();
}
