// The pure parts of the microVM: its initramfs, the order of its modules, its command line and what its init sees.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "jails/microvm/initramfs.h"
#include "jails/microvm/kernel.h"
#include "jails/microvm/last_words.h"
#include "jails/microvm/machine.h"
#include "jails/microvm/modules.h"

namespace sallyport::microvm {
namespace {

using testing::ElementsAre;

constexpr const char* kDep =
    "kernel/drivers/virtio/virtio_mmio.ko: kernel/drivers/virtio/virtio.ko kernel/drivers/virtio/virtio_ring.ko\n"
    "kernel/fs/9p/9p.ko: kernel/net/9p/9pnet.ko kernel/fs/netfs/netfs.ko\n"
    "kernel/net/9p/9pnet.ko:\n";

TEST(Modules, ComeAfterWhatTheyNeedAndOnce) {
  const auto names = std::to_array<std::string_view>({"virtio_mmio", "9pnet", "9p"});
  const Modules order = modules_to_load(names, {.dependencies = kDep, .built_in = ""});
  ASSERT_TRUE(order) << order.error();
  EXPECT_THAT(*order, ElementsAre("kernel/drivers/virtio/virtio_ring.ko", "kernel/drivers/virtio/virtio.ko",
                                  "kernel/drivers/virtio/virtio_mmio.ko", "kernel/net/9p/9pnet.ko",
                                  "kernel/fs/netfs/netfs.ko", "kernel/fs/9p/9p.ko"));
}

TEST(Modules, ThatAreBuiltInAreNotLoaded) {
  const auto names = std::to_array<std::string_view>({"virtio_console", "9pnet"});
  const Modules order =
      modules_to_load(names, {.dependencies = kDep, .built_in = "kernel/drivers/char/virtio-console.ko\n"});
  ASSERT_TRUE(order) << order.error();
  EXPECT_THAT(*order, ElementsAre("kernel/net/9p/9pnet.ko"));
}

TEST(Modules, ThatAreNotThereAreNamed) {
  const auto names = std::to_array<std::string_view>({"virtio_console"});
  const Modules order = modules_to_load(names, {.dependencies = kDep, .built_in = ""});
  ASSERT_FALSE(order);
  EXPECT_THAT(order.error(), testing::HasSubstr("virtio_console"));
}

TEST(Kernel, ThatIsNotThereIsMissedByTheJailThatAsks) {
  const Result<GuestKernel> kernel = find_kernel({.boot = "/proc/self/fdinfo"}, kMicrovmTcgJail);
  ASSERT_FALSE(kernel);
  ASSERT_NE(kernel.error().as<JailUnavailable>(), nullptr);
  EXPECT_EQ(kernel.error().as<JailUnavailable>()->jail.name(), kMicrovmTcgJail.name());
}

TEST(Initramfs, IsACpioArchiveOfTheNewFormat) {
  const std::array<InitramfsFile, 2> files = {
      {{.path = "m", .mode = S_IFDIR | 0755}, {.path = "init", .mode = S_IFREG | 0755, .content = "12345"}}};
  const std::string archive = pack_initramfs(files);
  EXPECT_EQ(archive.size() % 4, 0U);
  EXPECT_TRUE(archive.starts_with("07070100000001000041ED"));
  const std::size_t second = archive.find("070701", 6);
  EXPECT_EQ(second, 112U);  // 110 bytes of header, "m" and its end
  EXPECT_EQ(archive.substr(second + 14, 8), "000081ED");
  EXPECT_EQ(archive.substr(second + 54, 8), "00000005");
  EXPECT_EQ(archive.substr(second + 110, 5), std::string("init\0", 5));
  EXPECT_EQ(archive.substr(second + 116, 8), std::string("12345\0\0\0", 8));
  EXPECT_NE(archive.find("TRAILER!!!"), std::string::npos);
  EXPECT_EQ(archive, pack_initramfs(files)) << "the same files give the same bytes";
}

TEST(Machine, IsOfTheLimitsSizeAndTheKernelsOwn) {
  Plan plan;
  plan.limits.memory = mebibytes(64);
  EXPECT_EQ(machine_for(plan, {}).memory, std::uint64_t{320} << 20U);
}

TEST(Machine, SharesSomethingWritableOnlyWhenThePlanDoes) {
  const Plan plan;
  std::vector<ViewEntry> view = {{.kind = ViewKind::kBind, .target = "/src", .source = "/src"}};
  const auto shares = [&] {
    return std::ranges::count(qemu_arguments(machine_for(plan, view)), std::string("-fsdev"));
  };
  EXPECT_EQ(shares(), 1);
  view.front().access = RepoAccess::kWritable;
  EXPECT_EQ(shares(), 2);
}

TEST(Machine, SaysWhichProcessorItRunsOn) {
  const auto has = [](Accelerator accelerator, const char* word) {
    const std::vector<std::string> words = qemu_arguments({.accelerator = accelerator, .memory = 1U << 28U});
    return std::ranges::find(words, word) != words.end();
  };
  EXPECT_TRUE(has(Accelerator::kKvm, "kvm"));
  EXPECT_FALSE(has(Accelerator::kKvm, "tcg"));
  EXPECT_TRUE(has(Accelerator::kTcg, "tcg"));
  EXPECT_FALSE(has(Accelerator::kTcg, "kvm"));
}

TEST(Machine, HasTheDeviceOfKvmOnlyForKvm) {
  const auto has_device = [](Accelerator accelerator) {
    const std::vector<ViewEntry> view =
        machines_view({}, {.kernel = "/k", .initramfs = "/i", .accelerator = accelerator});
    return std::ranges::find(view, "/dev/kvm", &ViewEntry::target) != view.end();
  };
  EXPECT_TRUE(has_device(Accelerator::kKvm));
  EXPECT_FALSE(has_device(Accelerator::kTcg));
}

TEST(Guest, FindsWhatIsTheHostsOnAShare) {
  const std::vector<ViewEntry> view = guests_view({
      {.kind = ViewKind::kBind, .target = "/usr", .source = "/usr", .of_base = true},
      {.kind = ViewKind::kBind, .target = "/work", .source = "/src", .access = RepoAccess::kWritable},
      {.kind = ViewKind::kOverlay,
       .target = "/repo",
       .source = "/repo",
       .content = "lowerdir=lower",
       .state = "/s",
       .access = RepoAccess::kWritable},
      {.kind = ViewKind::kCopy, .target = "/etc/magic", .source = "/etc/magic"},
      {.kind = ViewKind::kDevice, .target = "/dev/null", .source = "/dev/null"},
  });
  EXPECT_EQ(view[0].source, "/v/usr");
  EXPECT_EQ(view[1].source, "/w/work");
  EXPECT_EQ(view[2].kind, ViewKind::kBind);
  EXPECT_EQ(view[2].source, "/w/repo");
  EXPECT_EQ(view[3].source, "/v/etc/magic");
  EXPECT_EQ(view[4].source, "/dev/null") << "the guest's own";
}

TEST(LastWords, CannotGrowBeyondAPage) {
  const UniqueFd file = make_word_file().value();
  const std::string much(4096, 'x');
  EXPECT_EQ(::write(file.get(), much.data(), much.size()), 4096);
  EXPECT_LT(::write(file.get(), "y", 1), 0);
  EXPECT_EQ(last_words(file.get(), -1, "console").size(), 200U);
}

TEST(LastWords, AreTheProgramsOwnOrThePanicOnTheConsole) {
  const UniqueFd none = make_word_file().value();
  std::array<char, 32> name = {"/tmp/sallyport-words-XXXXXX"};
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const UniqueFd directory(::open(name.data(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const UniqueFd console(::openat(directory.get(), "console", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const std::string_view text = "one\nKernel \033[31mpanic: no init\nlater\n";
  ASSERT_EQ(::write(console.get(), text.data(), text.size()), std::ssize(text));
  EXPECT_EQ(last_words(none.get(), directory.get(), "console"), "Kernel [31mpanic: no init");
  const UniqueFd said = make_word_file().value();
  ASSERT_EQ(::write(said.get(), "qemu: no\nmore", 13), 13);
  EXPECT_EQ(last_words(said.get(), directory.get(), "console"), "qemu: no");
  ::unlinkat(directory.get(), "console", 0);
  ::rmdir(name.data());
}

}  // namespace
}  // namespace sallyport::microvm
