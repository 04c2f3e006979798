// The attacker's side: one multi-call program, `sallyport-attack NAME key=value…`, with one function per attack. It
// links nothing of sallyport, is static (so it runs in any root), and is written against the kernel, not a jail.
//
// A successful attack shows outside, or prints "EFFECT:" and something that it could not know otherwise
// (src/attack/case.h).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sallyport::attacks {

using Deed = void (*)();

struct Entry {
  std::string_view name;
  Deed deed;
};

// One table per family, each in the file of its name.
std::span<const Entry> file_deeds();
std::span<const Entry> device_deeds();
std::span<const Entry> stdin_deeds();
std::span<const Entry> git_deeds();
std::span<const Entry> socket_deeds();
std::span<const Entry> mount_deeds();
std::span<const Entry> kernel_deeds();
std::span<const Entry> privilege_deeds();
std::span<const Entry> setid_deeds();
std::span<const Entry> init_deeds();
std::span<const Entry> process_deeds();
std::span<const Entry> network_deeds();
std::span<const Entry> egress_deeds();
std::span<const Entry> smuggling_deeds();
std::span<const Entry> jail_to_jail_deeds();
std::span<const Entry> limit_deeds();
std::span<const Entry> memory_deeds();
std::span<const Entry> memory_socket_deeds();
std::span<const Entry> verdict_deeds();
std::span<const Entry> identity_deeds();
std::span<const Entry> helper_deeds();  // accomplice, partner, owner: not attacks, but parts of some

// Where a jail shows the repo once more (C14); on a host that is only the start of a path.
inline constexpr const char* kRepoInside = "/work";

// The value of key=value on the command line; empty when it is not there.
std::string arg(std::string_view key);
int arg_number(std::string_view key);

void effect(std::string_view what);
inline void broken() { effect("broken"); }
// broken() unless the call was refused the way a filter or a missing capability refuses it.
void broken_if_looked_at(long result);

bool print_file(const std::string& path);  // effect(content) when there is any to be read
void print_entries(const std::string& directory);
bool put(const std::string& path, std::string_view content);

// Runs `body` in a child and waits for it: what it does to itself (namespaces, ids, signals) stays there.
void in_child(void (*body)());

// Enters our own user and mount namespaces, so that a successful attack does no harm. False when root could not: then
// do not attack, because it would affect the host.
bool harmless();

inline constexpr int kSecretFd = 77;
inline constexpr int kSecretSize = 64;
// At the same address in every instance of this program: it is not position independent.
extern char secret_in_memory[kSecretSize];

}  // namespace sallyport::attacks
