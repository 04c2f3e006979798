// The executed file is the checked file, and no other user could have put it there. The planted program is always named
// like the wanted one; the positive control is the same lookup without the one bad property.
#include "locate/tool_locator.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "core/bytes/sha256.h"
#include "os/file.h"
#include "os/test_dir.h"
#include "os/test_processes.h"
#include "support/forked.h"

namespace sallyport {
namespace {

using test::ask_as_plain_user;

using std::chrono_literals::operator""s;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::chrono::nanoseconds after_the_settling_time() { return std::chrono::system_clock::now().time_since_epoch() + 10s; }

class ToolLocator : public testing::Test {
 protected:
  void SetUp() override {
    tool_.name = "git";
    tool_.install_hint = "apt install git";
    repo_ = std::filesystem::canonical(dir_.directory("repo"));
    dir_.directory("bin");
    git_ = install("bin/git", "/usr/bin/true");
  }
  std::filesystem::path install(std::string_view name, const char* program) {
    const auto target = dir_.file(name, "", 0755);
    std::filesystem::copy_file(program, target, std::filesystem::copy_options::overwrite_existing);
    ::chmod(target.c_str(), 0755);
    return target;
  }
  [[nodiscard]] std::filesystem::path real(std::string_view name) const {
    return std::filesystem::canonical(dir_ / name);
  }
  Result<PinnedTool> find(std::vector<std::filesystem::path> search_path) {
    return locate(tool_, search_path, repo_, hashes_);
  }
  Error refused(std::vector<std::filesystem::path> search_path) {
    auto found = find(std::move(search_path));
    EXPECT_FALSE(found) << found->exec_path;
    return found ? Error{} : std::move(found).error();
  }

  TestDir dir_;
  std::filesystem::path repo_;
  std::filesystem::path git_;
  ToolEntry tool_;
  HashCache hashes_{{}, after_the_settling_time};
};

TEST_F(ToolLocator, PinsAnElfProgramWithItsWholeIdentity) {
  const PinnedTool tool = find({dir_ / "bin"}).value();
  struct stat info{};
  ASSERT_EQ(::stat(git_.c_str(), &info), 0);
  EXPECT_EQ(tool.binary.path, real("bin/git"));
  EXPECT_EQ(tool.binary.device, info.st_dev);
  EXPECT_EQ(tool.binary.inode, info.st_ino);
  EXPECT_EQ(tool.binary.size, static_cast<std::uint64_t>(info.st_size));
  EXPECT_EQ(tool.binary.mtime_ns, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec);
  EXPECT_EQ(tool.binary.sha256, sha256_hex(read_whole_file(git_, mebibytes(64)).value()));
  EXPECT_EQ(tool.exec_path, real("bin/git"));
  EXPECT_EQ(tool.argv0, "git");
  EXPECT_THAT(tool.argv_prefix, IsEmpty());
  EXPECT_THAT(tool.interpreters, IsEmpty());
  EXPECT_NE(::fcntl(tool.exe.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(ToolLocator, FindsTheRealToolsOfThisHost) {
  tool_.name = "true";
  EXPECT_TRUE(find({"/usr/local/bin", "/usr/bin", "/bin"}));
}

TEST_F(ToolLocator, C11AToolThatIsNowhereIsMissingWithItsInstallHint) {
  std::filesystem::remove(git_);
  const Error error = refused({dir_ / "bin", dir_ / "nonexistent"});
  ASSERT_NE(error.as<ToolMissingError>(), nullptr);
  EXPECT_EQ(error.as<ToolMissingError>()->install_hint, "apt install git");
  EXPECT_THAT(error.hint, HasSubstr("apt install git"));
}

TEST_F(ToolLocator, NeverUsesTheRepo) {
  install("repo/git", "/usr/bin/false");
  install("repo/node_modules/.bin/git", "/usr/bin/false");
  std::filesystem::create_directory_symlink(repo_ / "node_modules/.bin", dir_ / "looks_outside");
  for (const auto& entry : {repo_, repo_ / "node_modules/.bin", dir_ / "looks_outside", dir_ / "bin/../repo"}) {
    const Error error = refused({entry});
    ASSERT_NE(error.as<UntrustedToolError>(), nullptr) << entry;
    EXPECT_THAT(error.message, HasSubstr("inside the analysed repo"));
    EXPECT_EQ(find({entry, dir_ / "bin"}).value().exec_path, real("bin/git"));  // skipped, not fatal
  }
  repo_ = std::filesystem::canonical(dir_.directory("another"));
  EXPECT_TRUE(find({dir_ / "looks_outside"}));  // positive control: it was only the repo
}

TEST_F(ToolLocator, NeverFollowsASymlinkIntoTheRepo) {
  install("repo/evil", "/usr/bin/false");
  std::filesystem::remove(git_);
  std::filesystem::create_symlink("../repo/evil", git_);
  EXPECT_NE(refused({dir_ / "bin"}).as<UntrustedToolError>(), nullptr);
  std::filesystem::remove(git_);
  install("other/evil", "/usr/bin/false");
  std::filesystem::create_symlink("../other/evil", git_);
  EXPECT_EQ(find({dir_ / "bin"}).value().exec_path, real("other/evil"));  // positive control
}

TEST_F(ToolLocator, NeverUsesADirectoryAnotherUserCanWrite) {
  for (const mode_t mode : {0777, 01777, 0757}) {
    ::chmod((dir_ / "bin").c_str(), mode);
    const Error error = refused({dir_ / "bin"});
    ASSERT_NE(error.as<UntrustedToolError>(), nullptr) << std::oct << mode;
    EXPECT_EQ(error.as<UntrustedToolError>()->path, real("bin"));
    EXPECT_FALSE(error.hint.empty());
  }
  ::chmod((dir_ / "bin").c_str(), 0755);
  EXPECT_TRUE(find({dir_ / "bin"}));
}

TEST_F(ToolLocator, NeverUsesADirectoryOfAnotherUserOrGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(::chown((dir_ / "bin").c_str(), 0, 50), 0);
  ::chmod((dir_ / "bin").c_str(), 02775);  // root:staff, as /usr/local/bin is on some systems
  EXPECT_NE(refused({dir_ / "bin"}).as<UntrustedToolError>(), nullptr);
  ::chmod((dir_ / "bin").c_str(), 0755);
  EXPECT_TRUE(find({dir_ / "bin"}));
  ASSERT_EQ(::chown((dir_ / "bin").c_str(), 65534, 0), 0);
  EXPECT_NE(refused({dir_ / "bin"}).as<UntrustedToolError>(), nullptr);
}

TEST_F(ToolLocator, NeverUsesARelativeEntry) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(dir_.path());
  const Error error = refused({"bin"});
  EXPECT_NE(refused({"."}).as<ToolMissingError>(), nullptr);
  EXPECT_NE(refused({""}).as<ToolMissingError>(), nullptr);
  EXPECT_TRUE(find({dir_ / "bin"}));
  std::filesystem::current_path(before);
  ASSERT_NE(error.as<UntrustedToolError>(), nullptr);
  EXPECT_THAT(error.message, HasSubstr("absolute"));
}

TEST_F(ToolLocator, RefusesAFileOthersCanWrite) {
  ::chmod(git_.c_str(), 0757);
  EXPECT_NE(refused({dir_ / "bin"}).as<UntrustedToolError>(), nullptr);
  ::chmod(git_.c_str(), 0755);
  EXPECT_TRUE(find({dir_ / "bin"}));
}

TEST_F(ToolLocator, WhatCannotBeExecutedIsNotRunnable) {
  ::chmod(git_.c_str(), 0644);
  EXPECT_NE(refused({dir_ / "bin"}).as<ToolNotRunnable>(), nullptr);
  dir_.file("bin/git", "just text", 0755);
  EXPECT_THAT(refused({dir_ / "bin"}).message, HasSubstr("neither an ELF"));
  dir_.file("bin/git", "", 0755);
  EXPECT_NE(refused({dir_ / "bin"}).as<ToolNotRunnable>(), nullptr);
  std::filesystem::remove(git_);
  std::filesystem::create_symlink("nowhere", git_);
  EXPECT_NE(refused({dir_ / "bin"}).as<ToolNotRunnable>(), nullptr);
  std::filesystem::remove(git_);
  std::filesystem::create_symlink("git", git_);
  EXPECT_NE(refused({dir_ / "bin"}).as<ToolNotRunnable>(), nullptr);
  std::filesystem::remove(git_);
  dir_.directory("bin/git");
  EXPECT_NE(refused({dir_ / "bin"}).as<ToolNotRunnable>(), nullptr);
  std::filesystem::remove(git_);
  ASSERT_EQ(::mkfifo(git_.c_str(), 0755), 0);
  EXPECT_NE(refused({dir_ / "bin"}).as<ToolNotRunnable>(), nullptr);  // and does not block
  install("later/git", "/usr/bin/true");
  EXPECT_EQ(find({dir_ / "bin", dir_ / "later"}).value().exec_path, real("later/git"));
}

TEST_F(ToolLocator, AnUnreadableProgramCannotBeIdentified) {
  ::chmod(dir_.path().c_str(), 0755);
  ::chmod(git_.c_str(), 0711);
  if (::geteuid() != 0) ::chmod(git_.c_str(), 0111);
  EXPECT_TRUE(ask_as_plain_user([&] {
    const auto found = find({dir_ / "bin"});
    return !found && found.error().as<ToolNotRunnable>() != nullptr &&
           found.error().message.find("cannot be identified") != std::string::npos;
  }));
  ::chmod(git_.c_str(), 0755);
  EXPECT_TRUE(ask_as_plain_user([&] { return find({dir_ / "bin"}).has_value(); }));  // positive control
}

TEST_F(ToolLocator, APinnedHashMustMatch) {
  tool_.sha256 = sha256_hex("something else");
  const Error error = refused({dir_ / "bin"});
  ASSERT_NE(error.as<UntrustedToolError>(), nullptr);
  EXPECT_THAT(error.message, HasSubstr(*tool_.sha256));
  const std::string actual = sha256_hex(read_whole_file(git_, mebibytes(64)).value());
  EXPECT_THAT(error.message, HasSubstr(actual));
  tool_.sha256 = actual;
  EXPECT_TRUE(find({dir_ / "bin"}));
}

TEST_F(ToolLocator, PinsTheInterpreterOfAScript) {
  install("bin/interp", "/usr/bin/true");
  dir_.file("bin/git", "#!" + (dir_ / "bin/interp").native() + " -x y\nbody\n", 0755);
  const PinnedTool tool = find({dir_ / "bin"}).value();
  EXPECT_EQ(tool.binary.path, real("bin/git"));
  ASSERT_EQ(tool.interpreters.size(), 1U);
  EXPECT_EQ(tool.interpreters[0].path, real("bin/interp"));
  EXPECT_EQ(tool.exec_path, real("bin/interp"));
  EXPECT_EQ(tool.argv0, dir_ / "bin/interp");
  EXPECT_THAT(tool.argv_prefix, ElementsAre("-x y", real("bin/git").native()));
  struct stat info{};
  ASSERT_EQ(::fstat(tool.exe.get(), &info), 0);
  EXPECT_EQ(info.st_ino, tool.interpreters[0].inode);
}

TEST_F(ToolLocator, ResolvesEnvThroughTheSameSearchPathAndNotTheRepo) {
  dir_.file("bin/git", "#!/usr/bin/env -S interp --flag\n", 0755);
  install("repo/interp", "/usr/bin/false");
  EXPECT_NE(refused({repo_, dir_ / "bin"}).as<UntrustedToolError>(), nullptr);
  EXPECT_NE(refused({dir_ / "bin"}).as<ToolNotRunnable>(), nullptr);  // no interp at all
  install("good/interp", "/usr/bin/true");
  const PinnedTool tool = find({repo_, dir_ / "bin", dir_ / "good"}).value();
  EXPECT_EQ(tool.exec_path, real("good/interp"));
  EXPECT_EQ(tool.argv0, dir_ / "good/interp");
  EXPECT_THAT(tool.argv_prefix, ElementsAre("--flag", real("bin/git").native()));
}

TEST_F(ToolLocator, RefusesAnInterpreterThatIsBadItself) {
  const auto script_for = [&](std::string_view interpreter) {
    dir_.file("bin/git", "#!" + (dir_ / interpreter).native() + "\n", 0755);
    return refused({dir_ / "bin"});
  };
  install("repo/interp", "/usr/bin/true");
  EXPECT_NE(script_for("repo/interp").as<UntrustedToolError>(), nullptr);
  install("open/interp", "/usr/bin/true");
  ::chmod((dir_ / "open").c_str(), 0777);
  EXPECT_NE(script_for("open/interp").as<UntrustedToolError>(), nullptr);
  dir_.file("bin/script", "#!/bin/sh\n", 0755);
  EXPECT_THAT(script_for("bin/script").message, HasSubstr("not an ELF"));
  EXPECT_NE(script_for("bin/missing").as<ToolNotRunnable>(), nullptr);
  dir_.file("bin/git", "#!relative\n", 0755);
  EXPECT_NE(refused({dir_ / "bin"}).as<ToolNotRunnable>(), nullptr);
  dir_.file("bin/git", "#!/bin/sh\n", 0755);
  EXPECT_TRUE(find({dir_ / "bin"}));  // positive control
}

TEST_F(ToolLocator, ASecondLookupDoesNotReadTheProgramAgainAndAReplacedOneIsRead) {
  EXPECT_TRUE(find({dir_ / "bin"}));
  EXPECT_TRUE(find({dir_ / "bin"}));
  EXPECT_EQ(hashes_.files_read(), 1U);
  install("new/git", "/usr/bin/false");
  std::filesystem::rename(dir_ / "new/git", git_);
  const PinnedTool replaced = find({dir_ / "bin"}).value();
  EXPECT_EQ(hashes_.files_read(), 2U);
  EXPECT_EQ(replaced.binary.sha256, sha256_hex(read_whole_file("/usr/bin/false", mebibytes(64)).value()));
}

TEST_F(ToolLocator, AProgramSwappedAfterTheCheckIsNotTheOneExecuted) {
  const PinnedTool pinned = find({dir_ / "bin"}).value();
  install("evil/git", "/usr/bin/false");
  std::filesystem::rename(dir_ / "evil/git", git_);
  EXPECT_EQ(test::run_descriptor(pinned.exe.get(), "git"), 0);
  const UniqueFd by_name = open_path(git_, O_RDONLY).value();
  EXPECT_EQ(test::run_descriptor(by_name.get(), "git"), 1);  // positive control: by name it is the swapped one
}

TEST_F(ToolLocator, LeavesNoDescriptorBehind) {
  install("repo/git", "/usr/bin/false");
  dir_.file("script/git", "#!/usr/bin/env nothing\n", 0755);
  const std::size_t before = count_open_fds();
  for (const auto& entry : {dir_ / "bin", repo_, dir_ / "script", dir_ / "nonexistent"}) {
    static_cast<void>(find({entry}).has_value());
  }
  EXPECT_EQ(count_open_fds(), before);
}

}  // namespace
}  // namespace sallyport
