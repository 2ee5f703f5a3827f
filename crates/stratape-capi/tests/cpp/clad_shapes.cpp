// Reverse code as Clad generates it, by hand: free functions over the tape, nested loops, trip counts, branches, arrays, objects.
#include <stratape/clad.hpp>

#include "check.hpp"

#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace clad {
template <typename T> struct unwrap { using type = T&; };
template <typename Tape, typename... ArgsT>
void push(Tape& to, ArgsT&&... val) { to.emplace_back(std::forward<ArgsT>(val)...); }
template <typename T, std::size_t SBO, std::size_t SLAB, bool MT, bool Disk>
T pop_value(custom_tape<T, SBO, SLAB, MT, Disk>& to) {
    T val = std::move(to.back());
    to.pop_back();
    return val;
}
template <typename T, std::size_t N, std::size_t SBO, std::size_t SLAB, bool MT, bool Disk>
T* pop_array(custom_tape<T[N], SBO, SLAB, MT, Disk>& to) {
    auto& last = to.back();
    T* val = last;
    to.pop_back();
    return val;
}
template <typename Tape> auto& back(Tape& of) { return of.back(); }
} // namespace clad
using clad::back; using clad::pop_array; using clad::pop_value; using clad::push;

static int stride = 1;

// sum over i, j of sin(x * i) while s < bound: nested, with trip counts, a branch and a break
static void gradient_loops(double x, unsigned long n, double* d_x, double* value) {
    double _d_s = 0, s = 0, d = 0;
    clad::custom_tape<unsigned long> _t0 = {};
    clad::custom_tape<double> _t1 = {};
    clad::custom_tape<bool> _cond0 = {};
    clad::custom_tape<double, 64, 1024, false, true> _t2 = {};
    unsigned long _trips = 0;
    for (unsigned long i = 0; i < n; ++i) {
        ++_trips;
        push(_t0, 0UL);
        unsigned long j = 0;
        while (j < i % 5) {
            ++back(_t0);
            push(_t1, s);
            push(_cond0, s > 1);
            if (back(_cond0)) { push(_t2, s); s = s * 0.5; }
            s = s + std::sin(x) * s * 0.1 + x;
            j += static_cast<unsigned long>(stride);
        }
    }
    *value = s;
    _d_s = 1;
    for (; _trips; --_trips) {
        for (; back(_t0); --back(_t0)) {
            double before = 0;
            const bool taken = pop_value(_cond0);
            before = pop_value(_t1);
            const double middle = taken ? before * 0.5 : before;
            d += _d_s * (std::cos(x) * middle * 0.1 + 1);
            _d_s = _d_s * (1 + std::sin(x) * 0.1);
            if (taken) { CHECK(pop_value(_t2) == before); _d_s = _d_s * 0.5; }
        }
        pop_value(_t0);
    }
    CHECK(_t1.empty() && _cond0.empty() && _t0.empty() && _t2.empty());
    *d_x = d;
}

static void arrays() {
    clad::custom_tape<double[3]> _t0 = {};
    clad::custom_tape<double[2][2]> _t1 = {};
    clad::custom_tape<std::string[2]> _t2 = {};
    double a[3] = {0, 0, 0}, m[2][2] = {{1, 2}, {3, 4}};
    const int n = 100000;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < 3; ++k) a[k] = i + k;
        push(_t0, a);
        double* p = a;
        if (i % 7 == 0) { push(_t0, p); }
        m[1][0] = i;
        push(_t1, m);
        if (i < 500) { std::string s[2] = {std::to_string(i), std::string(50, 'x')}; push(_t2, s); }
    }
    for (int i = n; i-- > 0;) {
        if (i % 7 == 0) { const double* again = pop_array(_t0); CHECK(again[2] == i + 2); }
        const double* popped = pop_array(_t0);
        CHECK(popped[0] == i && popped[2] == i + 2);
        double (*matrix)[2] = _t1.pop();
        CHECK(matrix[1][0] == i && matrix[0][1] == 2);
        if (i < 500) { const std::string* s = pop_array(_t2); CHECK(s[0] == std::to_string(i) && s[1].size() == 50); }
    }
}

struct Vec { double x, y; Vec operator+(const Vec& o) const { return {x + o.x, y + o.y}; } };
struct Owner { std::vector<double> v; };
static void objects() {
    clad::custom_tape<Vec> _t0 = {};
    clad::custom_tape<Owner> _t1 = {};
    clad::custom_tape<double*> _t2 = {};
    double cells[10] = {};
    Vec v{1, 2};
    Owner o{{1, 2}};
    const auto forward = [&](int i) {
        push(_t0, v);
        v = v + Vec{1, 1};
        push(_t1, o);
        o.v.push_back(i);
        push(_t2, &cells[i % 10]);
    };
    for (int i = 0; i < 2000; ++i) forward(i);
    for (int i = 2000; i-- > 0;) {
        v = pop_value(_t0);
        CHECK(v.x == 1 + i);
        o = pop_value(_t1);
        CHECK(o.v.size() == 2u + static_cast<std::size_t>(i));
        *pop_value(_t2) += 1;
    }
    for (double c : cells) CHECK(c == 200);
}

static double recursive(int depth, clad::custom_tape<double>& outer) {
    clad::custom_tape<double> mine = {};
    for (int i = 0; i < 100; ++i) { push(mine, depth + i); push(outer, depth); }
    double sum = depth > 0 ? recursive(depth - 1, outer) : 0;
    for (int i = 100; i-- > 0;) { CHECK(pop_value(mine) == depth + i); sum += pop_value(outer); }
    return sum;
}

int main() {
    double d = 0, v = 0, lo = 0, hi = 0, unused = 0;
    gradient_loops(0.3, 400, &d, &v);
    gradient_loops(0.3 - 1e-7, 400, &unused, &lo);
    gradient_loops(0.3 + 1e-7, 400, &unused, &hi);
    CHECK(std::fabs(d - (hi - lo) / 2e-7) < 1e-4 * std::fabs(d));
    gradient_loops(0.3, 500000, &d, &v); // a million iterations
    CHECK(std::isfinite(d));
    arrays();
    objects();
    clad::custom_tape<double> outer = {};
    CHECK(recursive(200, outer) == 100.0 * 200 * 201 / 2);
    outer = clad::custom_tape<double>();
    CHECK(outer.empty());
}
