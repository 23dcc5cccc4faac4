#include "fault.h"

#include <cstdlib>
#include <sstream>

#include "config.h"
#include "report.h"

namespace driver {

Faults& faults() {
  static auto* shared = new Faults;
  return *shared;
}

Faults::Faults() { arm(config().faults); }

void Faults::arm(const std::string& call, uint64_t nth, CUresult code, bool forever) {
  std::lock_guard lock(mutex_);
  rules_.push_back({call, nth, code, forever});
}

void Faults::arm(const std::string& text) {
  std::istringstream rules(text);
  for (std::string rule; std::getline(rules, rule, ',');) {
    std::istringstream fields(rule);
    std::string call, nth, code, forever;
    std::getline(fields, call, ':');
    std::getline(fields, nth, ':');
    std::getline(fields, code, ':');
    std::getline(fields, forever, ':');
    const uint64_t n = strtoull(nth.c_str(), nullptr, 10);
    const int c = atoi(code.c_str());
    if (n == 0 || c == 0 || !(forever.empty() || forever == "forever")) {
      problem(format("GAGG_EMU_FAULT: %s is not name:n:code or name:n:code:forever", rule.c_str()));
      continue;
    }
    arm(call, n, c, !forever.empty());
  }
}

CUresult Faults::count(const char* call, uint64_t* number) {
  std::lock_guard lock(mutex_);
  *number = ++total_;
  ++counts_[call];
  CUresult code = CUDA_SUCCESS;
  for (auto& rule : rules_) {
    if (rule.call != "*" && rule.call != call) continue;
    if (rule.left > 0) --rule.left;  // at 0 it strikes, and stays in the list only if it strikes forever
    if (rule.left == 0 && code == CUDA_SUCCESS) code = rule.code;
  }
  std::erase_if(rules_, [](const Rule& rule) { return rule.left == 0 && !rule.forever; });
  return code;
}

std::map<std::string, uint64_t> Faults::counts() {
  std::lock_guard lock(mutex_);
  return counts_;
}

void Faults::clear() {
  std::lock_guard lock(mutex_);
  rules_.clear();
  counts_.clear();
}

bool loses(CUresult code) {
  return code == CUDA_ERROR_ECC_UNCORRECTABLE || code == CUDA_ERROR_NVLINK_UNCORRECTABLE || code == CUDA_ERROR_ILLEGAL_ADDRESS ||
         code == CUDA_ERROR_LAUNCH_TIMEOUT || code == CUDA_ERROR_ASSERT || code == CUDA_ERROR_UNKNOWN ||
         (code >= CUDA_ERROR_HARDWARE_STACK_ERROR && code <= CUDA_ERROR_LAUNCH_FAILED);
}

}  // namespace driver
