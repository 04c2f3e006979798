// Pure functions that parse each tool's output: findings, or why the text was not understood. Each accepts any bytes
// (fuzz/scanner_output). They ignore fields that are not needed; needed fields must be there.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/report/finding.h"

namespace sallyport::jobs {

struct Parsed {
  std::vector<Finding> findings{};
  std::vector<InventoryItem> inventory{};
};
template <class T>
using OrWhy = std::expected<T, std::string>;

// rg --json. `summary` proves that rg ended by itself.
[[nodiscard]] OrWhy<Parsed> parse_rg_curated(std::string_view json_lines);
// gitleaks --report-format json, not redacted: the secrets are hashed here and go no further.
[[nodiscard]] OrWhy<Parsed> parse_gitleaks(std::string_view json);
// How many bytes gitleaks reports as scanned; nullopt when it reports none.
[[nodiscard]] std::optional<std::uint64_t> gitleaks_scanned(std::string_view stderr_text);
// syft --output json, schema 16.
[[nodiscard]] OrWhy<Parsed> parse_syft(std::string_view json);
// grype --output json.
[[nodiscard]] OrWhy<Parsed> parse_grype(std::string_view json);
// semgrep --json.
struct SemgrepOutput {
  Parsed parsed{};
  std::size_t scanned = 0;
  std::vector<std::string> hidden{};  // files that an ignore file of the repo kept from being scanned
};
[[nodiscard]] OrWhy<SemgrepOutput> parse_semgrep(std::string_view json);
// index.scip: protobuf.
[[nodiscard]] OrWhy<Parsed> parse_scip(std::string_view bytes);
// lcov's .info, cobertura's XML, istanbul's coverage-final.json: one "coverage" item per file.
[[nodiscard]] OrWhy<Parsed> parse_lcov(std::string_view text);
[[nodiscard]] OrWhy<Parsed> parse_cobertura(std::string_view xml);
[[nodiscard]] OrWhy<Parsed> parse_istanbul(std::string_view json);

}  // namespace sallyport::jobs
