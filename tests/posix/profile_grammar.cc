#include "posix/profile_grammar.h"

#include <array>
#include <cctype>
#include <set>

namespace sallyport::test {
namespace {

const std::set<std::string, std::less<>> kOperations = {"default",
                                                        "file-ioctl",
                                                        "file-map-executable",
                                                        "file-read*",
                                                        "file-read-metadata",
                                                        "file-write*",
                                                        "file-write-create",
                                                        "file-write-data",
                                                        "file-write-setugid",
                                                        "file-write-unlink",
                                                        "mach-lookup",
                                                        "network-outbound",
                                                        "process-exec*",
                                                        "process-fork",
                                                        "process-info*",
                                                        "pseudo-tty",
                                                        "signal",
                                                        "sysctl-read",
                                                        "sysctl-write"};
const std::set<std::string, std::less<>> kPathFilters = {"literal", "subpath"};
const std::set<std::string, std::less<>> kNameFilters = {"global-name", "sysctl-name", "sysctl-name-prefix",
                                                         "extension"};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ == text_.size();
  }

  bool read(Expression& into) {
    if (at_end()) return false;
    if (text_[at_] == '(') return read_list(into);
    if (text_[at_] == '"') return read_quoted(into, Expression::Kind::kString);
    if (text_.substr(at_).starts_with("#\"")) {
      ++at_;
      return read_quoted(into, Expression::Kind::kPattern);
    }
    into.kind = Expression::Kind::kAtom;
    while (at_ < text_.size() && std::string_view(" \n()\"#;'`").find(text_[at_]) == std::string_view::npos) {
      into.text += text_[at_++];
    }
    return !into.text.empty();
  }

 private:
  bool read_list(Expression& into) {
    into.kind = Expression::Kind::kList;
    ++at_;
    while (!at_end() && text_[at_] != ')') {
      if (!read(into.parts.emplace_back())) return false;
    }
    return at_ < text_.size() && text_[at_++] == ')';
  }

  bool read_quoted(Expression& into, Expression::Kind kind) {
    into.kind = kind;
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) return false;
    into.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return into.text.find('\\') == std::string::npos;  // ours need no escape
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Checker {
 public:
  explicit Checker(const std::map<std::string, std::string>& parameters) : parameters_(parameters) {}

  std::string check(const std::vector<Expression>& rules) {
    if (rules.size() < 2 || !rules[0].is_list_of("version") || rules[0].parts.size() != 2 ||
        rules[0].parts[1].text != "1") {
      return "it does not begin with (version 1)";
    }
    if (!rules[1].is_list_of("deny") || rules[1].parts.size() < 2 || rules[1].parts[1].text != "default") {
      return "it does not deny by default";
    }
    for (std::size_t i = 1; i < rules.size(); ++i) {
      if (std::string problem = check_rule(rules[i], i); !problem.empty()) return problem;
    }
    for (const auto& [name, value] : parameters_) {
      if (!used_.contains(name)) return "parameter " + name + " is in no rule";
      if (!value.starts_with('/')) return "parameter " + name + " is no absolute path";
    }
    return {};
  }

 private:
  std::string check_rule(const Expression& rule, std::size_t at) {
    const bool allows = rule.is_list_of("allow");
    if (!allows && !rule.is_list_of("deny")) return "a rule is neither allow nor deny";
    std::size_t operations = 0;
    for (std::size_t i = 1; i < rule.parts.size(); ++i) {
      const Expression& part = rule.parts[i];
      if (part.kind == Expression::Kind::kAtom && operations == i - 1) {
        if (!kOperations.contains(part.text)) return "unknown operation " + part.text;
        if (part.text == "default" && at != 1) return "default is decided twice";
        ++operations;
      } else if (std::string problem = check_filter(part); !problem.empty()) {
        return problem;
      }
    }
    return operations == 0 ? "a rule without operation" : "";
  }

  std::string check_filter(const Expression& filter) {
    if (filter.kind != Expression::Kind::kList || filter.parts.size() < 2) return "a filter is no list";
    const std::string& name = filter.parts[0].text;
    const Expression& first = filter.parts[1];
    if (name == "require-all" || name == "require-not") {
      if (name == "require-not" && filter.parts.size() != 2) return "require-not takes one filter";
      for (std::size_t i = 1; i < filter.parts.size(); ++i) {
        if (std::string problem = check_filter(filter.parts[i]); !problem.empty()) return problem;
      }
      return {};
    }
    if (name == "vnode-type") return first.kind == Expression::Kind::kAtom ? "" : "vnode-type takes names";
    if (name == "target") return first.text == "same-sandbox" ? "" : "target is not same-sandbox";
    if (name == "with") return first.text == "message" ? "" : "with what?";
    if (name == "remote") return check_remote(filter);
    if (filter.parts.size() != 2) return name + " takes one argument";
    if (name == "regex") return first.kind == Expression::Kind::kPattern ? "" : "regex takes a pattern";
    if (kNameFilters.contains(name)) return first.kind == Expression::Kind::kString ? "" : name + " takes a string";
    return kPathFilters.contains(name) ? check_path(first) : "unknown filter " + name;
  }

  // Only a port of this machine, never a port of all.
  static std::string check_remote(const Expression& filter) {
    const bool local = filter.parts.size() == 3 && filter.parts[1].text == "ip" &&
                       filter.parts[2].kind == Expression::Kind::kString &&
                       filter.parts[2].text.starts_with("localhost:") && !filter.parts[2].text.ends_with("*");
    return local ? "" : "remote is not one port of localhost";
  }

  std::string check_path(const Expression& path) {
    if (path.kind == Expression::Kind::kString) return path.text.starts_with('/') ? "" : "a path is not absolute";
    if (!path.is_list_of("param") || path.parts.size() != 2 || path.parts[1].kind != Expression::Kind::kString) {
      return "a path is neither a string nor a parameter";
    }
    if (!parameters_.contains(path.parts[1].text)) return "undefined parameter " + path.parts[1].text;
    used_.insert(path.parts[1].text);
    return {};
  }

  const std::map<std::string, std::string>& parameters_;
  std::set<std::string> used_;
};

}  // namespace

std::string parse_profile(std::string_view text, std::vector<Expression>& expressions) {
  Reader reader(text);
  while (!reader.at_end()) {
    if (!reader.read(expressions.emplace_back())) return "an expression has no end, or a character no meaning";
    if (expressions.back().kind != Expression::Kind::kList) return "a rule is no list";
  }
  return {};
}

std::string problem_in_profile(std::string_view text, const std::map<std::string, std::string>& parameters) {
  std::vector<Expression> rules;
  if (std::string problem = parse_profile(text, rules); !problem.empty()) return problem;
  return Checker(parameters).check(rules);
}

}  // namespace sallyport::test
