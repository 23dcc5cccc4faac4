#include "ptx.h"

#include <algorithm>
#include <regex>

#include "report.h"

namespace driver {

namespace {

// A std::regex recurses on every character that it matches: these are only ever used on single directives, never on a whole body.
const std::regex version_line(R"(\.version\s+(\d+)\.(\d+))");
const std::regex target_line(R"(\.target\s+sm_(\d+))");
const std::regex parameter(R"(\.param\s+(?:\.align\s+(\d+)\s+)?\.([a-z])(\d+)\s+(?:\.ptr[^,)]*\s)?([\w$]+)\s*(?:\[(\d+)\])?)");
const std::regex shared_variable(R"(\.shared\s+(?:\.align\s+\d+\s+)?\.[a-z](\d+)\s+([\w$]+)\s*((?:\[\d+\])*))");
const std::regex max_threads(R"(\.maxntid\s+(\d+))");

struct Variable {
  std::string name;
  uint32_t bytes;
};

// param_bytes lays the parameters of a list out as a C struct does.
uint32_t param_bytes(const std::string& list) {
  uint32_t end = 0;
  for (std::sregex_iterator at(list.begin(), list.end(), parameter), none; at != none; ++at) {
    const uint32_t width = static_cast<uint32_t>(std::stoul((*at)[3])) / 8;
    const uint32_t count = (*at)[5].matched ? static_cast<uint32_t>(std::stoul((*at)[5])) : 1;
    const uint32_t align = (*at)[1].matched ? static_cast<uint32_t>(std::stoul((*at)[1])) : width;
    end = (end + align - 1) / align * align + width * count;
  }
  return end;
}

// line_at is the line of text that begins at a position.
std::string line_at(const std::string& text, size_t begin) { return text.substr(begin, text.find('\n', begin) - begin); }

// shared_variables finds those with a size: `extern` ones, without, are the dynamic shared memory of a launch.
std::vector<Variable> shared_variables(const std::string& text) {
  std::vector<Variable> all;
  for (size_t at = text.find(".shared "); at != std::string::npos; at = text.find(".shared ", at + 1)) {
    const std::string line = line_at(text, at);
    std::smatch m;
    if (!std::regex_search(line, m, shared_variable, std::regex_constants::match_continuous)) continue;  // an instruction
    uint32_t bytes = static_cast<uint32_t>(std::stoul(m[1])) / 8;
    const std::string dimensions = m[3];
    for (size_t open = dimensions.find('['); open != std::string::npos; open = dimensions.find('[', open + 1)) {
      bytes *= static_cast<uint32_t>(std::stoul(dimensions.substr(open + 1)));
    }
    if (dimensions.empty() && line.find("[]") != std::string::npos) bytes = 0;
    all.push_back({m[2], bytes});
  }
  return all;
}

// body_end is the position after the brace that closes the one at open; npos when none does.
size_t body_end(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at + 1;
  }
  return std::string::npos;
}

// read_kernel reads the .entry at a position, and moves it behind.
bool read_kernel(const std::string& text, const std::vector<Variable>& shared, size_t* at, PtxKernel* kernel) {
  const size_t name = text.find_first_not_of(" \t", *at + 6);
  const size_t list = text.find_first_of(" \t\n({", name);
  const size_t open = text.find('{', name);
  const size_t end = open == std::string::npos ? open : body_end(text, open);
  if (end == std::string::npos) return false;
  const std::string head = text.substr(list, open - list);
  const std::string body = text.substr(open, end - open);
  kernel->name = text.substr(name, list - name);
  kernel->param_bytes = param_bytes(head);
  std::smatch m;
  if (std::regex_search(head, m, max_threads)) kernel->max_threads = static_cast<uint32_t>(std::stoul(m[1]));
  for (const auto& variable : shared) {
    if (body.find(variable.name) != std::string::npos) kernel->static_shared += variable.bytes;
  }
  *at = end;
  return true;
}

}  // namespace

bool read_ptx(const std::string& text, Ptx* ptx, std::string* error) {
  std::smatch m;
  const size_t version = text.find(".version"), target = text.find(".target");
  if (version == std::string::npos || target == std::string::npos) {
    *error = "ptxas fatal : no .version or no .target directive\n";
    return false;
  }
  const std::string version_text = line_at(text, version), target_text = line_at(text, target);
  if (!std::regex_search(version_text, m, version_line)) {
    *error = format("ptxas fatal : bad directive: %s\n", version_text.c_str());
    return false;
  }
  ptx->version = std::stoi(m[1]) * 10 + std::stoi(m[2]);
  if (!std::regex_search(target_text, m, target_line)) {
    *error = format("ptxas fatal : bad directive: %s\n", target_text.c_str());
    return false;
  }
  ptx->target = std::stoi(m[1]);
  const auto shared = shared_variables(text);
  for (size_t at = text.find(".entry"); at != std::string::npos; at = text.find(".entry", at)) {
    PtxKernel kernel;
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
    if (!read_kernel(text, shared, &at, &kernel)) {
      *error = format("ptxas application ptx input, line %td; fatal : Parsing error: the body of an .entry has no end\n", line);
      return false;
    }
    ptx->kernels.push_back(kernel);
  }
  return true;
}

}  // namespace driver
