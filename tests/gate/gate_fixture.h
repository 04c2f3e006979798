// A gate over a repo of its own, admitting the misbehaving helpers, with every event written down.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sallyport/gate.h"
#include "sallyport/oci.h"
#include "support/installed.h"
#include "support/jails.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace sallyport::test {

class RecordingSink final : public EventSink {
 public:
  void emit(const Event& event) override;
  // "name field=value field=value", one per event with this name.
  [[nodiscard]] std::vector<std::string> named(std::string_view name) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, std::string>> seen_;
};

class GateTest : public testing::Test {
 protected:
  GateTest();

  [[nodiscard]] GateConfig config();
  [[nodiscard]] std::unique_ptr<Gate> open_gate();
  [[nodiscard]] JailedSubprocessSpec spec(std::vector<std::string> argv) const;
  // Ends the test program when the gate refused: for calls that are only the means of a test.
  [[nodiscard]] JailedSubprocessResult run(Gate& gate, const JailedSubprocessSpec& what, JailKind jail) const;

  TempDir dir_;
  std::filesystem::path repo_;
  RecordingSink events_;
};

// Tests that must pass with every jail behind the gate.
class EveryJailTest : public GateTest, public testing::WithParamInterface<JailKind> {};

[[nodiscard]] std::string jail_name(const testing::TestParamInfo<JailKind>& info);

[[nodiscard]] int exit_code(const JailedSubprocessResult& result);  // -1 when it did not exit by itself
[[nodiscard]] std::string mechanism_of(const JailedSubprocessResult& result,
                                       Guarantee guarantee);  // empty: not established

}  // namespace sallyport::test
