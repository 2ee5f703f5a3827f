#include <stratape/tape.hpp>
stratape::tape<double, 64, 0> tape; // says: one element at least
