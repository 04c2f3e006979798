#include "spawn/owner/tool_input.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/errors.h"
#include "os/memfd.h"

namespace sallyport::spawn {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10U;  // what a pipe holds
constexpr const char* kName = "the given standard input";

Result<UniqueFd> keep(int borrowed) {
  UniqueFd copy(::fcntl(borrowed, F_DUPFD_CLOEXEC, 3));
  if (!copy) return fail(system_error("use", kName, errno));
  return copy;
}

Error unreadable(std::string_view why) {
  return invalid_request("stdin_source", why, "give a file, a pipe or a socket that is open for reading");
}

// A directory as stdin leads out of any jail, by openat(2) or /proc/self/fd/0/…; so does a descriptor that only names a
// file (O_PATH).
Result<struct stat> about(int fd) {
  struct stat info{};
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fstat(fd, &info) != 0) return fail(system_error("use", kName, errno));
  if (S_ISDIR(info.st_mode)) return fail(unreadable("it is a directory"));
  if ((flags & O_PATH) != 0) return fail(unreadable("it is not open for reading"));
  return info;
}

}  // namespace

Result<ToolInput> ToolInput::open(const StdinSource& source, NullDevice null_device) {
  ToolInput input;
  if (std::holds_alternative<NullStdin>(source)) {
    if (null_device == NullDevice::kOfTheJail) return input;
    input.given_ = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!input.given_) return fail(system_error("open", "/dev/null", errno));
    return input;
  }
  // Use a sealed file instead of a pipe: then the supervisor has nothing to copy.
  if (const auto* bytes = std::get_if<StdinBytes>(&source)) {
    input.given_ = TRY(sealed_memfd("sallyport-stdin", bytes->bytes));
    return input;
  }
  if (const auto* raw = std::get_if<RawStdinFd>(&source)) {
    input.given_ = TRY(keep(raw->fd));
    TRY(about(input.given_.get()));
    return input;
  }
  return copied(std::get<StdinFd>(source).fd);
}

Result<ToolInput> ToolInput::copied(int borrowed) {
  ToolInput input;
  input.source_ = TRY(keep(borrowed));
  const struct stat info = TRY(about(input.source_.get()));
  const int flags = ::fcntl(input.source_.get(), F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY) return fail(unreadable("it is not open for reading"));
  if (S_ISREG(info.st_mode) || S_ISBLK(info.st_mode)) input.kind_ = Kind::kFile;
  if (S_ISSOCK(info.st_mode)) input.kind_ = Kind::kSocket;
  Pipe pipe = TRY(make_pipe());
  TRY(set_nonblocking(pipe.write_end.get()));
  input.given_ = std::move(pipe.read_end);
  input.into_ = std::move(pipe.write_end);
  input.chunk_.resize(kChunk);
  return input;
}

void ToolInput::handed_over() {
  if (!into_) given_.reset();
}

pollfd ToolInput::awaited() const {
  if (!into_) return {-1, 0, 0};
  if (begin_ < end_) return {into_.get(), POLLOUT, 0};
  return {source_.get(), POLLIN, 0};
}

// The source's flags are shared with the caller, so O_NONBLOCK must not be set on it; instead each read passes
// MSG_DONTWAIT or RWF_NOWAIT. A regular file never blocks for long and is read without it (RWF_NOWAIT would report
// EAGAIN for what is on disk). A terminal does not support it, but poll(2) has just said that it has input.
ssize_t ToolInput::read_some() {
  if (kind_ == Kind::kFile) return ::read(source_.get(), chunk_.data(), chunk_.size());
  if (kind_ == Kind::kSocket) return ::recv(source_.get(), chunk_.data(), chunk_.size(), MSG_DONTWAIT);
  const iovec part{chunk_.data(), chunk_.size()};
  const ssize_t size = ::preadv2(source_.get(), &part, 1, -1, RWF_NOWAIT);
  if (size >= 0 || errno != EOPNOTSUPP) return size;
  return ::read(source_.get(), chunk_.data(), chunk_.size());
}

Status ToolInput::copy() {
  if (!into_) return {};
  if (begin_ == end_) {
    const ssize_t size = read_some();
    if (size < 0) {
      if (errno == EAGAIN || errno == EINTR) return {};
      return fail(system_error("read", kName, errno));
    }
    if (size == 0) {
      into_.reset();
      source_.reset();
      return {};
    }
    begin_ = 0;
    end_ = static_cast<std::size_t>(size);
  }
  const ssize_t written = ::write(into_.get(), chunk_.data() + begin_, end_ - begin_);
  if (written >= 0) {
    begin_ += static_cast<std::size_t>(written);
  } else if (errno != EAGAIN && errno != EINTR) {
    return fail(system_error("pass on", kName, errno));
  }
  return {};
}

}  // namespace sallyport::spawn
