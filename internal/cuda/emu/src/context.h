// The primary contexts as a whole.
#pragma once

#include <string>
#include <vector>

namespace driver {

// context_leaks lists every context that is retained and not lost, and what lives in it.
std::vector<std::string> context_leaks();

// reset_contexts destroys all contexts, however often they were retained.
void reset_contexts();

}  // namespace driver
