#include "cli/jail_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/text/printable.h"
#include "sallyport/microvm.h"
#include "sallyport/oci.h"

namespace sallyport::cli {
namespace {

std::string_view mechanism_in(const JailAnswer& answer, Guarantee guarantee) {
  const auto found = std::ranges::find(answer.established, guarantee, &Established::guarantee);
  if (found != answer.established.end()) return name_of(found->mechanism);
  const bool asked_for = guarantee == Guarantee::kLimitMemory || guarantee == Guarantee::kLimitPids ||
                         guarantee == Guarantee::kLimitCpu || guarantee == Guarantee::kNetUnixIsolated ||
                         guarantee == Guarantee::kNetEgressAllowlist;
  // What that jail refuses whoever asks (docs/jails.md).
  const bool is_machine = answer.jail == kMicrovmJail || answer.jail == kMicrovmTcgJail;
  const bool refused = (answer.jail == kGvisorJail && guarantee != Guarantee::kNetUnixIsolated) ||
                       (is_machine && guarantee == Guarantee::kLimitCpu);
  return asked_for && !refused ? "when asked for" : "-";
}

// Guarantee by jail. Hosts and limits are of runs that ask for them.
std::string matrix(const std::vector<const JailAnswer*>& working) {
  std::size_t first = std::string_view("GUARANTEE").size();
  for (const GuaranteeInfo& info : kGuarantees) first = std::max(first, info.name.size());
  std::string text = fmt::format("\n{:<{}}", "GUARANTEE", first);
  std::vector<std::size_t> widths;
  for (const JailAnswer* answer : working) {
    std::size_t width = answer->jail.name().size();
    for (const GuaranteeInfo& info : kGuarantees) {
      width = std::max(width, mechanism_in(*answer, info.guarantee).size());
    }
    widths.push_back(width);
    text += fmt::format("  {:<{}}", answer->jail.name(), width);
  }
  for (const GuaranteeInfo& info : kGuarantees) {
    text.erase(text.find_last_not_of(' ') + 1);
    text += fmt::format("\n{:<{}}", info.name, first);
    for (std::size_t i = 0; i < working.size(); ++i) {
      text += fmt::format("  {:<{}}", mechanism_in(*working[i], info.guarantee), widths[i]);
    }
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

Json jails_json(const std::vector<JailAnswer>& jails) {
  Json list = Json::array();
  for (const JailAnswer& answer : jails) {
    Json entry = {{"jail", answer.jail.name()}, {"usable", !answer.problem}};
    if (answer.problem) {
      entry["error"] = json_of(*answer.problem);
    } else {
      Json guarantees = Json::array();
      for (const Established& one : answer.established) {
        guarantees.push_back({{"name", name_of(one.guarantee)}, {"mechanism", name_of(one.mechanism)}});
      }
      entry["guarantees"] = std::move(guarantees);
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::string jails_text(const std::vector<JailAnswer>& jails) {
  std::string text;
  std::vector<const JailAnswer*> working;
  for (const JailAnswer& answer : jails) {
    text +=
        fmt::format("{:<8} {}\n", answer.jail.name(), answer.problem ? printable(answer.problem->message) : "works");
    if (answer.problem && !answer.problem->hint.empty()) {
      text += fmt::format("         hint: {}\n", printable(answer.problem->hint));
    }
    if (!answer.problem) working.push_back(&answer);
  }
  return working.empty() ? text : text + matrix(working) + "\n";
}

}  // namespace sallyport::cli
