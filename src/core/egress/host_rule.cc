#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "core/egress/host_name.h"
#include "core/egress/ip_address.h"
#include "core/errors.h"
#include "core/parse_units.h"
#include "core/text/did_you_mean.h"
#include "core/text/printable.h"
#include "sallyport/egress.h"

namespace sallyport {
namespace {

constexpr std::array<std::string_view, 4> kRuleOptions = {"up", "down", "private", "class"};
constexpr std::string_view kRuleGrammar = "write HOST[:PORT][=ADDR:PORT][,up=SIZE][,down=SIZE][,private][,class=NAME]";
constexpr std::string_view kAnyClass = "any";
constexpr std::string_view kNoPort = "the port must be a number from 1 to 65535";
// In the jail's network all of it goes to our resolver.
constexpr std::uint16_t kDnsPort = 53;
constexpr std::string_view kTargetHint = "after = write an IP address and a port: 127.0.0.1:4873 or [::1]:4873";
// Four times the longest name: enough for any rule, and short enough for a readable error message.
constexpr std::size_t kLongestHostRule = 4 * kLongestHostName;

struct SplitText {
  std::string_view before;
  std::optional<std::string_view> after;
};

SplitText split_at(std::string_view text, std::size_t place) {
  if (place == std::string_view::npos) return {.before = text, .after = {}};
  return {.before = text.substr(0, place), .after = text.substr(place + 1)};
}

std::optional<std::uint16_t> parse_rule_port(std::string_view text) {
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value);
  const bool plain = error == std::errc{} && after == end && !text.starts_with('0') && value <= UINT16_MAX;
  return plain ? std::optional(static_cast<std::uint16_t>(value)) : std::nullopt;
}

std::string rule_size_text(ByteCount bytes) {
  std::uint64_t value = count(bytes);
  std::string_view units = "KMGT";
  std::string_view unit;
  while (value != 0 && value % 1024 == 0 && !units.empty()) {
    value /= 1024;
    unit = units.substr(0, 1);
    units.remove_prefix(1);
  }
  return fmt::format("{}{}", value, unit);
}

std::string text_of(const HostRuleFields& rule) {
  std::string text = fmt::format("{}{}", rule.any_subdomain ? "*." : "", rule.name);
  if (rule.port) fmt::format_to(std::back_inserter(text), ":{}", *rule.port);
  if (rule.target) {
    const bool v6 = rule.target->address.find(':') != std::string::npos;
    const std::string address = v6 ? fmt::format("[{}]", rule.target->address) : rule.target->address;
    fmt::format_to(std::back_inserter(text), "={}:{}", address, rule.target->port);
  }
  if (rule.max_up) text += ",up=" + rule_size_text(*rule.max_up);
  if (rule.max_down) text += ",down=" + rule_size_text(*rule.max_down);
  if (rule.may_be_private) text += ",private";
  for (const AddressClass one : rule.also_classes) text += fmt::format(",class={}", name_of(one));
  if (rule.any_class) text += fmt::format(",class={}", kAnyClass);
  return text;
}

// Reads one rule's text and makes the errors about it.
class HostRuleReader {
 public:
  explicit HostRuleReader(std::string_view text) : text_(text) {}

  Result<HostRuleFields> read() const {
    if (text_.empty()) return fail(error("it is empty", kRuleGrammar));
    if (text_.size() > kLongestHostRule) return fail(error("too long", kRuleGrammar));
    const SplitText options = split_at(text_, text_.find(','));
    const SplitText target = split_at(options.before, options.before.find('='));
    HostRuleFields rule = TRY(read_host(target.before));
    if (target.after) rule.target = TRY(read_target(*target.after));
    if (options.after) TRY(read_options(*options.after, rule));
    return checked(std::move(rule));
  }

  // Checks for written rules and for rules made of fields: only normalised names compare equal.
  Result<HostRuleFields> checked(HostRuleFields rule) const {
    TRY(refuse_address(rule.name, rule.port));
    if (rule.port == 0) return fail(error(kNoPort, kRuleGrammar));
    if (rule.port == kDnsPort) {
      return fail(error("port 53 is DNS, which the owner of the jail's network answers itself",
                        "leave it out: names of allowed hosts resolve without it"));
    }
    rule.name = TRY(normalise_host_name(rule.name));
    if (rule.any_subdomain && rule.name.find('.') == std::string::npos && rule.name != "localhost") {
      return fail(error("a whole top-level domain is too wide", "name the domain too: *.domain." + rule.name));
    }
    TRY(refuse_loopback(rule));
    if (rule.target) TRY(check_target(*rule.target));
    std::ranges::sort(rule.also_classes);
    const auto repeated = std::ranges::unique(rule.also_classes);
    rule.also_classes.erase(repeated.begin(), repeated.end());
    TRY(check_budget("up", rule.max_up));
    TRY(check_budget("down", rule.max_down));
    return rule;
  }

 private:
  [[nodiscard]] Error error(std::string_view why, std::string_view hint) const {
    Error made =
        invalid_request(fmt::format("host rule '{}'", printable(text_.substr(0, kLongestHostRule))), why, hint);
    made.detail = InvalidRequest{.field = "host rule"};
    return made;
  }

  Result<HostRuleFields> read_host(std::string_view host) const {
    TRY(refuse_url(host));
    TRY(refuse_address(host, std::nullopt));
    const SplitText port = split_at(host, host.rfind(':'));
    HostRuleFields rule;
    if (port.after) {
      rule.port = parse_rule_port(*port.after);
      TRY(refuse_address(port.before, rule.port));
      if (!rule.port) return fail(error(kNoPort, kRuleGrammar));
    }
    std::string_view name = port.before;
    if (name.empty()) return fail(error("the host is missing", kRuleGrammar));
    if (name == "*" || name == "*.")
      return fail(error("every host is too wide", "name the hosts, or *.domain.example"));
    rule.any_subdomain = name.starts_with("*.");
    if (rule.any_subdomain) name.remove_prefix(2);
    if (name.find('*') != std::string_view::npos) {
      return fail(error("a wildcard stands only at the front, for whole labels", "write *.domain.example"));
    }
    rule.name = name;
    return rule;
  }

  Status refuse_url(std::string_view host) const {
    const std::size_t scheme = host.find("://");
    std::string_view rest = scheme == std::string_view::npos ? host : host.substr(scheme + 3);
    rest = rest.substr(0, rest.find_first_of("/?#\\"));
    const std::size_t user = rest.rfind('@');
    const std::string_view bare = user == std::string_view::npos ? rest : rest.substr(user + 1);
    if (bare.size() == host.size()) return {};
    const std::string hint = bare.empty() ? std::string(kRuleGrammar) : fmt::format("write only the host: {}", bare);
    if (scheme != std::string_view::npos) return fail(error("a rule has no scheme", hint));
    if (user != std::string_view::npos) return fail(error("a rule has no user", hint));
    return fail(error("a rule has no path", hint));
  }

  // An address has no name to compare with SNI, Host or a lookup.
  Status refuse_address(std::string_view host, std::optional<std::uint16_t> port) const {
    const std::optional<IpAddress> address = parse_ip_address(host);
    if (!address) return {};
    const std::string text = ip_address_text(*address);
    const std::string where = address->v6 ? fmt::format("[{}]", text) : text;
    return fail(
        error("an IP address, not a name",
              fmt::format("give it a name, NAME:PORT=ADDR:PORT: mirror.test:{0}={1}:{0}", port.value_or(443), where)));
  }

  // Inside the jail, localhost and the names in the jail's /etc/hosts always mean the jail itself (RFC 6761, 6.3).
  // Other names of loopback lead to an address that no rule without a target allows.
  Status refuse_loopback(const HostRuleFields& rule) const {
    static constexpr std::array<std::string_view, 2> kOfTheJail = {"localhost", "sallyport"};
    static constexpr std::array<std::string_view, 6> kLoopback = {
        "localhost.localdomain",   "localhost4",    "localhost6",
        "localhost6.localdomain6", "ip6-localhost", "ip6-loopback"};
    const bool own = std::ranges::find(kOfTheJail, rule.name) != kOfTheJail.end() || rule.name.ends_with(".localhost");
    const bool loopback = std::ranges::find(kLoopback, rule.name) != kLoopback.end();
    if (!own && (!loopback || rule.target)) return {};
    return fail(error("in the jail this name is the jail's own loopback",
                      fmt::format("give the host another name, and let the tool use that: NAME:{0}=127.0.0.1:{0}",
                                  rule.port.value_or(443))));
  }

  Result<HostTarget> read_target(std::string_view target) const {
    const SplitText port = split_at(target, target.rfind(':'));
    const std::optional<std::uint16_t> number = port.after ? parse_rule_port(*port.after) : std::nullopt;
    const std::optional<IpAddress> address = parse_ip_address(port.before);
    const bool bracketed = port.before.starts_with('[');
    if (!number || !address || address->v6 != bracketed) return fail(error("the target is not ADDR:PORT", kTargetHint));
    return HostTarget{.address = std::string(port.before), .port = *number};
  }

  // Rewrites the address to its canonical spelling.
  Status check_target(HostTarget& target) const {
    const std::optional<IpAddress> address = parse_ip_address(target.address);
    if (!address || target.port == 0) return fail(error("the target is not ADDR:PORT", kTargetHint));
    std::string text = ip_address_text(*address);
    // 010.0.0.1 is 8.0.0.1 to some programs and 10.0.0.1 to others.
    if (!address->v6 && text != target.address) {
      return fail(error("the target's address has two readings", fmt::format("write it as {}:{}", text, target.port)));
    }
    if (target.address.find('%') != std::string::npos) return fail(error("a target has no zone", kTargetHint));
    const AddressKind kind = kind_of(*address);
    if (kind == AddressKind::kUnspecified || kind == AddressKind::kMulticast || kind == AddressKind::kBroadcast) {
      return fail(error(fmt::format("the target is {}", name_of(kind)), kTargetHint));
    }
    target.address = std::move(text);
    return {};
  }

  Status check_budget(std::string_view which, std::optional<ByteCount> limit) const {
    if (!limit || count(*limit) != 0) return {};
    return fail(error(fmt::format("'{}' of nothing allows nothing", which), "leave the host out instead"));
  }

  Status read_options(std::string_view options, HostRuleFields& rule) const {
    while (true) {
      const SplitText rest = split_at(options, options.find(','));
      TRY(read_option(rest.before, rule));
      if (!rest.after) return {};
      options = *rest.after;
    }
  }

  Status read_option(std::string_view option, HostRuleFields& rule) const {
    const SplitText value = split_at(option, option.find('='));
    if (std::ranges::find(kRuleOptions, value.before) == kRuleOptions.end()) {
      const std::string suggestion = did_you_mean(value.before, kRuleOptions);
      return fail(error(fmt::format("unknown option '{}'", value.before),
                        suggestion.empty() ? "after the host come ,up=SIZE and ,down=SIZE and ,private and ,class=NAME"
                                           : suggestion));
    }
    if (value.before == "private") {
      if (value.after) return fail(error("'private' takes no value", "write just ,private"));
      if (rule.may_be_private) return fail(error("'private' is given twice", "keep one of the two"));
      rule.may_be_private = true;
      return {};
    }
    if (value.before == "class") return read_class(value.after.value_or(""), rule);
    std::optional<ByteCount>& limit = value.before == "up" ? rule.max_up : rule.max_down;
    if (limit) return fail(error(fmt::format("'{}' is given twice", value.before), "keep one of the two"));
    limit = TRY(parse_bytes(value.after.value_or(""), value.before));
    return {};
  }

  Status read_class(std::string_view name, HostRuleFields& rule) const {
    if (name == kAnyClass) {
      if (rule.any_class) return fail(error("'class=any' is given twice", "keep one of the two"));
      rule.any_class = true;
      return {};
    }
    const std::optional<AddressClass> found = address_class_named(name);
    if (!found) {
      const std::string why = name == name_of(AddressKind::kMetadata)
                                  ? "a metadata service is never admitted"
                                  : fmt::format("there is no class of addresses '{}'", name);
      return fail(
          error(why,
                "one of private, shared, loopback, link-local, site-local, benchmark (198.18/15), documentation, "
                "reserved, or any of these"));
    }
    if (std::ranges::find(rule.also_classes, *found) != rule.also_classes.end()) {
      return fail(error(fmt::format("'class={}' is given twice", name), "keep one of the two"));
    }
    rule.also_classes.push_back(*found);
    return {};
  }

  std::string_view text_;
};

}  // namespace

Result<HostRule> HostRule::of(HostRuleFields fields) {
  if (!std::ranges::all_of(fields.also_classes, is_address_class)) {
    return fail(invalid_request("also_classes", "it holds no class of addresses", "take them from AddressClass"));
  }
  const std::string text = text_of(fields);
  return HostRule(TRY(HostRuleReader(text).checked(std::move(fields))));
}

Result<HostRule> parse_host_rule(std::string_view text) { return HostRule(TRY(HostRuleReader(text).read())); }

std::string host_rule_text(const HostRule& rule) { return text_of(rule.fields()); }

}  // namespace sallyport
