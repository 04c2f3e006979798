#include "core/policy/hardening.h"

#include <fmt/format.h>

#include <iterator>

#include "core/errors.h"
#include "core/policy/hardening/table.h"

namespace sallyport {

namespace {

// An entry that comes from no closed set could name any hardening.
Result<const hardening::HardeningRow*> row_of(const ToolEntry& tool) {
  const hardening::HardeningRow* const row = hardening::find_hardening(tool.hardening);
  if (row != nullptr) return row;
  return fail(invalid_request("allowlist", fmt::format("unknown hardening '{}'", tool.hardening),
                              "make the set with Allowlist::of"));
}

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Result<HardenedCommand> harden(const ToolEntry& tool, std::span<const std::string> argv, const GitConfiguration& git) {
  const hardening::HardeningRow* const row = TRY(row_of(tool));
  return row->harden(argv, git);
}

std::optional<GitQuestion> git_question(const ToolEntry& tool, std::span<const std::string> argv) {
  const hardening::HardeningRow* const row = hardening::find_hardening(tool.hardening);
  if (row == nullptr || row->git_question == nullptr) return std::nullopt;
  return row->git_question(argv);
}

bool may_trace(const ToolEntry& tool) {
  const hardening::HardeningRow* const row = hardening::find_hardening(tool.hardening);
  return row != nullptr && row->may_trace;
}

bool reads_npm_layout(const ToolEntry& tool) {
  const hardening::HardeningRow* const row = hardening::find_hardening(tool.hardening);
  return row != nullptr && row->reads_npm_layout;
}

std::vector<hardening::HardeningFact> hardening_facts(const ToolEntry& tool) {
  const hardening::HardeningRow* const row = hardening::find_hardening(tool.hardening);
  return row == nullptr ? std::vector<hardening::HardeningFact>() : row->facts();
}

hardening::AdmittedWords admitted_words(const ToolEntry& tool) {
  const hardening::HardeningRow* const row = hardening::find_hardening(tool.hardening);
  return row == nullptr || row->admitted == nullptr ? hardening::AdmittedWords() : row->admitted();
}

Result<HardenedCommand> harden(const Allowlist& allowlist, const ToolEntry& tool, std::span<const std::string> argv,
                               const GitConfiguration& git) {
  HardenedCommand outer = TRY(harden(tool, argv, git));
  if (outer.inner_at == 0) return outer;
  const std::span<const std::string> rest = std::span<const std::string>(outer.argv).subspan(outer.inner_at);
  const ToolEntry inner_tool = TRY(allowlist.admit(rest.front()));
  if (inner_tool.hardening == tool.hardening) {
    return fail(disallowed_subprocess(inner_tool.name, fmt::format("{} may not start itself", tool.name),
                                      "name the tool to run"));
  }
  // The gate asks git about the repo before such a tool runs, but only when the gate itself starts the tool.
  if (git_question(inner_tool, rest)) {
    return fail(
        disallowed_subprocess(inner_tool.name, fmt::format("{} may not start it", tool.name), "run it by itself"));
  }
  HardenedCommand inner = TRY(harden(inner_tool, rest));
  outer.argv.resize(outer.inner_at);
  append(outer.argv, std::move(inner.argv));
  append(outer.env, std::move(inner.env));
  append(outer.files, std::move(inner.files));
  if (outer.needs_jail.empty()) outer.needs_jail = std::move(inner.needs_jail);
  outer.needs_host = std::move(inner.needs_host);
  return outer;
}

}  // namespace sallyport
