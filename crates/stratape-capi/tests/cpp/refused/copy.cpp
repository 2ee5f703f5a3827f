#include <stratape/tape.hpp>
stratape::tape<double> a;
stratape::tape<double> b = a; // says: deleted
