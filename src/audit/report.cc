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
#include "core/json/json.h"
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
  return printable(value.is_string() ? value.get<std::string>() : json_dump(value));
}

std::string joined(const Json& words) {
  std::string text;
  if (!words.is_array()) return text;
  for (const Json& word : words) text += (text.empty() ? "" : " ") + plain(word);
  return text;
}

struct Request {
  std::string command;
  std::string commit;
};

// In the order of `columns` in report_template.cc.
class Rows {
 public:
  void add(const Json& record, const Request& request) {
    const Json outcome = record.value("outcome", Json::object());
    const std::string kind = record.value("kind", "");
    const Json receipt = record.value("receipt", Json::object());
    Json denied = Json::array();
    for (const Json& denial : record.value("denials", Json::array())) {
      if (!denial.is_object()) continue;
      denied.push_back(
          {plain(denial.value("host", Json(""))), denial.value("port", 0), plain(denial.value("reason", Json("")))});
    }
    const Json error = record.value("error", Json::object());
    const std::string said =
        error.empty() ? plain(outcome.value("evidence", Json::object())) : plain(error.value("message", Json("")));
    push({record.value("seq", std::uint64_t{0}), record.value("time", ""),
          names_.number_of(outcome.empty() ? kind : outcome.value("outcome", "unknown")),
          names_.number_of(plain(record.value("tool", Json("")))), record.value("duration_ms", 0.0),
          names_.number_of(plain(record.value("repo", Json("")))), request.command, record.value("run", ""),
          names_.number_of(plain(record.value("host", Json("")))), std::move(denied), names_.number_of(said),
          names_.number_of(receipt_text(receipt)), request.commit, receipt.value("plan_digest", ""),
          record.value("hash", "")});
  }

  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  [[nodiscard]] std::string data() const {
    std::string text = R"({"names":)" + script_text(names_.all()) + R"(,"rows":[)";
    for (std::size_t i = 0; i < rows_.size(); ++i) text += (i == 0 ? "" : ",\n") + rows_[i];
    return text + "]}";
  }

  // JSON that can stand in a script element: no end tag, no comment, no line separator that a parser knows and JSON does not.
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
  static std::string receipt_text(const Json& receipt) {
    if (receipt.empty()) return {};
    std::string text = fmt::format("jail: {}\n", plain(receipt.value("jail", Json(""))));
    const Json binary = receipt.value("binary", Json::object());
    if (binary.is_object()) {
      text += fmt::format("binary: {}\nsha256: {}\n", plain(binary.value("path", Json(""))),
                          plain(binary.value("sha256", binary.value("digest", Json("")))));
    }
    text += fmt::format("policy: {}\n", plain(receipt.value("policy_digest", Json(""))));
    for (const Json& guarantee : receipt.value("guarantees", Json::array())) {
      if (!guarantee.is_object()) continue;
      text += fmt::format("{} ({})\n", plain(guarantee.value("name", Json(""))),
                          plain(guarantee.value("mechanism", Json(""))));
    }
    return text;
  }

  void push(Json row) {
    rows_.push_back(script_text(row));
    if (rows_.size() <= kMostCalls) return;
    rows_.pop_front();
    ++left_out_;
  }

  Names names_;
  std::deque<std::string> rows_;
  std::uint64_t left_out_ = 0;
};

Request request_of(const Json& record) {
  constexpr std::size_t kLongestCommand = 400;
  const Json request = record.value("request", Json::object());
  Request out{.command = joined(request.value("argv", Json::array())), .commit = {}};
  if (out.command.size() > kLongestCommand) out.command = printable(out.command.substr(0, kLongestCommand)) + " ...";
  if (const Json commit = request.value("commit", Json()); commit.is_string()) out.commit = commit.get<std::string>();
  return out;
}

Status collect(const LogDirectory& directory, Rows& rows) {
  std::map<std::string, std::pair<Request, std::string>> open;  // by run: what was asked for, and the whole record
  LogReader reader = TRY(LogReader::open(directory));
  while (const std::optional<LogRecord> record = TRY(reader.next())) {
    const Json json = Json::parse(record->text, nullptr, false);
    if (!json.is_object()) continue;
    const std::string run(record->line.run);
    if (record->line.kind == "intent") {
      open[run] = {request_of(json), std::string(record->text)};
      continue;
    }
    const auto asked = open.find(run);
    rows.add(json, asked == open.end() ? request_of(json) : asked->second.first);
    if (asked != open.end()) open.erase(asked);
  }
  for (const auto& [run, asked] : open) {
    Json json = Json::parse(asked.second, nullptr, false);
    json["kind"] = "open";
    rows.add(json, asked.first);
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
