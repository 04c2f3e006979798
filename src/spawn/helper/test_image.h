// For tests only: a launch image as the helper sees it, and what it may be made of.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <span>
#include <string>
#include <vector>

#include "os/memfd.h"
#include "spawn/helper/run.h"
#include "spawn/wire/launch_spec.h"

namespace sallyport::spawn {

// As the helper does it: from a descriptor, into a mapping of its own.
class Mapped {
 public:
  explicit Mapped(const std::string& bytes) : size_(bytes.size()) {
    const Result<UniqueFd> fd = sealed_memfd("image", bytes);
    result_ = fd ? helper::map_image(run_, fd->get()) : -1;
  }
  ~Mapped() {
    if (run_.image != nullptr) ::munmap(run_.image, size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  [[nodiscard]] bool accepted() const { return result_ == 0; }
  [[nodiscard]] const wire::Image& image() const { return *run_.image; }
  [[nodiscard]] std::string text(std::uint64_t at) const { return run_.at(at); }
  [[nodiscard]] std::string bytes(std::uint64_t at, std::size_t size) const { return {run_.at(at), size}; }
  template <class T>
  [[nodiscard]] std::span<const T> array(std::uint32_t at, std::uint32_t count) const {
    return {reinterpret_cast<const T*>(run_.at(at)), count};
  }
  // Pointers by now, and a null behind the last.
  [[nodiscard]] std::vector<std::string> pointers(std::uint32_t at, std::uint32_t count) const {
    const auto slots = array<const char*>(at, count + 1);
    EXPECT_EQ(slots.back(), nullptr);
    return {slots.begin(), slots.end() - 1};
  }
  [[nodiscard]] std::vector<std::string> texts(std::uint32_t at, std::uint32_t count) const {
    std::vector<std::string> all;
    for (const std::uint64_t offset : array<std::uint64_t>(at, count)) all.push_back(text(offset));
    return all;
  }

 private:
  std::size_t size_;
  helper::Run run_{};
  long result_ = -1;
};

inline LaunchSpec jailed_spec() {
  LaunchSpec spec;
  spec.argv = {"git", "", "log\nx"};
  spec.env = {"A=1", "HOME=/tmp/home"};
  spec.limits = {{.resource = 4, .soft = 1, .hard = 2}};
  spec.place = JailPlace{
      .root_ops = {{.kind = wire::OpKind::kDirectory, .target = "usr", .mode = 0755},
                   {.kind = wire::OpKind::kBind,
                    .target = "repo",
                    .source = "/home/me/repo",
                    .flags = wire::kOpReadOnly,
                    .identity = FileIdentity{.device = 7, .inode = 9}},
                   {.kind = wire::OpKind::kFile, .target = "etc/x", .content = std::string("a\0b", 3), .mode = 0444}},
      .cwd = "/repo/sub",
      .exe = {.path = "/usr/bin/git", .device = 0x0801, .inode = 5, .size = 6, .mtime_ns = 7},
      .landlock_writable = {"/tmp", "/repo"},
      .seccomp = std::string(16, 'f'),
      .allow_speculation = true};
  spec.network = {.messages = {{.protocol = 12, .bytes = std::string("m\0n", 3), .flag_when_done = 4, .keep = true},
                               {.protocol = 13, .required = false, .only_with = 5, .not_with = 6}},
                  .sockets = {{.type = 1, .port = 443}, {.type = 2, .port = 53}},
                  .carried = {.from = 0x7f000002, .count = 3}};
  return spec;
}

}  // namespace sallyport::spawn
