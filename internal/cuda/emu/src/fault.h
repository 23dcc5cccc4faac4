// Faults made on purpose, and the count of calls that says where to put them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "libcuda.h"

namespace driver {

// Faults counts every call of the driver and answers the chosen ones with a code. cuGetErrorName
// and cuGetErrorString are neither counted nor made to fail: they are what a program calls once
// something has failed. Safe for any thread.
class Faults {
 public:
  Faults();

  // arm makes the n-th call from now (from 1) of the named function fail with a code, or of any
  // function when the name is "*"; with forever, the later ones too.
  void arm(const std::string& call, uint64_t nth, CUresult code, bool forever);

  // arm with text: "name:n:code" or "name:n:code:forever", several with commas between.
  void arm(const std::string& text);

  // count notes a call and says with which code it has to fail, or 0, and its number among all
  // calls.
  CUresult count(const char* call, uint64_t* number);

  // The calls since the last clear, by name.
  std::map<std::string, uint64_t> counts();

  // clear forgets rules and counts; the numbers of calls go on.
  void clear();

 private:
  struct Rule {
    std::string call;
    uint64_t left;  // calls until it strikes
    CUresult code;
    bool forever;
  };

  std::mutex mutex_;
  std::vector<Rule> rules_;
  std::map<std::string, uint64_t> counts_;
  uint64_t total_ = 0;
};

Faults& faults();

// loses tells whether a code means the end of the context in which it is met: kernel faults, ECC, a
// device that fell off the bus.
bool loses(CUresult code);

}  // namespace driver
