#include <stratape/tape.hpp>
struct alignas(8192) huge { double value; };
stratape::tape<huge> tape; // says: 4096
