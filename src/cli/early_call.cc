// Runs before libc is ready: no call of anything outside, no table that holds a pointer.
#include "cli/early_call.h"

#include "cli/call_options.h"
#include "cli/early_text.h"

namespace sallyport::cli {
namespace {

struct Words {
  const char* const* at;
  const char* const* end;

  const char* next() { return at == end ? nullptr : *at++; }
};

// The option's name, up to its end or '='; null when there is no such option.
const OptionShape* shape_of(const char* word) {
  for (const OptionShape& shape : kCallOptionShapes) {
    const char* rest = word;
    const char* name = &shape.name[0];
    for (; *name != '\0' && *rest == *name; ++name, ++rest) {
    }
    if (*name == '\0' && (*rest == '\0' || *rest == '=')) return &shape;
  }
  return nullptr;
}

// An option's value, from the same word or the next one; null when it is missing.
const char* value_of(const char* word, Words& words) {
  for (; *word != '\0'; ++word) {
    if (*word == '=') return word + 1;
  }
  const char* const value = words.next();
  return value == nullptr || early::starts_with(value, "--") ? nullptr : value;
}

bool takes_no_value(const char* word) {
  while (*word != '\0' && *word != '=') ++word;
  return *word == '\0';
}

bool is_operand(const char* word) { return word[0] != '-' || word[1] == '\0'; }

// One option. False: leave the line to those who can explain what is wrong with it.
bool read_option(const char* word, Words& words, EarlyCall& call) {
  const OptionShape* const shape = shape_of(word);
  if (shape == nullptr) return false;
  if (!shape->takes_value) return takes_no_value(word);
  const char* const value = value_of(word, words);
  if (value == nullptr || *value == '\0') return false;
  if (early::equal(&shape->name[0], "--jail")) return early::equal(value, "auto") || early::equal(value, "native");
  if (!early::equal(&shape->name[0], "--policy")) return true;
  if (call.policy != nullptr) return false;
  call.policy = value;
  return true;
}

}  // namespace

EarlyCall find_early_call(long argc, const char* const* argv) {
  if (argc < 3 || !early::equal(argv[1], "run")) return {};
  Words words = {argv + 2, argv + argc};
  EarlyCall call;
  for (const char* word = words.next(); word != nullptr; word = words.next()) {
    if (early::equal(word, "--")) {
      call.tool = words.next();
      return call;
    }
    if (is_operand(word)) {
      call.tool = word;
      return call;
    }
    if (!read_option(word, words, call)) break;
  }
  return {};
}

}  // namespace sallyport::cli
