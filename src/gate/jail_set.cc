#include "gate/jail_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/errors.h"
#include "core/text/did_you_mean.h"

namespace sallyport {
namespace {

bool is_good_name(std::string_view name) {
  const auto is_good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= JailKind::kLongest && name != JailKind::kAuto.name() &&
         std::ranges::all_of(name, is_good);
}

auto find_named(std::span<Jail* const> jails, std::string_view name) {
  return std::ranges::find(jails, name, [](const Jail* jail) { return jail->name(); });
}

}  // namespace

Result<JailSet> JailSet::of(const std::vector<Jail*>& jails, std::span<const JailKind> auto_order) {
  JailSet set;
  for (Jail* const jail : jails) {
    if (jail == nullptr) return fail(invalid_request("own_jails", "one of them is null"));
    if (!is_good_name(jail->name())) {
      return fail(invalid_request("own_jails", fmt::format("'{}' cannot be a jail's name", jail->name()),
                                  "use lower-case letters, digits, - and _, and not \"auto\""));
    }
    if (find_named(set.jails_, jail->name()) != set.all().end()) {
      return fail(invalid_request("own_jails", fmt::format("there is a jail '{}' already", jail->name()),
                                  "give it a name of its own"));
    }
    set.jails_.push_back(jail);
  }
  for (const JailKind kind : auto_order) {
    const auto found = find_named(set.jails_, kind.name());
    if (found == set.all().end() || (*found)->confinement() == Confinement::kNone) {
      return fail(invalid_request("auto_jails", fmt::format("'{}' is no jail that could be taken", kind.name()),
                                  "name jails that confine the tool"));
    }
    set.auto_order_.push_back(*found);
  }
  return set;
}

Result<std::span<Jail* const>> JailSet::candidates(JailKind kind) const {
  if (kind == JailKind::kAuto) {
    if (!auto_order_.empty()) return std::span<Jail* const>(auto_order_);
    return fail(jail_unavailable(kind, "this gate has no jail to choose from", "name a jail"));
  }
  const auto found = find_named(jails_, kind.name());
  if (found != all().end()) return std::span<Jail* const>(&*found, 1);
  std::vector<std::string_view> names = {JailKind::kAuto.name()};
  for (const Jail* const jail : jails_) names.push_back(jail->name());
  std::string hint = did_you_mean(kind.name(), names);
  if (hint.empty()) hint = fmt::format("one of: {}", fmt::join(names, ", "));
  return fail(invalid_request("jail", fmt::format("there is no jail '{}'", kind.name()), hint));
}

std::vector<JailOffer> JailSet::offers() const {
  std::vector<JailOffer> offers;
  const auto add = [&offers](const Jail* jail) {
    const JailKind kind = jail->kind();
    if (std::ranges::find(offers, kind, &JailOffer::kind) != offers.end()) return;
    offers.push_back({.kind = kind,
                      .confinement = jail->confinement(),
                      .starts_slowly = jail->starts_slowly(),
                      .never_gives = {jail->never_gives().begin(), jail->never_gives().end()}});
  };
  std::ranges::for_each(auto_order_, add);
  std::ranges::for_each(jails_, add);
  return offers;
}

}  // namespace sallyport
