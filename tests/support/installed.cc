#include "support/installed.h"

namespace sallyport::test {

std::string sallyport_binary() { return SALLYPORT_TEST_BINARY; }

std::filesystem::path misbehave_dir() { return SALLYPORT_TEST_MISBEHAVE_DIR; }

std::string policy_admitting(const std::vector<std::string_view>& tools) {
  std::string text = "schema = \"sallyport.policy/1\"\n";
  for (const std::string_view tool : tools) {
    text += "\n[[tool]]\nname = \"";
    text += tool;
    text += "\"\ndecision_record = \"ADR-TEST\"\nreason = \"a test needs it\"\ninstall_hint = \"build the tests\"\n";
  }
  return text;
}

}  // namespace sallyport::test
