#include <array>

#include "core/hardening/git_config.h"
#include "core/hardening/hardeners.h"
#include "core/hardening/options.h"

namespace sallyport::hardening {
namespace {

// A flag of the root command, so it may stand before the subcommand.
constexpr std::array<std::string_view, 1> kGitleaksFixed = {"--no-banner"};

}  // namespace

Result<HardenedCommand> harden_gitleaks(Argv argv) {
  const Argv arguments = argv.subspan(1);
  for (const std::string& argument : arguments.first(count_option_arguments(arguments))) {
    const LongOption option = split_long(argument);
    const bool undoes = option.name == "--no-banner" && option.has_value && option.value != "true";
    if (undoes) return fail(refused_argument("gitleaks", argument, "the banner is always off", "leave it out"));
  }
  // gitleaks starts git itself, over the same hostile repo.
  return HardenedCommand{.argv = insert_after(argv, 0, kGitleaksFixed), .env = git_env_for_children()};
}

}  // namespace sallyport::hardening
