#include <stratape/tape.hpp>
stratape::tape<double&> tape; // says: no references
