#include <stratape/tape.hpp>
void push(stratape::tape<char[8]>& tape) { tape.push("ab"); } // says: as many elements as those of the tape
