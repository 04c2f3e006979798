#include "jobs/report/survey.h"

#include <algorithm>
#include <system_error>

#include "jobs/report/context.h"

namespace sallyport::jobs {

namespace fs = std::filesystem;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view extension(std::string_view path) {
  const std::string_view name = file_name(path);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : name.substr(dot + 1);
}

Result<Survey> survey(const fs::path& repo) {
  std::error_code error;
  if (!fs::is_directory(repo, error)) {
    return fail(bad_request("repo", "not a directory", "name the directory to be scanned"));
  }
  Survey found;
  std::vector<std::string> pending{""};
  while (!pending.empty()) {
    const std::string directory = std::move(pending.back());
    pending.pop_back();
    fs::directory_iterator entry(repo / directory, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string path = (directory.empty() ? "" : directory + "/") + entry->path().filename().native();
      std::error_code unknown;
      const fs::file_status status = entry->symlink_status(unknown);
      if (fs::is_directory(status)) {
        if (path != ".git/objects") pending.push_back(path);
      } else if (fs::is_regular_file(status)) {
        const std::uintmax_t size = entry->file_size(unknown);
        found.files.push_back({.path = path, .size = unknown ? 0 : size});
        if (found.files.size() > kMostFiles) {
          return fail(bad_request("repo", "more files than a scan takes", "scan a part of it"));
        }
      }
    }
    if (error) found.unread.push_back(directory);
  }
  std::ranges::sort(found.files, {}, &SurveyedFile::path);
  return found;
}

}  // namespace sallyport::jobs
