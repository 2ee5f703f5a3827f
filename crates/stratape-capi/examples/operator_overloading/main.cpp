// The gradient of a long loop by operator overloading, with tapes ten times as large as their memory.
//
// The loop runs x <- x * (1 + h * a) n times, and the result is exp(x - c). The derivatives are known in closed form:
// with g = 1 + h * a, dx_n/dx_0 = g^n and dx_n/da = x_0 * n * h * g^(n-1).
#include "active.hpp"

#include <cmath>
#include <cstdio>

using example::active;

namespace {

bool close_to(const char* name, double found, double expected) {
    const double error = std::fabs(found - expected) / std::fabs(expected);
    std::printf("%-6s %.15g, in closed form %.15g\n", name, found, expected);
    return error < 1e-9;
}

} // namespace

int main(int argc, char** argv) {
    const int steps = 300000;
    const double h = 1e-6, a0 = 0.7, x0 = 1.25, c = 2.0;
    const std::size_t memory = 1 << 20;
    try {
        stratape::options options;
        options.memory(memory).spill_to(argc > 1 ? argv[1] : "/tmp");
        example::recording recording(options);
        example::current() = &recording;

        const active start = active::input(x0), a = active::input(a0);
        active x = start;
        for (int i = 0; i < steps; ++i) x *= 1.0 + h * a;
        const active result = exp(x - c);

        const double bytes = static_cast<double>(recording.statements().stats().bytes + recording.partials().stats().bytes);
        std::printf("%.1f MiB of tape, %.1f MiB of memory\n", bytes / 1048576, 2.0 * static_cast<double>(memory) / 1048576);
        if (bytes < 10.0 * 2.0 * static_cast<double>(memory)) {
            std::fprintf(stderr, "the tape is smaller than it should be\n");
            return 1;
        }

        result.adjoint() = 1.0;
        recording.reverse();
        std::printf("%s", recording.partials().stats_text().c_str());
        if (recording.partials().stats().resident_peak > memory) {
            std::fprintf(stderr, "more memory than allowed\n");
            return 1;
        }

        const double g = 1 + h * a0, last = x0 * std::pow(g, steps), value = std::exp(last - c);
        const bool right = close_to("value", result.value(), value) &&
                           close_to("d/dx0", start.adjoint(), value * std::pow(g, steps)) &&
                           close_to("d/da", a.adjoint(), value * x0 * steps * h * std::pow(g, steps - 1));
        if (!right) std::fprintf(stderr, "the gradient is wrong\n");
        return right ? 0 : 1;
    } catch (const stratape::error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
