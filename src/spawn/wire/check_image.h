// Checks that a launch image is consistent: every offset lies inside it, every string ends inside it. The owner makes
// images and seals them, so this catches our own mistakes and a truncated file, before the helper follows a pointer out
// of its mapping. Without libc.
#pragma once

#include "spawn/wire/wire.h"

namespace sallyport::spawn::wire {

class ImageCheck {
 public:
  // `image` has `size` readable bytes, at least the header.
  ImageCheck(const Image& image, std::uint64_t size)
      : image_(image), bytes_(reinterpret_cast<const char*>(&image)), size_(size) {}

  [[nodiscard]] bool has_header() const {
    return image_.magic == kMagic && image_.size == size_ && size_ > sizeof(Image) && size_ <= kLargestImage;
  }

  // An array of string offsets that ends with a 0.
  [[nodiscard]] bool has_strings(std::uint32_t at, std::uint32_t count) const {
    if (!has_array<std::uint64_t>(at, std::uint64_t{count} + 1)) return false;
    const auto* offsets = array<std::uint64_t>(at);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (offsets[i] < sizeof(Image) || !has_byte(offsets[i])) return false;
    }
    return offsets[count] == 0;
  }

  // Checks all but argv and env. Call it after their offsets have become pointers: that changes the bytes there, and
  // hostile arrays could overlap them.
  [[nodiscard]] bool has_the_rest() const {
    const bool has_writable = image_.writable_count == 0 || has_strings(image_.writable_at, image_.writable_count);
    return bytes_[size_ - 1] == '\0' && has_writable && has_ops() && has_network() &&
           has_array<ResourceLimit>(image_.limits_at, image_.limit_count) && has_seccomp() && has_byte(image_.cwd) &&
           has_byte(image_.exec_path) && has_network_word() && image_.cgroup_count <= kMaxCgroups &&
           image_.passed_count <= kMaxPassedFds;
  }

 private:
  // The last byte is 0, so a string that starts inside ends inside.
  [[nodiscard]] bool has_byte(std::uint64_t at) const { return at < size_; }
  [[nodiscard]] bool has_bytes(std::uint64_t at, std::uint64_t count) const {
    return at <= size_ && count <= size_ - at;
  }

  template <class T>
  [[nodiscard]] bool has_array(std::uint64_t at, std::uint64_t count) const {
    return at % alignof(T) == 0 && at >= (count == 0 ? 0 : sizeof(Image)) && has_bytes(at, count * sizeof(T));
  }
  template <class T>
  [[nodiscard]] const T* array(std::uint64_t at) const {
    return reinterpret_cast<const T*>(bytes_ + at);
  }

  [[nodiscard]] bool has_ops() const {
    if (!has_array<Op>(image_.ops_at, image_.op_count)) return false;
    const auto* ops = array<Op>(image_.ops_at);
    for (std::uint32_t i = 0; i < image_.op_count; ++i) {
      if (!has_byte(ops[i].source) || !has_byte(ops[i].target) || !has_byte(ops[i].content)) return false;
      if (!has_bytes(ops[i].content, ops[i].content_size)) return false;
    }
    return true;
  }

  [[nodiscard]] bool has_network_word() const {
    return has_byte(image_.network_word) && (image_.network_word_at == 0 || image_.network_word_at < image_.argv_count);
  }

  [[nodiscard]] bool has_network() const {
    if (!has_array<NetMessage>(image_.net_messages_at, image_.net_message_count)) return false;
    const auto* messages = array<NetMessage>(image_.net_messages_at);
    for (std::uint32_t i = 0; i < image_.net_message_count; ++i) {
      if (!has_bytes(messages[i].bytes, messages[i].size)) return false;
    }
    return image_.net_socket_count <= kMaxNetSockets &&
           has_array<NetSocket>(image_.net_sockets_at, image_.net_socket_count);
  }

  [[nodiscard]] bool has_seccomp() const {
    constexpr std::uint32_t kLongestFilter = 4096;  // BPF_MAXINSNS
    constexpr std::uint64_t kInstruction = 8;       // sizeof(struct sock_filter)
    return image_.seccomp_count <= kLongestFilter && has_bytes(image_.seccomp_at, kInstruction * image_.seccomp_count);
  }

  static constexpr std::uint64_t kLargestImage = UINT32_MAX;  // offsets have 32 bits

  const Image& image_;
  const char* bytes_;
  std::uint64_t size_;
};

}  // namespace sallyport::spawn::wire
