// Tapes of elements that own something: constructors and destructors run, in memory.
#include <stratape/tape.hpp>

#include "check.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

int alive = 0;

/// Knows how many of its kind there are, and where it is: it must not be moved behind its back.
struct counted {
    explicit counted(int value) : value(value), self(this) {
        if (value == 13) throw std::runtime_error("unlucky");
        ++alive;
    }
    counted(const counted& other) : value(other.value), self(this) { ++alive; }
    ~counted() {
        CHECK(self == this);
        self = nullptr;
        --alive;
    }
    counted& operator=(const counted&) = delete;
    int value;
    counted* self;
};

template <std::size_t SBO, std::size_t SLAB>
void counts() {
    {
        stratape::tape<counted, SBO, SLAB> tape;
        for (int i = 100; i < 2100; ++i) tape.emplace_back(i);
        CHECK(alive == 2000 && tape.size() == 2000);
        CHECK(tape[0].value == 100 && tape[1999].value == 2099 && tape.begin()->value == 100);
        const stratape_mark mark = tape.mark();
        for (int i = 100; i < 600; ++i) tape.emplace_back(i);
        tape.rewind(mark);
        CHECK(alive == 2000);
        for (int i = 2099; i >= 1100; --i) {
            CHECK(tape.back().value == i);
            tape.pop_back();
        }
        CHECK(alive == 1000);
        // A constructor that throws leaves the tape as it was, also at the end of a slab.
        for (int i = 0; i < 70; ++i) {
            bool thrown = false;
            try {
                tape.emplace_back(13);
            } catch (const std::runtime_error&) {
                thrown = true;
            }
            CHECK(thrown && alive == static_cast<int>(tape.size()));
            tape.push(tape.back());
        }
        stratape::tape<counted, SBO, SLAB> moved(std::move(tape));
        CHECK(tape.empty() && moved.size() == 1070 && alive == 1070);
        CHECK_THROWS(STRATAPE_EMPTY, tape.back());
        tape = std::move(moved);
        CHECK(tape.pop().value == 1099);
        CHECK_THROWS(STRATAPE_OUT_OF_RANGE, tape[5000]);
    }
    CHECK(alive == 0);
}

void owners() {
    stratape::tape<std::unique_ptr<int>> tape;
    for (int i = 0; i < 3000; ++i) tape.push(std::make_unique<int>(i));
    for (int i = 2999; i >= 0; --i) CHECK(*tape.pop() == i);
    CHECK_THROWS(STRATAPE_EMPTY, tape.pop());
    stratape::tape<std::string> texts;
    texts.emplace_back(40, 'x');
    texts.emplace_back();
    CHECK(texts.pop().empty() && texts.pop() == std::string(40, 'x'));
}

/// An array that was popped is alive until the next push or pop: its caller has a pointer to it.
void arrays() {
    {
        stratape::tape<counted[2], 2, 3> tape;
        const counted source[2] = {counted(1), counted(2)};
        for (int i = 0; i < 50; ++i) tape.emplace_back(source);
        CHECK(alive == 102);
        for (int i = 0; i < 50; ++i) {
            counted* popped = tape.pop();
            CHECK(popped[0].value == 1 && popped[1].value == 2 && popped[1].self == popped + 1);
        }
        CHECK(alive == 4);
        // A constructor in the middle of an array that throws destroys what was made.
        struct numbers {
            int operator[](std::size_t i) const { return i == 1 ? 13 : 1; }
        };
        bool thrown = false;
        try {
            tape.emplace_back(numbers());
        } catch (const std::runtime_error&) {
            thrown = true;
        }
        // What was popped last is still there: nothing has been pushed.
        CHECK(thrown && alive == 4 && tape.empty());
    }
    CHECK(alive == 0);
    stratape::tape<std::string[2]> texts;
    const char* both[2] = {"a text that is too long to be kept inside", "another one of which the same can be said"};
    texts.emplace_back(both);
    std::string* popped = texts.pop();
    CHECK(popped[0] == both[0] && popped[1] == both[1]);
}

struct alignas(256) aligned {
    aligned() { CHECK(reinterpret_cast<std::uintptr_t>(this) % 256 == 0); }
    ~aligned() { CHECK(reinterpret_cast<std::uintptr_t>(this) % 256 == 0); }
    int value = 0;
};

} // namespace

int main() {
    counts<64, 1024>();
    counts<0, 7>();
    counts<1, 1>();
    owners();
    arrays();
    stratape::tape<aligned, 3, 5> tape;
    for (int i = 0; i < 100; ++i) tape.emplace_back();
}
