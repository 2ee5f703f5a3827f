// One of two files of a program: both include everything.
#include <stratape/clad.hpp>
#include <stratape/tape.hpp>

double from_the_other(stratape::tape<double>& tape);
int without_exceptions(int value);

int main() {
    stratape::tape<double> tape;
    for (int i = 0; i < 5000; ++i) tape.push(i);
    clad::custom_tape<int> numbers = {};
    numbers.emplace_back(3);
    const bool right = from_the_other(tape) == 5002 && numbers.back() == 3 && without_exceptions(4) == 4;
    return right && tape.size() == 4999 ? 0 : 1;
}
