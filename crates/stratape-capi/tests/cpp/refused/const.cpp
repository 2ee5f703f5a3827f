#include <stratape/tape.hpp>
stratape::tape<const double> tape; // says: not const
