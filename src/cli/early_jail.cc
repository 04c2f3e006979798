// Runs before libc is ready: no call of anything outside, no table that holds a pointer.
#include "cli/early_jail.h"

#include <cstddef>

#include "cli/early_admission.h"
#include "cli/early_call.h"
#include "spawn/early_process.h"

namespace sallyport::cli {
namespace {

constinit spawn::BegunHelper begun;  // written before main()

// A larger one is only read later.
bool policy_has(const char* file, const char* tool) {
  char text[16L * 1024];
  const long size = spawn::read_short_file(file, &text[0], sizeof text);
  return size >= 0 && policy_surely_has(&text[0], static_cast<std::size_t>(size), tool);
}

void begin_jail(long argc, const char* const* argv) {
  const EarlyCall call = find_early_call(argc, argv);
  if (call.tool == nullptr || !spawn::is_usual_process()) return;
  const bool admitted = call.policy == nullptr ? builtin_set_surely_has(call.tool) : policy_has(call.policy, call.tool);
  if (!admitted) return;
  spawn::keep_dead_children();
  begun = spawn::begin_helper(spawn::wire::HelperKind::kOneJail, 0);
}

}  // namespace

spawn::BegunHelper take_early_jail() {
  const spawn::BegunHelper taken = begun;
  begun = {};
  return taken;
}

}  // namespace sallyport::cli

// entry.S. `stack` is what the kernel hands a new program: argc, then argv.
extern "C" [[gnu::visibility("hidden")]] void sallyport_before_libc(const long* stack) {
  sallyport::cli::begin_jail(stack[0], reinterpret_cast<const char* const*>(stack + 1));
}
