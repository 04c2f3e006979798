// One walk over the scanned repo: it lists the files, so that we can check a scanner's claim to have scanned them, and
// which of them need a copy to be scanned. Names are bytes. No symlink is followed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

namespace sallyport::jobs {

struct SurveyedFile {
  std::string path{};  // relative to the repo, without "./"
  std::uint64_t size = 0;
};

struct Survey {
  std::vector<SurveyedFile> files{};  // regular files, sorted by path; .git/objects left out
  std::vector<std::string> unread{};  // directories that could not be listed
};

inline constexpr std::size_t kMostFiles = 2'000'000;

// InvalidRequest when the place is no directory, or holds more than kMostFiles files.
[[nodiscard]] Result<Survey> survey(const std::filesystem::path& repo);

// The last component, and what follows its last dot ("" when there is none).
[[nodiscard]] std::string_view file_name(std::string_view path);
[[nodiscard]] std::string_view extension(std::string_view path);

}  // namespace sallyport::jobs
