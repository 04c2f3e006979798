// The rules of table.h and arguments.h, some of them replaced, with this processor's numbers from libseccomp. For the
// build-time generator and the tests; the library itself holds only the finished program.
#pragma once

#include <seccomp.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "core/seccomp/arguments.h"
#include "core/seccomp/compile.h"
#include "core/seccomp/shared_host.h"
#include "core/seccomp/shared_host_tcp.h"
#include "core/seccomp/table.h"

namespace sallyport::seccomp {

// Sorted by number. Empty when a name is unknown or occurs twice: both are mistakes in the table. `instead` replaces
// the rules of the same calls.
inline std::vector<NumberedRule> numbered_rules(std::uint32_t architecture, std::span<const Rule> instead = {}) {
  std::vector<Rule> rules;
  for (const char* name : kAllowed) rules.push_back({name, kAllow, {}});
  for (const Refusal& refusal : kRefused) rules.push_back({refusal.call, refusal.error, {}});
  for (const Rule& rule : kByArguments) rules.push_back(rule);
  for (const Rule& other : instead) {
    const auto same = [&](const Rule& rule) { return std::string_view(rule.call) == other.call; };
    if (std::erase_if(rules, same) == 0) std::fprintf(stderr, "there is no rule for '%s' to replace\n", other.call);
    rules.push_back(other);
  }
  std::vector<NumberedRule> numbered;
  for (const Rule& rule : rules) {
    const int number = seccomp_syscall_resolve_name_arch(architecture, rule.call);
    if (number == __NR_SCMP_ERROR) {
      std::fprintf(stderr, "libseccomp knows no call '%s'\n", rule.call);
      return {};
    }
    if (number >= 0) numbered.push_back({static_cast<std::uint32_t>(number), rule});  // else another processor's
  }
  std::ranges::sort(numbered, {}, &NumberedRule::number);
  const auto twice = std::ranges::adjacent_find(numbered, {}, &NumberedRule::number);
  if (twice != numbered.end()) {
    std::fprintf(stderr, "two rules for '%s'\n", twice->rule.call);
    return {};
  }
  return numbered;
}

// A later rule replaces an earlier one for the same call.
inline std::vector<Rule> with_tcp_on_shared_host() {
  std::vector<Rule> rules(kOnSharedHost.begin(), kOnSharedHost.end());
  rules.insert(rules.end(), kTcpOnSharedHost.begin(), kTcpOnSharedHost.end());
  return rules;
}

}  // namespace sallyport::seccomp
