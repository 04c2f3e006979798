#include "spawn/owner/frame_link.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sallyport::spawn {
namespace {

constexpr std::size_t kHeader = sizeof(wire::FrameHeader);
constexpr std::size_t kAtOnce = std::size_t{16} << 10U;

bool not_now(int error) { return error == EAGAIN || error == EINTR; }

}  // namespace

FrameLink::FrameLink(UniqueFd socket) : socket_(std::move(socket)) {
  ::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);  // every call below asks for that, too
}

void FrameLink::send(wire::FrameKind kind, std::string_view bytes) {
  const wire::FrameHeader begin{.kind = kind, .size = static_cast<std::uint32_t>(bytes.size())};
  to_send_.append(reinterpret_cast<const char*>(&begin), sizeof begin);
  to_send_.append(bytes);
  flush();
}

void FrameLink::flush() {
  while (!to_send_.empty()) {
    const ssize_t sent = ::send(socket_.get(), to_send_.data(), to_send_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && !not_now(errno)) to_send_.clear();  // the other end is gone; receive() reports that
    if (sent < 0) return;
    to_send_.erase(0, static_cast<std::size_t>(sent));
  }
}

bool FrameLink::receive() {
  if (received_.size() >= kHeader + wire::kLargestFrame) return true;  // the first frame waits for forget()
  std::array<char, kAtOnce> chunk;
  const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (got < 0 && not_now(errno)) return true;
  if (got <= 0) return false;
  received_.append(chunk.data(), static_cast<std::size_t>(got));
  return received_.size() < kHeader || header().size <= wire::kLargestFrame;
}

wire::FrameHeader FrameLink::header() const {
  wire::FrameHeader header{};
  std::memcpy(&header, received_.data(), sizeof header);
  return header;
}

bool FrameLink::has_frame() const {
  if (received_.size() < kHeader) return false;
  const std::size_t size = header().size;
  return size <= wire::kLargestFrame && received_.size() >= kHeader + size;
}

std::string_view FrameLink::bytes() const { return std::string_view(received_).substr(kHeader, header().size); }

void FrameLink::forget() { received_.erase(0, kHeader + header().size); }

}  // namespace sallyport::spawn
