#include "report.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace driver {

namespace {

struct Problems {
  std::mutex mutex;
  std::vector<std::string> lines;
};

Problems& kept() {
  static auto* list = new Problems;
  return *list;
}

std::string vformat(const char* pattern, va_list args) {
  char text[1024];
  vsnprintf(text, sizeof text, pattern, args);
  return text;
}

}  // namespace

std::string format(const char* pattern, ...) {
  va_list args;
  va_start(args, pattern);
  std::string text = vformat(pattern, args);
  va_end(args);
  return text;
}

void say(const char* pattern, ...) {
  va_list args;
  va_start(args, pattern);
  std::string text = vformat(pattern, args);
  va_end(args);
  fprintf(stderr, "gagg emulator: %s\n", text.c_str());
}

void problem(const std::string& line) {
  std::lock_guard lock(kept().mutex);
  if (std::ranges::find(kept().lines, line) != kept().lines.end()) return;
  say("%s", line.c_str());
  kept().lines.push_back(line);
}

std::vector<std::string> problems() {
  std::lock_guard lock(kept().mutex);
  return kept().lines;
}

void forget_problems() {
  std::lock_guard lock(kept().mutex);
  kept().lines.clear();
}

}  // namespace driver
