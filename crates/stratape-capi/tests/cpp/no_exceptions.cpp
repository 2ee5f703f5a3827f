// Without exceptions a handler is told, and may leave in its own way.
#include <stratape/clad.hpp>

#include "check.hpp"

#include <cstring>

namespace {
void leave(stratape_status status, const char* text) {
    CHECK(status == STRATAPE_EMPTY && std::strcmp(text, "the tape is empty") == 0);
    std::printf("told\n");
    std::exit(0);
}
} // namespace

int main(int argc, char**) {
    static_assert(!STRATAPE_EXCEPTIONS, "compiled with -fno-exceptions");
    stratape::error_handler before = stratape::set_error_handler(leave);
    CHECK(before != nullptr && stratape::set_error_handler(nullptr) == leave && stratape::set_error_handler(leave) == before);
    clad::custom_tape<double> tape = {};
    for (int i = 0; i < 1000 * argc; ++i) tape.emplace_back(i);
    for (int i = 1000 * argc - 1; i >= 0; --i) {
        CHECK(tape.back() == i);
        tape.pop_back();
    }
    tape.pop_back();
    return 1;
}
