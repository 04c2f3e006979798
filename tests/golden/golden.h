// Text compared with a checked-in file.
//
//   SALLYPORT_REWRITE_GOLDEN=1 build/dev/tests/golden/golden_test    # writes the files anew; read the diff, then commit
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sallyport::golden {

using Lines = std::vector<std::string>;

// What turns `expected` into `actual`, a line each: "- gone", "+ new"; empty when they are the same.
[[nodiscard]] std::string difference(const Lines& expected, const Lines& actual);

// Fails the current test, with the difference, when tests/golden/expected/NAME.txt says something else.
void expect_as_on_file(std::string_view name, const Lines& actual);

}  // namespace sallyport::golden
