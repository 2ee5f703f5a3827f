#include <stratape/tape.hpp>
struct shape { virtual double area() const = 0; virtual ~shape() = default; };
stratape::tape<shape> tape; // says: abstract
