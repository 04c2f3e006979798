// For tests only: a log of its own, and records that need no gate.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "audit/append_log.h"
#include "audit/members.h"
#include "audit/verify.h"
#include "os/test_dir.h"

namespace sallyport::audit {

[[nodiscard]] inline std::string test_members(std::uint64_t number, std::string_view kind = "result",
                                              std::size_t padding = 0) {
  return fmt::format(R"({{"time":"2026-01-01T00:00:00.{:06}Z","kind":"{}","run":"{:032x}","pad":"{}"}})",
                     number % 1'000'000, kind, number, std::string(padding, 'x'));
}

class LogTest : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path place() const { return dir_ / "audit"; }
  [[nodiscard]] std::unique_ptr<AppendLog> open(ByteCount rotate_at = mebibytes(64),
                                                std::string boot = boot_id()) const {
    Result<std::unique_ptr<AppendLog>> log = AppendLog::open(place(), rotate_at, std::move(boot));
    if (!log) ADD_FAILURE() << log.error().message;
    return log ? *std::move(log) : nullptr;
  }
  void fill(std::uint64_t records, ByteCount rotate_at = mebibytes(64)) const {
    const std::unique_ptr<AppendLog> log = open(rotate_at);
    for (std::uint64_t i = 1; i <= records; ++i) ASSERT_TRUE(log->append(test_members(i)));
    ASSERT_TRUE(log->sync(records));
  }
  [[nodiscard]] Verification verify(VerifyOptions options = {}) const {
    const Result<LogDirectory> directory = LogDirectory::open_for_reading(place());
    if (!directory) return {.problem = Problem{.why = directory.error().message}};
    Result<Verification> found = verify_log(*directory, std::move(options));
    return found ? *std::move(found) : Verification{.problem = Problem{.why = found.error().message}};
  }
  [[nodiscard]] static std::string read(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  static void write(const std::filesystem::path& file, std::string_view bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] std::filesystem::path first_file() const { return place() / segment_name(1); }

  TestDir dir_;
};

[[nodiscard]] inline std::string why(const Verification& found) {
  return found.problem ? fmt::format("{}:{} record {}: {}", found.problem->file, found.problem->line,
                                     found.problem->seq, found.problem->why)
                       : std::string();
}

}  // namespace sallyport::audit
