// A number that records what is done with it: reverse mode by operator overloading, on the layered tape.
//
// Every operation is a statement: which number it computes, and from how many others. Its partial derivatives lie on a second
// tape. Both tapes go from memory to disk by themselves, and come back in the reverse pass: this file knows nothing of it.
#ifndef ACTIVE_HPP
#define ACTIVE_HPP

#include <stratape/tape.hpp>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace example {

/// One operation: the number that it computes, and how many partial derivatives belong to it.
struct statement {
    std::uint32_t result;
    std::uint32_t arguments;
};

/// The derivative of an operation with respect to one of its arguments.
struct partial {
    double value;
    std::uint64_t argument;
};

/// What has been recorded. Numbers have slots, which are used again when a number is gone: there are as many adjoints as numbers
/// live at a time, however long the tape is.
class recording {
public:
    explicit recording(const stratape::options& options) : statements_(options), partials_(options) {}

    /// A slot for a number.
    std::uint32_t open() {
        if (free_.empty()) {
            adjoints_.push_back(0.0);
            return static_cast<std::uint32_t>(adjoints_.size() - 1);
        }
        const std::uint32_t slot = free_.back();
        free_.pop_back();
        return slot;
    }

    void close(std::uint32_t slot) { free_.push_back(slot); }

    void argument(std::uint32_t slot, double derivative) { partials_.push(partial{derivative, slot}); }
    void result(std::uint32_t slot, std::uint32_t arguments) { statements_.push(statement{slot, arguments}); }

    /// The reverse pass: from the adjoints that were set to those of the inputs.
    void reverse() {
        while (!statements_.empty()) {
            const statement last = statements_.pop();
            // The slot held another number before this statement: its adjoint begins anew.
            const double adjoint = std::exchange(adjoints_[last.result], 0.0);
            for (std::uint32_t i = 0; i < last.arguments; ++i) {
                const partial argument = partials_.pop();
                adjoints_[argument.argument] += argument.value * adjoint;
            }
        }
    }

    double& adjoint(std::uint32_t slot) { return adjoints_[slot]; }
    stratape::tape<statement>& statements() { return statements_; }
    stratape::tape<partial>& partials() { return partials_; }

private:
    stratape::tape<statement> statements_;
    stratape::tape<partial> partials_;
    std::vector<double> adjoints_;
    std::vector<std::uint32_t> free_;
};

/// The recording that numbers of this thread write to.
inline recording*& current() {
    static thread_local recording* recording = nullptr;
    return recording;
}

/// A number whose operations are recorded.
class active {
public:
    /// A constant: nothing flows through it.
    active(double value = 0.0) : value_(value), slot_(current()->open()) { current()->result(slot_, 0); }

    /// A number to differentiate with respect to: nothing is recorded, so that its adjoint stays after the reverse pass.
    static active input(double value) { return active(value, current()->open()); }

    active(const active& other) : value_(other.value_), slot_(current()->open()) {
        current()->argument(other.slot_, 1.0);
        current()->result(slot_, 1);
    }

    active(active&& other) noexcept : value_(other.value_), slot_(std::exchange(other.slot_, NONE)) {}

    active& operator=(active other) noexcept {
        std::swap(value_, other.value_);
        std::swap(slot_, other.slot_);
        return *this;
    }

    ~active() {
        if (slot_ != NONE) current()->close(slot_);
    }

    double value() const { return value_; }
    double& adjoint() const { return current()->adjoint(slot_); }

    friend active operator+(const active& a, const active& b) { return active(a.value_ + b.value_, a, 1.0, b, 1.0); }
    friend active operator-(const active& a, const active& b) { return active(a.value_ - b.value_, a, 1.0, b, -1.0); }
    friend active operator*(const active& a, const active& b) {
        return active(a.value_ * b.value_, a, b.value_, b, a.value_);
    }
    friend active operator/(const active& a, const active& b) {
        const double value = a.value_ / b.value_;
        return active(value, a, 1.0 / b.value_, b, -value / b.value_);
    }

    friend active operator+(const active& a, double b) { return active(a.value_ + b, a, 1.0); }
    friend active operator+(double a, const active& b) { return b + a; }
    friend active operator-(const active& a, double b) { return active(a.value_ - b, a, 1.0); }
    friend active operator-(double a, const active& b) { return active(a - b.value_, b, -1.0); }
    friend active operator*(const active& a, double b) { return active(a.value_ * b, a, b); }
    friend active operator*(double a, const active& b) { return b * a; }
    friend active operator/(const active& a, double b) { return active(a.value_ / b, a, 1.0 / b); }
    friend active operator-(const active& a) { return active(-a.value_, a, -1.0); }

    active& operator+=(const active& b) { return *this = *this + b; }
    active& operator-=(const active& b) { return *this = *this - b; }
    active& operator*=(const active& b) { return *this = *this * b; }

    friend active sin(const active& a) { return active(std::sin(a.value_), a, std::cos(a.value_)); }
    friend active cos(const active& a) { return active(std::cos(a.value_), a, -std::sin(a.value_)); }
    friend active exp(const active& a) {
        const double value = std::exp(a.value_);
        return active(value, a, value);
    }
    friend active log(const active& a) { return active(std::log(a.value_), a, 1.0 / a.value_); }
    friend active sqrt(const active& a) {
        const double value = std::sqrt(a.value_);
        return active(value, a, 0.5 / value);
    }

private:
    static constexpr std::uint32_t NONE = UINT32_MAX;

    active(double value, std::uint32_t slot) : value_(value), slot_(slot) {}

    active(double value, const active& a, double da) : value_(value), slot_(current()->open()) {
        current()->argument(a.slot_, da);
        current()->result(slot_, 1);
    }

    active(double value, const active& a, double da, const active& b, double db)
        : value_(value), slot_(current()->open()) {
        current()->argument(a.slot_, da);
        current()->argument(b.slot_, db);
        current()->result(slot_, 2);
    }

    double value_;
    std::uint32_t slot_;
};

} // namespace example

#endif
