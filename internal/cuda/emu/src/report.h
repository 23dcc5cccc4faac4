// What the emulator tells people: lines on stderr, and the list of problems that emu_leaks hands to
// tests.
#pragma once

#include <string>
#include <vector>

namespace driver {

// format is printf into a string.
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

// say writes a line to stderr.
void say(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

// problem says a line and keeps it for emu_leaks: a fault of the program under test that no return
// code shows. The same line counts once.
void problem(const std::string& line);
std::vector<std::string> problems();
void forget_problems();

}  // namespace driver
