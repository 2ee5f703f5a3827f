// The other file of the program; and, with WITHOUT, one that is compiled without exceptions.
#include <stratape/tape.hpp>
#include <stratape/clad.hpp>

#ifdef WITHOUT
int without_exceptions(int value) {
    stratape::tape<int> tape;
    tape.push(value);
    return tape.pop();
}
#else
double from_the_other(stratape::tape<double>& tape) {
    clad::custom_tape<int> numbers = {};
    numbers.emplace_back(3);
    return tape.pop() + numbers.pop();
}
#endif
