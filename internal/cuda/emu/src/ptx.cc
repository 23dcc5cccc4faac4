#include "ptx.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <set>

#include "report.h"

namespace driver {

namespace {

struct Token {
  std::string text;  // a word, or one of ( ) { } [ ] , ;
  int line;
};

std::vector<Token> tokens_of(const std::string& text) {
  constexpr const char* single = "(){}[],;";
  std::vector<Token> tokens;
  int line = 1;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else if (isspace(static_cast<unsigned char>(c))) {
      line += c == '\n';
      ++at;
    } else if (strchr(single, c)) {
      tokens.push_back({std::string(1, c), line});
      ++at;
    } else {
      const size_t begin = at;
      while (at < text.size() && !isspace(static_cast<unsigned char>(text[at])) && !strchr(single, text[at])) ++at;
      tokens.push_back({text.substr(begin, at - begin), line});
    }
  }
  return tokens;
}

struct Variable {
  std::string name;
  uint32_t bytes;
};

// Reader goes once through the tokens of a module. Its functions return false when the module is
// none, with the reason in error.
class Reader {
 public:
  Reader(const std::string& text, Ptx* ptx) : tokens_(tokens_of(text)), ptx_(ptx) {}

  bool read();
  std::string error;

 private:
  bool fail(int line, const std::string& why);
  bool more() const { return at_ < tokens_.size(); }
  std::string look() const { return more() ? tokens_[at_].text : ""; }
  std::string next() { return more() ? tokens_[at_++].text : ""; }
  uint32_t number() { return static_cast<uint32_t>(strtoul(next().c_str(), nullptr, 10)); }

  bool version();
  bool target();
  bool entry();
  void parameter(PtxKernel* kernel);
  bool body(PtxKernel* kernel);
  Variable variable(uint32_t* align);
  void shared();

  std::vector<Token> tokens_;
  size_t at_ = 0;
  Ptx* ptx_;
  std::vector<Variable> shared_;
};

bool Reader::fail(int line, const std::string& why) {
  error = format("ptxas application ptx input, line %d; fatal : %s\n", line, why.c_str());
  return false;
}

bool Reader::version() {
  const Token token = more() ? tokens_[at_++] : Token{"", 0};
  char* end = nullptr;
  const long major = strtol(token.text.c_str(), &end, 10);
  if (end == token.text.c_str() || *end != '.') return fail(token.line, "bad directive: .version " + token.text);
  ptx_->version = static_cast<int>(major * 10 + strtol(end + 1, nullptr, 10));
  return true;
}

bool Reader::target() {
  const Token token = more() ? tokens_[at_++] : Token{"", 0};
  if (token.text.compare(0, 3, "sm_") != 0) return fail(token.line, "bad directive: .target " + token.text);
  ptx_->target = atoi(token.text.c_str() + 3);
  return ptx_->target > 0 || fail(token.line, "bad directive: .target " + token.text);
}

// variable reads what follows .param or .shared: [.align 8] .b8 name[24], also with .ptr and what
// belongs to it before the name. One of no size (extern) has 0 bytes.
Variable Reader::variable(uint32_t* align) {
  Variable v{"", 0};
  bool given = false;
  while (!look().empty() && look()[0] == '.') {
    const std::string word = next();
    if (word == ".align") {
      const uint32_t n = number();
      if (!v.bytes) *align = n, given = true;  // behind .ptr it is that of the memory pointed to
    } else if (!v.bytes && word.size() > 2 && isdigit(static_cast<unsigned char>(word[2]))) {
      v.bytes = static_cast<uint32_t>(atoi(word.c_str() + 2)) / 8;
    }
  }
  if (!given) *align = std::max(v.bytes, 1u);
  v.name = next();
  while (look() == "[") {
    next();
    v.bytes *= look() == "]" ? 0 : number();
    next();  // ]
  }
  return v;
}

void Reader::parameter(PtxKernel* kernel) {
  uint32_t align = 1;
  const Variable v = variable(&align);
  kernel->param_bytes = (kernel->param_bytes + align - 1) / align * align + v.bytes;
}

void Reader::shared() {
  uint32_t align = 1;
  shared_.push_back(variable(&align));
}

// body reads from { to the } that closes it.
bool Reader::body(PtxKernel* kernel) {
  const int line = more() ? tokens_[at_].line : 0;
  std::set<std::string> words;
  int depth = 0;
  do {
    if (!more()) return fail(line, "Parsing error: the body of " + kernel->name + " has no end");
    const std::string word = next();
    if (word == "{") ++depth;
    if (word == "}") --depth;
    if (word == ".shared") shared();
    words.insert(word);
  } while (depth > 0);
  for (const auto& v : shared_) {
    // An address may have an offset behind it: buffer+16.
    const bool named = std::any_of(words.begin(), words.end(), [&](const std::string& w) { return w == v.name || w.starts_with(v.name + "+"); });
    if (named) kernel->static_shared += v.bytes;
  }
  return true;
}

bool Reader::entry() {
  PtxKernel kernel;
  const int line = tokens_[at_ - 1].line;
  kernel.name = next();
  while (look() != "{") {
    if (!more()) return fail(line, "Parsing error: " + kernel.name + " has no body");
    const std::string word = next();
    if (word == ".param") parameter(&kernel);
    if (word == ".maxntid") kernel.max_threads = number();
  }
  if (!body(&kernel)) return false;
  ptx_->kernels.push_back(kernel);
  return true;
}

bool Reader::read() {
  while (more()) {
    const std::string word = next();
    if (word == ".version" && !version()) return false;
    if (word == ".target" && !target()) return false;
    if (word == ".shared") shared();
    if (word == ".entry" && !entry()) return false;
  }
  return (ptx_->version && ptx_->target) || fail(1, "no .version or no .target directive");
}

}  // namespace

bool read_ptx(const std::string& text, Ptx* ptx, std::string* error) {
  Reader reader(text, ptx);
  if (reader.read()) return true;
  *error = reader.error;
  return false;
}

}  // namespace driver
