// Whether a directory that was opened is still the one of that name.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <string>

namespace sallyport {

// `name` in `parent` is the directory of `fd`. A sweep may remove a directory before the process that made it has locked it.
[[nodiscard]] inline bool still_there(int parent, const std::string& name, int fd) {
  struct stat by_name{};
  struct stat by_fd{};
  return ::fstatat(parent, name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(fd, &by_fd) == 0 &&
         by_name.st_dev == by_fd.st_dev && by_name.st_ino == by_fd.st_ino;
}

}  // namespace sallyport
