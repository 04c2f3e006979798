// sallyport audit report: one page over the whole log, readable without us and without a network.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "audit/report.h"
#include "cli/audit_verbs.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/job.h"
#include "core/errors.h"
#include "core/json/json.h"

namespace sallyport::cli {
namespace {

namespace fs = std::filesystem;

struct ReportCommand {
  AuditPlace place{};
  std::optional<fs::path> output{};
};

int write_page(const ReportCommand& command, const Environment& environment) {
  const Result<audit::ReportPage> page = [&]() -> Result<audit::ReportPage> {
    const audit::LogDirectory directory = TRY(open_log(command.place, environment));
    return audit::report_page(directory);
  }();
  if (!page) return report(page.error(), command.place.format);
  const Status written = write_report(environment.current_directory / *command.output, page->html);
  if (!written) return report(written.error(), command.place.format);
  if (command.place.format == Format::kText) {
    say(fmt::format("{} calls written to {}{}", page->calls, command.output->native(),
                    page->left_out > 0 ? fmt::format("; {} older ones left out", page->left_out) : ""));
    return kExitOk;
  }
  return print_record({{"schema", "sallyport.audit_report/1"},
                       {"file", json_text(command.output->native())},
                       {"calls", page->calls},
                       {"left_out", page->left_out},
                       {"bytes", page->html.size()}},
                      kExitOk);
}

Status set_report_output(ReportCommand& command, std::string_view value) {
  command.output = fs::path(value);
  return {};
}

constexpr auto kReportOptions =
    std::to_array<Option<ReportCommand>>({{{"--dir", Arity::kValue}, set_place_directory<ReportCommand>},
                                          {{"--json", Arity::kFlag}, set_place_json<ReportCommand>},
                                          {{"-o", Arity::kValue}, set_report_output}});

}  // namespace

Result<Action> parse_audit_report(Args args, Format& format) {
  ReportCommand command;
  if (!TRY(read_options(args, kReportOptions, command, format))) return Action();
  if (!command.output)
    return fail(invalid_request("arguments", "-o is missing", "name the page's file with -o FILE.html"));
  return [command = std::move(command)](const Environment& environment) { return write_page(command, environment); };
}

}  // namespace sallyport::cli
