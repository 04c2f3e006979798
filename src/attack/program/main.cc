#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attack/cases.h"
#include "attack/program/attack.h"

namespace sallyport::attacks {
namespace {

std::span<char*> arguments;

Deed find_deed(std::string_view name) {
  for (const auto family :
       {file_deeds,    device_deeds,    stdin_deeds,        git_deeds,   socket_deeds,  mount_deeds,
        kernel_deeds,  privilege_deeds, setid_deeds,        init_deeds,  process_deeds, network_deeds,
        egress_deeds,  smuggling_deeds, jail_to_jail_deeds, limit_deeds, memory_deeds,  memory_socket_deeds,
        verdict_deeds, identity_deeds,  helper_deeds}) {
    for (const Entry& entry : family()) {
      if (entry.name == name) return entry.deed;
    }
  }
  return nullptr;
}

// The table of docs/attacks.md. Fails when a case has no deed: an attack that cannot be made proves nothing.
int list() {
  int missing = 0;
  printf("| attack | guarantee | what it tries |\n|---|---|---|\n");
  for (const attack::Case& one : attack::kCases) {
    const std::string_view guarantee = name_of(one.guarantee);
    printf("| `%.*s` | `%.*s` | %.*s |\n", static_cast<int>(one.name.size()), one.name.data(),
           static_cast<int>(guarantee.size()), guarantee.data(), static_cast<int>(one.deed.size()), one.deed.data());
    if (find_deed(one.name) != nullptr) continue;
    fprintf(stderr, "sallyport-attack: no deed for %.*s\n", static_cast<int>(one.name.size()), one.name.data());
    missing = 1;
  }
  return missing;
}

}  // namespace

std::string arg(std::string_view key) {
  for (const char* word : arguments) {
    const std::string_view text = word;
    if (text.size() > key.size() && text.starts_with(key) && text[key.size()] == '=') {
      return std::string(text.substr(key.size() + 1));
    }
  }
  return {};
}

int arg_number(std::string_view key) { return atoi(arg(key).c_str()); }

}  // namespace sallyport::attacks

int main(int argc, char** argv) {
  namespace attacks = sallyport::attacks;
  if (argc == 2 && strcmp(argv[1], "--list") == 0) return attacks::list();
  const attacks::Deed deed = argc > 1 ? attacks::find_deed(argv[1]) : nullptr;
  if (deed == nullptr) {
    fprintf(stderr, "usage: sallyport-attack NAME key=value... | --list\n");
    return 2;
  }
  attacks::arguments = {argv + 2, argv + argc};
  // So that an attack which was never tried is not taken for one that failed.
  const std::string tried = std::string("ATTACK:") + argv[1] + "\n";
  if (write(STDOUT_FILENO, tried.data(), tried.size()) < 0) return 3;
  deed();
  return 0;
}
