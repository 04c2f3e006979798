#include "cli/jail_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/text/printable.h"

namespace sallyport::cli {
namespace {

std::string mechanism_in(const JailAnswer& answer, Guarantee guarantee) {
  const auto always = std::ranges::find(answer.established, guarantee, &Established::guarantee);
  if (always != answer.established.end()) return std::string(name_of(always->mechanism));
  const auto asked = std::ranges::find(answer.when_asked, guarantee, &Established::guarantee);
  return asked == answer.when_asked.end() ? "-" : fmt::format("({})", name_of(asked->mechanism));
}

Json listed(const std::vector<Established>& established) {
  Json list = Json::array();
  for (const Established& one : established) {
    list.push_back({{"name", name_of(one.guarantee)}, {"mechanism", name_of(one.mechanism)}});
  }
  return list;
}

// Guarantee by jail, and by what it holds.
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
  return text + "\n(in brackets: of runs that ask for it)\n";
}

}  // namespace

Json jails_json(const std::vector<JailAnswer>& jails) {
  Json list = Json::array();
  for (const JailAnswer& answer : jails) {
    Json entry = {{"jail", answer.jail.name()}, {"usable", !answer.problem}};
    if (answer.problem) {
      entry["error"] = json_of(*answer.problem);
    } else {
      entry["guarantees"] = listed(answer.established);
      entry["when_asked"] = listed(answer.when_asked);
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::string jails_text(const std::vector<JailAnswer>& jails) {
  std::string text;
  std::size_t width = 0;
  for (const JailAnswer& answer : jails) width = std::max(width, answer.jail.name().size());
  std::vector<const JailAnswer*> working;
  for (const JailAnswer& answer : jails) {
    text += fmt::format("{:<{}} {}\n", answer.jail.name(), width,
                        answer.problem ? printable(answer.problem->message) : "works");
    if (answer.problem && !answer.problem->hint.empty()) {
      text += fmt::format("{:<{}} hint: {}\n", "", width, printable(answer.problem->hint));
    }
    if (!answer.problem) working.push_back(&answer);
  }
  return working.empty() ? text : text + matrix(working) + "\n";
}

}  // namespace sallyport::cli
