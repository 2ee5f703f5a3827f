// Pushing and popping from C++: ours, a raw array and std::vector in one program. Prints one line a case:
// name, count, then nanoseconds in all for each contender, the minimum of the rounds.
//
// The contenders take turns, round by round, so that a noisy moment meets all of them. Every round is warm: the same memory
// is used again.
#include <stratape/tape.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;

struct raw_array {
    explicit raw_array(std::size_t count) : memory(new double[count]) {}
    void push(double value) { memory[used++] = value; }
    double pop() { return memory[--used]; }
    std::unique_ptr<double[]> memory;
    std::size_t used = 0;
};

struct vector_tape {
    explicit vector_tape(std::size_t) {}
    void push(double value) { memory.push_back(value); }
    double pop() {
        double value = memory.back();
        memory.pop_back();
        return value;
    }
    std::vector<double> memory;
};

using our_tape = stratape::tape<double>;

/// A recurrence whose every value is needed by the next, and by its own reversal.
template <class Tape>
__attribute__((noinline)) double chain(Tape& kept, double start, std::size_t count) {
    Tape tape(std::move(kept));
    double x = start;
    for (std::size_t i = 0; i < count; ++i) {
        tape.push(x);
        x = x * 0.999 + 0.001;
    }
    double adjoint = 1.0;
    for (std::size_t i = 0; i < count; ++i) adjoint = adjoint * 0.999 + tape.pop() * 1e-9;
    kept = std::move(tape);
    return adjoint;
}

/// Values that do not wait for each other.
template <class Tape>
__attribute__((noinline)) double independent(Tape& kept, const double* values, std::size_t count) {
    Tape tape(std::move(kept));
    for (std::size_t i = 0; i < count; ++i) tape.push(values[i & 1023]);
    double sums[4] = {0, 0, 0, 0};
    for (std::size_t i = 0; i < count; i += 4) {
        for (double& sum : sums) sum += tape.pop();
    }
    kept = std::move(tape);
    return sums[0] + sums[1] + sums[2] + sums[3];
}

template <class Run>
double time(Run run) {
    const auto start = clock_type::now();
    run();
    return std::chrono::duration<double, std::nano>(clock_type::now() - start).count();
}

volatile double sink;

void warm(std::size_t count, std::size_t repeats, int rounds) {
    std::vector<double> values(1024);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 / static_cast<double>(i + 1);
    raw_array raw(count);
    vector_tape vector(count);
    our_tape ours;
    double best[2][3];
    std::fill(&best[0][0], &best[0][0] + 6, 1e300);
    for (int round = 0; round <= rounds; ++round) {
        double now[2][3];
        const auto measure = [&](int which, auto& tape) {
            now[0][which] = time([&] { for (std::size_t i = 0; i < repeats; ++i) sink = chain(tape, values[3], count); });
            now[1][which] =
                time([&] { for (std::size_t i = 0; i < repeats; ++i) sink = independent(tape, values.data(), count); });
        };
        measure(0, ours);
        measure(1, raw);
        measure(2, vector);
        // The first round warms the memory.
        for (int i = 0; round > 0 && i < 6; ++i) best[i / 3][i % 3] = std::min(best[i / 3][i % 3], now[i / 3][i % 3]);
    }
    const char* names[2] = {"chain", "independent"};
    for (int i = 0; i < 2; ++i) {
        const double scale = 1.0 / static_cast<double>(repeats);
        std::printf("%s %zu %.1f %.1f %.1f\n", names[i], count, best[i][0] * scale, best[i][1] * scale, best[i][2] * scale);
    }
}

/// Pushes and pops many times the budget, once for every line of the input, and prints the nanoseconds: the caller takes turns with
/// the same in Rust.
void spill(std::size_t count, std::size_t memory, const char* directory) {
    char line[16];
    while (std::fgets(line, sizeof line, stdin) != nullptr) {
        our_tape ours(stratape::options().memory(memory).spill_to(directory));
        double sum = 0;
        const double elapsed = time([&] {
            our_tape tape(std::move(ours));
            for (std::size_t i = 0; i < count; ++i) tape.push(static_cast<double>(i));
            for (std::size_t i = 0; i < count; ++i) sum += tape.pop();
            ours = std::move(tape);
        });
        sink = sum;
        std::printf("spill %zu %.1f\n", count, elapsed);
        std::fflush(stdout);
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 5 && std::strcmp(argv[1], "spill") == 0) {
        spill(std::strtoull(argv[2], nullptr, 10), std::strtoull(argv[3], nullptr, 10), argv[4]);
        return 0;
    }
    if (argc == 4 && std::strcmp(argv[1], "warm") == 0) {
        const std::size_t count = std::strtoull(argv[2], nullptr, 10);
        warm(count, std::max<std::size_t>(1, (1 << 22) / count), std::atoi(argv[3]));
        return 0;
    }
    std::fprintf(stderr, "usage: %s warm COUNT ROUNDS | spill COUNT MEMORY DIRECTORY\n", argv[0]);
    return 2;
}
