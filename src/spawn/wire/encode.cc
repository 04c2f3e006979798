// LaunchSpec -> launch image. Offset 0 is the header, so a string offset of 0 means "none".
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "spawn/wire/launch_spec.h"

namespace sallyport::spawn {
namespace {

// Reserved at once: growth by doubling would touch twice the memory.
constexpr std::size_t kUsualImage = std::size_t{12} << 10U;

class ImageWriter {
 public:
  ImageWriter() {
    bytes_.reserve(kUsualImage);
    bytes_.resize(sizeof(wire::Image));
  }

  std::uint32_t string(std::string_view text) {
    const auto at = static_cast<std::uint32_t>(bytes_.size());
    bytes_.append(text);
    bytes_.push_back('\0');
    return at;
  }

  template <class T>
  std::uint32_t array(std::span<const T> items) {
    bytes_.resize((bytes_.size() + 15) & ~std::size_t{15});
    const auto at = static_cast<std::uint32_t>(bytes_.size());
    bytes_.append(reinterpret_cast<const char*>(items.data()), items.size_bytes());
    return at;
  }

  // 64-bit offsets of each string, then a zero: what the helper turns into a NULL-terminated array of pointers.
  std::uint32_t strings(std::span<const std::string> texts) {
    std::vector<std::uint64_t> offsets;
    offsets.reserve(texts.size() + 1);
    for (const std::string& text : texts) offsets.push_back(string(text));
    offsets.push_back(0);
    return array<std::uint64_t>(offsets);
  }

  // The last byte is 0: see wire::ImageCheck.
  std::string finish(wire::Image header) && {
    bytes_.push_back('\0');
    header.magic = wire::kMagic;
    header.size = bytes_.size();
    std::memcpy(bytes_.data(), &header, sizeof header);
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

wire::Op encode_op(const RootOp& op, ImageWriter& writer) {
  wire::Op encoded{};
  encoded.kind = op.kind;
  encoded.flags = op.flags;
  encoded.source = writer.string(op.source);
  encoded.target = writer.string(op.target);
  encoded.content = writer.string(op.content);
  encoded.content_size = static_cast<std::uint32_t>(op.content.size());
  encoded.mode = op.mode;
  encoded.tree_fd = -1;
  if (op.identity) {
    encoded.device = op.identity->device;
    encoded.inode = op.identity->inode;
  }
  return encoded;
}

void encode_network(const NetworkSpec& network, wire::Image& header, ImageWriter& writer) {
  std::vector<wire::NetMessage> messages;
  for (const NetworkSpec::Message& message : network.messages) {
    messages.push_back({.protocol = message.protocol,
                        .bytes = writer.array<char>(message.bytes),
                        .size = static_cast<std::uint32_t>(message.bytes.size()),
                        .required = message.required ? 1U : 0U,
                        .flag_when_done = message.flag_when_done,
                        .only_with = message.only_with,
                        .not_with = message.not_with,
                        .keep = message.keep ? 1U : 0U});
  }
  header.net_messages_at = writer.array<wire::NetMessage>(messages);
  header.net_message_count = static_cast<std::uint32_t>(messages.size());
  std::vector<wire::NetSocket> sockets;
  for (const NetworkSpec::Socket& socket : network.sockets) sockets.push_back({socket.type, socket.port});
  header.net_sockets_at = writer.array<wire::NetSocket>(sockets);
  header.net_socket_count = static_cast<std::uint32_t>(sockets.size());
  header.carried_from = network.carried.from;
  header.carried_count = network.carried.count;
}

void encode_locks(const std::string& seccomp, const std::vector<std::string>& writable, wire::Image& header,
                  ImageWriter& writer) {
  header.writable_at = writer.strings(writable);
  header.writable_count = static_cast<std::uint32_t>(writable.size());
  header.seccomp_at = writer.array<char>(seccomp);
  header.seccomp_count = static_cast<std::uint32_t>(seccomp.size() / 8);  // sizeof(struct sock_filter)
}

std::string joined(const std::vector<std::string>& places) {
  std::string text;
  for (const std::string& place : places) text += (text.empty() ? "" : ":") + place;
  return text;
}

void encode_jail(const JailPlace& jail, std::size_t built_ops, wire::Image& header, ImageWriter& writer) {
  header.flags |= wire::kJailed | (jail.wrapped ? wire::kWrapped : 0U) | (jail.in_runtime ? wire::kInRuntime : 0U) |
                  (jail.in_engine ? wire::kEngine : 0U) | (jail.exe_places.empty() ? 0U : wire::kExecSearched) |
                  (jail.allow_speculation ? wire::kAllowSpeculation : 0U);
  if (jail.guest) {
    header.flags |= wire::kInGuest | wire::kWrapped | (jail.guest->network ? wire::kGuestNetwork : 0U) |
                    (jail.guest->writes ? wire::kGuestWrites : 0U);
    header.guest_memory = jail.guest->memory;
    header.guest_pids = jail.guest->pids;
  }
  std::vector<wire::Op> ops;
  ops.reserve(jail.root_ops.size());
  for (const RootOp& op : std::span(jail.root_ops).subspan(built_ops)) ops.push_back(encode_op(op, writer));
  header.ops_at = writer.array<wire::Op>(ops);
  header.op_count = static_cast<std::uint32_t>(ops.size());
  encode_locks(jail.seccomp, jail.landlock_writable, header, writer);
  header.cwd = writer.string(jail.cwd);
  header.exec_path = writer.string(jail.exe_places.empty() ? jail.exe.path : joined(jail.exe_places));
  header.exec_device = (std::uint64_t{major(jail.exe.device)} << 32U) | minor(jail.exe.device);
  header.exec_inode = jail.exe.inode;
  header.exec_size = jail.exe.size;
  header.exec_mtime_ns = jail.exe.mtime_ns;
}

}  // namespace

bool JailShape::fits(const LaunchSpec& spec) const {
  const auto* jail = std::get_if<JailPlace>(&spec.place);
  if (jail == nullptr || jail->wrapped) return false;
  if (whole) {
    return !spec.run_as && jail->root_ops == root_ops && spec.network == network &&
           jail->landlock_writable == landlock_writable && jail->seccomp == seccomp &&
           jail->allow_speculation == allow_speculation && spec.cgroup_procs_fds.empty() != joins_cgroups;
  }
  // A run without a network of its own would get the jail's.
  if (!network.sockets.empty() && spec.network.sockets.empty()) return false;
  return jail->root_ops.size() >= root_ops.size() &&
         std::equal(root_ops.begin(), root_ops.end(), jail->root_ops.begin());
}

std::string encode(const JailShape& shape) {
  LaunchSpec spec;
  spec.place = JailPlace{.root_ops = shape.root_ops,
                         .landlock_writable = shape.landlock_writable,
                         .seccomp = shape.seccomp,
                         .allow_speculation = shape.allow_speculation};
  spec.network = shape.network;
  spec.fail_at_for_tests = shape.fail_at_for_tests;
  return encode(spec, {.joins_cgroups = shape.joins_cgroups, .whole = shape.whole});
}

std::string encode(const LaunchSpec& spec, const JailShape& built, StdinIs stdin_is) {
  ImageWriter writer;
  wire::Image header{};
  if (stdin_is == StdinIs::kNullDevice) header.flags |= wire::kNullStdin;
  if (built.whole) header.flags |= wire::kWholeJail | (built.joins_cgroups ? 0U : wire::kSealedJail);
  header.fault_at = spec.fail_at_for_tests;
  header.argv_at = writer.strings(spec.argv);
  header.argv_count = static_cast<std::uint32_t>(spec.argv.size());
  header.env_at = writer.strings(spec.env);
  header.env_count = static_cast<std::uint32_t>(spec.env.size());
  std::vector<wire::ResourceLimit> limits;
  for (const ResourceLimit& limit : spec.limits) limits.push_back({limit.resource, 0, limit.soft, limit.hard});
  header.limits_at = writer.array<wire::ResourceLimit>(limits);
  header.limit_count = static_cast<std::uint32_t>(limits.size());
  header.cgroup_count = static_cast<std::uint32_t>(spec.cgroup_procs_fds.size());
  header.passed_count = static_cast<std::uint32_t>(spec.passed_fds.size());
  if (spec.report_tree) header.flags |= wire::kReportTree;
  if (spec.with_network) {
    header.network_word_at = spec.with_network->at;
    header.network_word = writer.string(spec.with_network->word);
  }
  if (spec.run_as) {
    header.flags |= wire::kAsAnother;
    header.as_uid = spec.run_as->uid;
    header.as_gid = spec.run_as->gid;
  }
  if (spec.network != built.network) encode_network(spec.network, header, writer);
  if (const auto* jail = std::get_if<JailPlace>(&spec.place)) {
    encode_jail(*jail, built.root_ops.size(), header, writer);
  } else if (const auto* confined = std::get_if<ConfinedPlace>(&spec.place)) {
    header.flags |= wire::kConfined | (confined->allow_speculation ? wire::kAllowSpeculation : 0U) |
                    (confined->hands_connections ? wire::kHandsConnections : 0U);
    encode_locks(confined->seccomp, confined->writable, header, writer);
  } else {
    const auto& none = std::get<NoJailPlace>(spec.place);
    header.flags |= (none.is_wrapper ? wire::kWrapper : 0U) | (none.is_runtime ? wire::kInRuntime : 0U) |
                    (none.is_framed ? wire::kFramed : 0U) | (none.is_engine ? wire::kEngine : 0U) |
                    (none.hands_connections ? wire::kHandsConnections : 0U);
  }
  return std::move(writer).finish(header);
}

}  // namespace sallyport::spawn
