// The record of a job's end: the result of its calls, which are recorded before it under its id.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "audit/cleaner.h"
#include "audit/members.h"
#include "core/errors.h"
#include "core/json/json.h"

namespace sallyport {

std::string_view name_of(JobResult result) {
  constexpr std::array<std::string_view, 5> kNames = {"passed", "warned", "failed", "incomplete", "skipped"};
  return kNames.at(static_cast<std::size_t>(result));
}

namespace audit {

namespace {

constexpr std::size_t kMostParts = 64;

// Like Cleaner::tree, but cleans only texts: it never shortens the fields by which readers decide, however long the
// texts before them are.
template <class Items, class Make>
Json list_of(const Items& items, const Make& make) {
  Json list = Json::array();
  for (const auto& item : items) {
    if (list.size() == kMostParts) break;
    list.push_back(make(item));
  }
  if (items.size() > list.size()) list.push_back(fmt::format("[+{} items]", items.size() - list.size()));
  return list;
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Status check_job(const AuditJob& job) {
  const bool digests =
      std::ranges::all_of(job.outputs, [](const AuditJobFile& file) { return is_hex(file.sha256, 64); });
  const bool commit = !job.commit || is_hex(*job.commit, 40) || is_hex(*job.commit, 64);
  if (is_hex(job.id, 32) && digests && commit) return {};
  return fail(invalid_request("job", "its id, a digest or its commit is no number in hex", "as GateConfig::job"));
}

std::string job_members(const Writer& writer, const AuditJob& job) {
  Cleaner clean({});
  Json json = {{"time", time_text(std::chrono::system_clock::now())},
               {"kind", "job"},
               {"run", job.id},
               {"host", clean.text(writer.host)},
               {"pid", ::getpid()},
               {"uid", ::geteuid()},
               {"label", clean.text(writer.label)},
               {"repo", clean.text(job.repo.native())},
               {"name", clean.text(job.name)},
               {"result", name_of(job.result)},
               {"verdict", clean.text(job.verdict)},
               {"commit", job.commit ? Json(*job.commit) : Json(nullptr)},
               {"settings", Json::object()}};
  for (const auto& [name, value] : job.settings) json["settings"][name] = clean.text(value);
  json["outputs"] = list_of(job.outputs, [&](const AuditJobFile& file) {
    return Json{{"name", clean.text(file.name)}, {"sha256", file.sha256}};
  });
  json["steps"] = list_of(job.steps, [&](const AuditJobStep& step) {
    return Json{{"name", clean.text(step.name)}, {"result", name_of(step.result)}, {"why", clean.text(step.why)}};
  });
  return record_text(json);
}

}  // namespace audit
}  // namespace sallyport
