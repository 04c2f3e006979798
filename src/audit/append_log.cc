#include "audit/append_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "audit/members.h"
#include "core/audit/record_line.h"
#include "core/errors.h"
#include "os/file.h"

namespace sallyport::audit {
namespace {

constexpr std::string_view kLook = "a check of the whole log says where; move the directory away to begin a new log";
// More than the largest record of a call and what a file system keeps for itself.
constexpr std::uint64_t kRoom = 4 * kLongestRecord;

// flock(2), not fcntl(2): the kernel drops it when the holder dies, and threads of one process exclude each other by mutex.
class FileLock {
 public:
  [[nodiscard]] static Result<FileLock> take(int fd) {
    while (::flock(fd, LOCK_EX) != 0) {
      if (errno != EINTR) return fail(system_error("lock", "the audit log", errno));
    }
    return FileLock(fd);
  }
  FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock() {
    if (fd_ >= 0) static_cast<void>(::flock(fd_, LOCK_UN));
  }

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_;
};

Result<std::uint64_t> size_of(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return fail(system_error("stat", "the audit log", errno));
  return static_cast<std::uint64_t>(info.st_size);
}

// All or nothing: on failure it cuts off what it wrote.
Status write_line(const LogDirectory& directory, int fd, std::uint64_t offset, std::string_view line) {
  if (const int problem = past_file_limit(offset + line.size())) return fail(directory.failed(problem, {}));
  std::uint64_t at = offset;
  while (!line.empty()) {
    const ssize_t put = ::pwrite(fd, line.data(), line.size(), static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int problem = errno;
      // If this fails too, the next writer finds a torn tail and sets it aside.
      [[maybe_unused]] const int cut = ::ftruncate(fd, static_cast<off_t>(offset));
      return fail(directory.failed(problem, {}));
    }
    line.remove_prefix(static_cast<std::size_t>(put));
    at += static_cast<std::uint64_t>(put);
  }
  return {};
}

// Errors of single system calls become errors of the log: callers handle one kind.
Status of_log(const LogDirectory& directory, Status status) {
  if (status || status.error().as<AuditFailed>() != nullptr) return status;
  const auto* const system = status.error().as<SystemError>();
  return fail(directory.failed(system == nullptr ? 0 : system->error_number, status.error().message));
}

}  // namespace

Result<std::unique_ptr<AppendLog>> AppendLog::open(const std::filesystem::path& path, ByteCount rotate_at,
                                                   std::string boot) {
  LogDirectory directory = TRY(LogDirectory::open_for_writing(path));
  auto log = std::unique_ptr<AppendLog>(new AppendLog(std::move(directory), count(rotate_at), std::move(boot)));
  const Status opened = [&]() -> Status {
    log->lock_ = TRY(log->directory_.open_file("lock", O_RDWR | O_CREAT));
    log->sync_lock_ = TRY(log->directory_.open_file("sync.lock", O_RDWR | O_CREAT));
    const FileLock lock = TRY(FileLock::take(log->lock_.get()));
    TRY(log->start_if_new());
    return log->find_end();
  }();
  TRY(of_log(log->directory_, opened));
  return log;
}

// We make the head last: a log without one has no record yet, or someone has removed the head.
Status AppendLog::start_if_new() {
  head_ = UniqueFd(::openat(directory_.fd(), "head", O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (head_) return {};
  if (errno != ENOENT) return fail(directory_.failed(errno, {}));
  const UniqueFd first = TRY(directory_.open_file(segment_name(1), O_RDWR | O_CREAT));
  const std::vector<std::uint64_t> segments = TRY(directory_.segments());
  if (segments.size() != 1 || TRY(size_of(first.get())) != 0) {
    return fail(directory_.failed(ENOENT, "its file 'head' is gone", kLook));
  }
  UniqueFd fresh = TRY(directory_.open_file("head.new", O_RDWR | O_CREAT | O_TRUNC));
  TRY(write_slot(fresh.get(), Slot::kWritten, {.boot = boot_}));
  TRY(write_slot(fresh.get(), Slot::kDurable, {.boot = boot_}));
  if (::fsync(fresh.get()) != 0 || ::renameat(directory_.fd(), "head.new", directory_.fd(), "head") != 0) {
    return fail(directory_.failed(errno, {}));
  }
  head_ = std::move(fresh);
  return directory_.sync();
}

Status AppendLog::open_segment(std::uint64_t segment) {
  if (segment_ && end_.segment == segment) return {};
  Result<UniqueFd> fd = directory_.open_file(segment_name(segment), O_RDWR);
  if (!fd) {
    return fail(directory_.failed(ENOENT, fmt::format("its file {} is gone", segment_name(segment)), kLook));
  }
  segment_ = std::make_shared<const UniqueFd>(*std::move(fd));
  return {};
}

Status AppendLog::find_end() {
  const std::optional<HeadSlot> written = read_slot(head_.get(), Slot::kWritten);
  const bool this_boot = written && written->boot == boot_;
  if (this_boot) {
    TRY(open_segment(written->at.segment));
    end_ = written->at;
    const std::uint64_t size = TRY(size_of(segment_->get()));
    if (size == end_.offset) return {};
    if (size > end_.offset) return take_over(end_);
    return fail(directory_.failed(
        EILSEQ, fmt::format("{} bytes of its end are gone, from record {} back", end_.offset - size, end_.seq), kLook));
  }
  const std::optional<HeadSlot> durable = read_slot(head_.get(), Slot::kDurable);
  // One power cut tore both slots: read every record again from the first.
  if (!durable) {
    TRY(open_segment(1));
    end_ = Position{};
    TRY(take_over(Position{}));
    TRY(write_record(rebuilt_members()));
    return make_durable();
  }
  TRY(open_segment(durable->at.segment));
  end_ = durable->at;
  if (TRY(size_of(segment_->get())) < end_.offset) {
    return fail(directory_.failed(EILSEQ, fmt::format("record {} was on the disk and is gone", end_.seq), kLook));
  }
  TRY(take_over(durable->at));
  return make_durable();
}

// Once per boot: makes durable whatever the power cut left.
Status AppendLog::make_durable() {
  if (::fdatasync(segment_->get()) != 0) return fail(directory_.failed(errno, {}));
  const FileLock lock = TRY(FileLock::take(sync_lock_.get()));
  return write_slot(head_.get(), Slot::kDurable, {.at = end_, .boot = boot_});
}

// Handles what a dead writer, or a power cut, left after a known position.
Status AppendLog::take_over(Position from) {
  const ScanEnd found = TRY(scan_from(directory_, std::move(from)));
  TRY(open_segment(found.last.segment));
  end_ = found.last;
  if (found.torn_bytes == 0) return write_slot(head_.get(), Slot::kWritten, {.at = end_, .boot = boot_});
  const TornTail torn = TRY(set_aside(directory_, segment_->get(), found));
  TRY(write_slot(head_.get(), Slot::kWritten, {.at = end_, .boot = boot_}));
  return write_record(recovery_members(torn));
}

Status AppendLog::rotate() {
  if (::fdatasync(segment_->get()) != 0) return fail(directory_.failed(errno, {}));
  // A file of that name can only be one that a dead writer had just made.
  UniqueFd next = TRY(directory_.open_file(segment_name(end_.seq + 1), O_RDWR | O_CREAT));
  if (TRY(size_of(next.get())) != 0) return fail(directory_.failed(EEXIST, "its next file is there already", kLook));
  TRY(directory_.sync());
  segment_ = std::make_shared<const UniqueFd>(std::move(next));
  end_.segment = end_.seq + 1;
  end_.offset = 0;
  const FileLock lock = TRY(FileLock::take(sync_lock_.get()));
  TRY(write_slot(head_.get(), Slot::kDurable, {.at = end_, .boot = boot_}));
  return write_slot(head_.get(), Slot::kWritten, {.at = end_, .boot = boot_});
}

Status AppendLog::write_record(std::string_view members) {
  if (end_.offset >= rotate_at_ && end_.offset > 0) TRY(rotate());
  const SealedLine sealed = seal_record(end_.seq + 1, end_.hash, members);
  if (sealed.line.size() > kLongestRecord) return fail(directory_.failed(EMSGSIZE, "the record is too long"));
  TRY(write_line(directory_, segment_->get(), end_.offset, sealed.line));
  end_.offset += sealed.line.size();
  end_.seq += 1;
  end_.hash = sealed.hash;
  return write_slot(head_.get(), Slot::kWritten, {.at = end_, .boot = boot_});
}

Result<std::uint64_t> AppendLog::append(std::string_view members) {
  const std::lock_guard guard(mutex_);
  const Status done = [&]() -> Status {
    const FileLock lock = TRY(FileLock::take(lock_.get()));
    TRY(find_end());
    return write_record(members);
  }();
  TRY(of_log(directory_, done));
  return end_.seq;
}

Status AppendLog::sync(std::uint64_t seq) {
  std::unique_lock waiting(sync_mutex_);
  while (durable_ < seq) {
    if (somebody_syncs_) {
      synced_.wait(waiting);
      continue;
    }
    somebody_syncs_ = true;
    waiting.unlock();
    std::shared_ptr<const UniqueFd> segment;
    Position target;
    {
      const std::lock_guard guard(mutex_);
      segment = segment_;
      target = end_;
    }
    const Status done = of_log(directory_, sync_all(*segment, target));
    waiting.lock();
    somebody_syncs_ = false;
    if (done) durable_ = target.seq;
    synced_.notify_all();
    if (!done) return done;
  }
  return {};
}

Status AppendLog::sync_all(const UniqueFd& segment, Position target) {
  const FileLock lock = TRY(FileLock::take(sync_lock_.get()));
  const std::optional<HeadSlot> durable = read_slot(head_.get(), Slot::kDurable);
  if (durable && durable->at.seq >= target.seq) return {};  // another process has synced it already
  const std::optional<HeadSlot> written = read_slot(head_.get(), Slot::kWritten);
  if (written && written->at.segment == target.segment && written->at.seq > target.seq) target = written->at;
  if (::fdatasync(segment.get()) != 0) return fail(directory_.failed(errno, {}));
  return write_slot(head_.get(), Slot::kDurable, {.at = target, .boot = boot_});
}

Status AppendLog::check_room() const {
  struct statvfs about{};
  if (::fstatvfs(directory_.fd(), &about) != 0) return fail(directory_.failed(errno, {}));
  if ((about.f_flag & ST_RDONLY) != 0) return fail(directory_.failed(EROFS, {}));
  if (std::uint64_t{about.f_bavail} * about.f_frsize >= kRoom) return {};
  return fail(directory_.failed(ENOSPC, {}, "make room there, or name another directory with `audit`"));
}

}  // namespace sallyport::audit
