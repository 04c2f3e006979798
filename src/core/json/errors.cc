#include <nlohmann/json.hpp>

#include "core/json/json.h"

namespace sallyport {
namespace {

// The fields of each alternative, so that a program need not read the message.
Json detail_json(const ErrorDetail& detail) {
  return std::visit(
      overloaded{
          [](const DisallowedSubprocessError& e) -> Json { return {{"tool", json_text(e.tool)}}; },
          [](const InvalidProbeName& e) -> Json { return {{"probe", json_text(e.probe)}}; },
          [](const InvalidRequest& e) -> Json { return {{"field", json_text(e.field)}}; },
          [](const PolicyError& e) -> Json {
            return {{"file", json_text(e.file)}, {"line", e.line}, {"column", e.column}};
          },
          [](const ToolMissingError& e) -> Json {
            return {{"tool", json_text(e.tool)}, {"install_hint", json_text(e.install_hint)}};
          },
          [](const UntrustedToolError& e) -> Json {
            return {{"tool", json_text(e.tool)}, {"path", json_text(e.path)}};
          },
          [](const ToolNotRunnable& e) -> Json { return {{"tool", json_text(e.tool)}, {"path", json_text(e.path)}}; },
          [](const ProbeTimeoutError& e) -> Json {
            return {{"tool", json_text(e.tool)}, {"elapsed_ms", e.elapsed.count()}};
          },
          [](const CancelledError& e) -> Json {
            return {{"tool", json_text(e.tool)}, {"elapsed_ms", e.elapsed.count()}};
          },
          [](const LimitExceededError& e) -> Json {
            return {{"tool", json_text(e.tool)}, {"outcome", name_of(e.limit)}};
          },
          [](const GuaranteeUnavailable& e) -> Json { return {{"guarantee", name_of(e.guarantee)}}; },
          [](const JailUnavailable& e) -> Json { return {{"jail", json_text(e.jail.name())}}; },
          [](const JailDied& e) -> Json {
            return {{"jail", json_text(e.jail.name())}, {"wait_status", e.wait_status}};
          },
          [](const SetupFailed& e) -> Json { return {{"stage", stage_name(e.stage)}, {"errno", e.error_number}}; },
          [](const AuditFailed& e) -> Json { return {{"log", json_text(e.log)}, {"errno", e.error_number}}; },
          [](const SystemError& e) -> Json {
            return {{"operation", json_text(e.operation)}, {"errno", e.error_number}};
          },
      },
      detail);
}

}  // namespace

Json json_of(const Error& error) {
  Json json = {{"kind", error_kind(error)},
               {"message", json_text(error.message)},
               {"hint", json_text(error.hint)},
               {"tool_may_have_started", error.tool_may_have_started}};
  json.update(detail_json(error.detail));
  return json;
}

Json error_record(const Error& error) { return {{"schema", "sallyport.error/1"}, {"error", json_of(error)}}; }

}  // namespace sallyport
