#include "audit/report.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "audit/log_reader.h"
#include "audit/members.h"
#include "audit/report_template.h"
#include "core/bytes/base64.h"
#include "core/bytes/sha256.h"
#include "core/json/lookup.h"
#include "core/json/picked.h"
#include "core/text/printable.h"

namespace sallyport::audit {
namespace {

constexpr std::size_t kMostCalls = 250'000;

// Text that many rows share, by number.
class Names {
 public:
  std::size_t number_of(const std::string& name) {
    const auto [found, fresh] = numbers_.emplace(name, names_.size());
    if (fresh) names_.push_back(name);
    return found->second;
  }
  [[nodiscard]] const Json& all() const { return names_; }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  Json names_ = Json::array();
};

std::string plain(const Json& value) {
  if (value.is_null()) return {};
  return printable(value.is_string() ? value.get<std::string>() : json_dump(value));
}

std::string joined(const Json& words) {
  std::string text;
  for (const Json& word : words) text += (text.empty() ? "" : " ") + plain(word);
  return text;
}

struct Request {
  std::string command;
  std::string commit;
};

// The members of a record that its row shows.
const MemberNames& row_members() {
  static const MemberNames names = {"seq",          "time",           "kind",
                                    "run",          "tool",           "repo",
                                    "host",         "hash",           "outcome",
                                    "duration_ms",  "error",          "denials",
                                    "request.argv", "request.commit", "receipt.plan_digest"};
  return names;
}

// In the order of `columns` in report_template.cc.
class Rows {
 public:
  // `record`: its row_members(); `whole`: its text.
  void add(const Json& record, std::string_view whole, const Request& request) {
    const Json& outcome = member(record, "outcome");
    const Json& receipt = member(record, "receipt");
    const Json& error = member(record, "error");
    Json denied = Json::array();
    for (const Json& denial : items_in(record, "denials")) {
      if (!denial.is_object()) continue;
      denied.push_back({plain(member(denial, "host")), count_in(denial, "port"), plain(member(denial, "reason"))});
    }
    const std::string said = error.is_null() ? plain(member(outcome, "evidence")) : plain(member(error, "message"));
    push({count_in(record, "seq"), text_in(record, "time"),
          names_.number_of(outcome.is_null() ? text_in(record, "kind") : text_in(outcome, "outcome")),
          names_.number_of(plain(member(record, "tool"))), number_in(record, "duration_ms"),
          names_.number_of(plain(member(record, "repo"))), request.command, text_in(record, "run"),
          names_.number_of(plain(member(record, "host"))), std::move(denied), names_.number_of(said),
          receipt_number(whole), request.commit, text_in(receipt, "plan_digest"), text_in(record, "hash")});
  }

  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  [[nodiscard]] std::string data() const {
    std::string text = R"({"names":)" + script_text(names_.all()) + R"(,"rows":[)";
    for (std::size_t i = 0; i < rows_.size(); ++i) text += (i == 0 ? "" : ",\n") + rows_[i];
    return text + "]}";
  }

  // JSON that is safe in a script element: no end tag, no comment, no line separator that a script parser knows and
  // JSON does not.
  static std::string script_text(const Json& json) {
    std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
    std::string safe;
    safe.reserve(text.size());
    for (const char c : text) {
      if (c == '<') safe += "\\u003c";
      if (c == '>') safe += "\\u003e";
      if (c == '&') safe += "\\u0026";
      if (c != '<' && c != '>' && c != '&') safe += c;
    }
    return safe;
  }

 private:
  // Most receipts differ only in their plan's digest, which has its own column: parse the rest once.
  std::size_t receipt_number(std::string_view whole) {
    const std::string text =
        picked_text(whole, {"receipt.jail", "receipt.binary", "receipt.policy_digest", "receipt.guarantees"});
    const auto [found, fresh] = receipts_.emplace(text, 0);
    if (fresh) {
      const Json json = Json::parse(text, nullptr, false);
      found->second = names_.number_of(receipt_text(member(json, "receipt")));
    }
    return found->second;
  }

  static std::string receipt_text(const Json& receipt) {
    if (!receipt.is_object()) return {};
    std::string text = fmt::format("jail: {}\n", plain(member(receipt, "jail")));
    if (const Json& binary = member(receipt, "binary"); binary.is_object()) {
      const Json& sha256 = member(binary, "sha256");
      text += fmt::format("binary: {}\nsha256: {}\n", plain(member(binary, "path")),
                          plain(sha256.is_null() ? member(binary, "digest") : sha256));
    }
    text += fmt::format("policy: {}\n", plain(member(receipt, "policy_digest")));
    for (const Json& guarantee : items_in(receipt, "guarantees")) {
      if (!guarantee.is_object()) continue;
      text += fmt::format("{} ({})\n", plain(member(guarantee, "name")), plain(member(guarantee, "mechanism")));
    }
    return text;
  }

  void push(const Json& row) {
    rows_.push_back(script_text(row));
    if (rows_.size() <= kMostCalls) return;
    rows_.pop_front();
    ++left_out_;
  }

  Names names_;
  std::unordered_map<std::string, std::size_t> receipts_;  // by their text
  std::deque<std::string> rows_;
  std::uint64_t left_out_ = 0;
};

Request request_of(const Json& record) {
  constexpr std::size_t kLongestCommand = 400;
  const Json& request = member(record, "request");
  Request out{.command = joined(items_in(request, "argv")), .commit = text_in(request, "commit")};
  if (out.command.size() > kLongestCommand) out.command = printable(out.command.substr(0, kLongestCommand)) + " ...";
  return out;
}

Status collect(const LogDirectory& directory, Rows& rows) {
  std::map<std::string, std::string> open;  // by run: the row_members() of its intent
  LogReader reader = TRY(LogReader::open(directory));
  while (const std::optional<LogRecord> record = TRY(reader.next())) {
    if (record->line.kind == "job") continue;  // the report shows its calls
    std::string text = picked_text(record->text, row_members());
    std::string run(record->line.run);
    if (record->line.kind == "intent") {
      open.insert_or_assign(std::move(run), std::move(text));
      continue;
    }
    const auto asked = open.extract(run);
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) continue;
    rows.add(json, record->text, request_of(asked.empty() ? json : Json::parse(asked.mapped(), nullptr, false)));
  }
  for (const auto& [run, intent] : open) {
    Json json = Json::parse(intent, nullptr, false);
    if (!json.is_object()) continue;
    json["kind"] = "open";
    rows.add(json, intent, request_of(json));
  }
  return {};
}

std::string csp_hash(std::string_view text) {
  Sha256 hasher;
  hasher.update(text);
  const Sha256Digest digest = std::move(hasher).digest();
  return fmt::format("'sha256-{}'", base64(std::string(digest.begin(), digest.end())));
}

}  // namespace

Result<ReportPage> report_page(const LogDirectory& directory) {
  Rows rows;
  TRY(collect(directory, rows));
  const std::string about = Rows::script_text({{"made", time_text(std::chrono::system_clock::now())},
                                               {"directory", printable(directory.path().native())},
                                               {"calls", rows.size()},
                                               {"left_out", rows.left_out()}});
  ReportPage page{.calls = rows.size(), .left_out = rows.left_out()};
  page.html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; style-src {}; "
      "base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>sallyport audit</title>\n<style>{}</style></head>\n",
      csp_hash(report_script()), csp_hash(report_style()), report_style());
  page.html += report_body();
  page.html += "<script type=\"application/json\" id=\"about\">" + about + "</script>\n";
  page.html += "<script type=\"application/json\" id=\"data\">" + rows.data() + "</script>\n";
  page.html += "<script>" + std::string(report_script()) + "</script>\n</body></html>\n";
  return page;
}

}  // namespace sallyport::audit
