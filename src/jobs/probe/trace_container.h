// The repo's Dockerfile, built offline by the gate's hardened docker, and what it starts, traced inside: no network, no
// capability, no new privileges, all forced by the gate. Nothing of it stays with the daemon.
#pragma once

#include <string>
#include <variant>

#include "jobs/probe/traced_run.h"
#include "jobs/report/outcome.h"

namespace sallyport::jobs {

// There is another way than a container.
struct NoContainer {
  std::string why{};
};

[[nodiscard]] std::variant<TracedRun, ScannerOutcome, NoContainer> trace_in_container(const JobContext& context);

// Entrypoint and Cmd of `docker image inspect --format '{{json .Config}}'`: what the image starts. Pure.
[[nodiscard]] std::vector<std::string> started_by_image(std::string_view config_json);

}  // namespace sallyport::jobs
