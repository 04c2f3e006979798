#include "locate/shebang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck.h>

namespace sallyport {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Shebang, DistinguishesProgramsFromScriptsByTheirFirstBytes) {
  EXPECT_EQ(kind_of("\x7f"
                    "ELF\x02"),
            FileKind::kElf);
  EXPECT_EQ(kind_of("#!/bin/sh\n"), FileKind::kScript);
  EXPECT_EQ(kind_of(""), FileKind::kOther);
  EXPECT_EQ(kind_of("MZ"), FileKind::kOther);
  EXPECT_EQ(kind_of(" #!/bin/sh"), FileKind::kOther);
}

TEST(Shebang, GivesOneArgumentBlanksIncludedAsTheKernelDoes) {
  const auto plain = parse_shebang("#!/bin/sh\nrest").shebang.value();
  EXPECT_EQ(plain.interpreter, "/bin/sh");
  EXPECT_THAT(plain.arguments, IsEmpty());
  const auto argument = parse_shebang("#! \t/usr/bin/awk  -f  x \t\n").shebang.value();
  EXPECT_EQ(argument.interpreter, "/usr/bin/awk");
  EXPECT_THAT(argument.arguments, ElementsAre("-f  x"));
  EXPECT_EQ(parse_shebang("#!/bin/sh").shebang.value().interpreter, "/bin/sh");  // the file ends there
}

TEST(Shebang, ResolvesEnvItself) {
  const auto node = parse_shebang("#!/usr/bin/env node\n").shebang.value();
  EXPECT_TRUE(node.by_name);
  EXPECT_EQ(node.interpreter, "node");
  const auto split = parse_shebang("#!/usr/bin/env -S node --flag  x\n").shebang.value();
  EXPECT_TRUE(split.by_name);
  EXPECT_EQ(split.interpreter, "node");
  EXPECT_THAT(split.arguments, ElementsAre("--flag", "x"));
  const auto absolute = parse_shebang("#!/bin/env /usr/bin/node\n").shebang.value();
  EXPECT_FALSE(absolute.by_name);
  EXPECT_EQ(absolute.interpreter, "/usr/bin/node");
}

TEST(Shebang, RefusesWhatItWillNotFollow) {
  for (const std::string_view line :
       {"#!\n", "#!   \n", "#!node\n", "#!./node\n", "#!../../bin/sh\n", "#!/bin/sh\r\n", "#!/usr/bin/env\n",
        "#!/usr/bin/env node --flag\n", "#!/usr/bin/env -i node\n", "#!/usr/bin/env -S\n",
        "#!/usr/bin/env -S A=b node\n", "#!/usr/bin/env A=b\n", "#!/usr/bin/env ./node\n",
        "#!/usr/bin/env -S 'node x'\n", "#!/usr/bin/env -S ${X}\n", "#!/usr/bin/env -S -i node\n", "no"}) {
    const ShebangParse parse = parse_shebang(line);
    EXPECT_FALSE(parse.shebang) << line;
    EXPECT_FALSE(parse.problem.empty()) << line;
  }
  using std::string_view_literals::operator""sv;
  EXPECT_FALSE(parse_shebang("#!/bin/sh\0x\n"sv).shebang);
}

TEST(Shebang, RefusesALineTheKernelWouldCut) {
  const std::string longest = "#!/" + std::string(252, 'x') + "\n";  // 256 bytes with its newline
  EXPECT_TRUE(parse_shebang(longest).shebang);
  EXPECT_FALSE(parse_shebang("#!/" + std::string(253, 'x') + "\n").shebang);
}

TEST(Shebang, AnyBytesGiveAnAbsoluteOrBareInterpreterOrNone) {
  EXPECT_TRUE(rc::check([](const std::string& tail) {
    const ShebangParse parse = parse_shebang("#!" + tail);
    if (!parse.shebang) return;
    RC_ASSERT(!parse.shebang->interpreter.empty());
    const bool has_slash = parse.shebang->interpreter.find('/') != std::string::npos;
    const bool well_formed = parse.shebang->by_name ? !has_slash : parse.shebang->interpreter.starts_with('/');
    RC_ASSERT(well_formed);
  }));
}

}  // namespace
}  // namespace sallyport
