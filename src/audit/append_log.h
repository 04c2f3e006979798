// The end of a log, where records are appended by any number of threads and processes.
//
// Under `lock` (flock) a writer finds the end (head.h), writes one line there and moves the written slot. If a writer
// died in between, the next writer accepts a whole record, and sets a partial one aside and names it in a record of its
// own. sync() waits until a record is on the disk: one waiting process syncs for all, under `sync.lock`, and moves the
// durable slot.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "audit/head.h"
#include "audit/log_directory.h"
#include "audit/scan.h"
#include "sallyport/audit.h"

namespace sallyport::audit {

class AppendLog {
 public:
  // `boot` differs from the kernel's only in tests of power cuts.
  [[nodiscard]] static Result<std::unique_ptr<AppendLog>> open(const std::filesystem::path& path, ByteCount rotate_at,
                                                               std::string boot = boot_id());

  // `members`: the record's JSON object from "time" on (record_line.h). Returns its number.
  [[nodiscard]] Result<std::uint64_t> append(std::string_view members);
  // Waits until record `seq`, which this object appended, is on the disk.
  [[nodiscard]] Status sync(std::uint64_t seq);
  // AuditFailed(ENOSPC) when a call's records might not fit any more.
  [[nodiscard]] Status check_room() const;
  [[nodiscard]] const LogDirectory& directory() const { return directory_; }

 private:
  AppendLog(LogDirectory directory, std::uint64_t rotate_at, std::string boot)
      : directory_(std::move(directory)), rotate_at_(rotate_at), boot_(std::move(boot)) {}

  // All under mutex_ and `lock`.
  [[nodiscard]] Status start_if_new();
  [[nodiscard]] Status find_end();
  [[nodiscard]] Status take_over(Position from);
  [[nodiscard]] Status open_segment(std::uint64_t segment);
  [[nodiscard]] Status write_record(std::string_view members);
  [[nodiscard]] Status rotate();
  [[nodiscard]] Status make_durable();

  // Under `sync.lock`: everything up to `target` in the file `segment` reaches the disk.
  [[nodiscard]] Status sync_all(const UniqueFd& segment, Position target);

  LogDirectory directory_;
  const std::uint64_t rotate_at_;
  const std::string boot_;
  UniqueFd lock_;
  UniqueFd sync_lock_;
  UniqueFd head_;

  std::mutex mutex_;
  std::shared_ptr<const UniqueFd> segment_;
  Position end_{};

  std::mutex sync_mutex_;
  std::condition_variable synced_;
  bool somebody_syncs_ = false;
  std::uint64_t durable_ = 0;
};

}  // namespace sallyport::audit
