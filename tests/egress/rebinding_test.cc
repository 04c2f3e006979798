// The owner of an allowed name decides what it resolves to. Here the attacker owns it: the name leads to metadata
// services, loopback and private networks, openly or wrapped in IPv6, at once or at the second lookup.
//
// The test has a network of its own in which every address is local, so that one server receives whatever would have gone
// to any of them, and a resolv.conf of its own that leads to the attacker's name server. The program under test is the
// built one, and finds both as it finds a host's.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>

#include "egress/egress_fixture.h"
#include "egress/test_nameserver.h"
#include "egress/test_net.h"

namespace sallyport::test {
namespace {

constexpr std::uint16_t kHttp = 80;
constexpr std::uint16_t kDns = 53;

bool write_own(const char* path, const std::string& text) {
  const UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Root needs no user namespace for it; a plain user keeps its id in one.
bool enter_own_namespaces() {
  if (geteuid() == 0) return ::unshare(CLONE_NEWNS) == 0;
  const std::string uid = std::to_string(geteuid());
  const std::string gid = std::to_string(getegid());
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_own("/proc/self/setgroups", "deny") &&
         write_own("/proc/self/uid_map", uid + " " + uid + " 1") &&
         write_own("/proc/self/gid_map", gid + " " + gid + " 1");
}

bool use_resolv_conf(const TempDir& dir) {
  const std::string file = dir / "resolv.conf";
  write_file(file, "nameserver 127.0.0.1\n");
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount(file.c_str(), "/etc/resolv.conf", nullptr, MS_BIND, nullptr) == 0;
}

class Rebinding : public testing::TestWithParam<Where> {
 protected:
  // Once per process, while it has one thread.
  static void SetUpTestSuite() {
    static const TempDir dir;
    entered_ = enter_own_namespaces() && enter_outside() && use_resolv_conf(dir);
  }
  Rebinding() : site_(GetParam().who) {}

  void SetUp() override {
    if (!entered_) GTEST_SKIP() << "no namespaces of our own can be had on this host";
  }

  nlohmann::json fetch(const std::string& rule = "rebind.test") {
    return site_.run(GetParam().jail, {"--allow-host", rule}, {"curl", "--silent", "--max-time", "20", kUrl});
  }
  void answer(int fd) const {
    const std::string body = "reached " + ip_address_text(local_endpoint(fd)->address) + "\n";
    static_cast<void>(receive_until(fd, "\r\n\r\n"));
    answered_();
    send_all(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                     body);
  }
  // A process outside the jail can reach that address.
  static bool reach_directly(std::string_view address) {
    const Endpoint where = at(address, kHttp);
    const UniqueFd fd(::socket(where.address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const SocketAddress to = socket_address(where);
    return ::connect(fd.get(), to.get(), to.length) == 0 && send_all(fd.get(), "GET / HTTP/1.1\r\n\r\n") &&
           receive(fd.get(), 4).bytes == "HTTP";
  }
  void expect_unreachable(const std::string& address, const std::string& rule = "rebind.test") {
    names_.rebind("rebind.test", {address});
    const int before = server_.connections();
    const nlohmann::json record = fetch(rule);
    EXPECT_EQ(server_.connections(), before) << address << " was reached";
    expect_denied(record, "rebind.test", std::string(name_of(kind_of(*parse_ip_address(address)))) + " address");
    EXPECT_EQ(record.value("stdout", "").find("reached"), std::string::npos) << record;
    EXPECT_TRUE(reach_directly(address)) << address << ": the attack could not have worked";
  }
  void expect_reachable(const std::string& address, const std::string& rule = "rebind.test") {
    names_.rebind("rebind.test", {address});
    const int before = server_.connections();
    expect_reached(fetch(rule), "reached");
    EXPECT_EQ(server_.connections(), before + 1) << address;
  }

  static constexpr const char* kUrl = "http://rebind.test/";
  static inline bool entered_ = false;
  Site site_;
  NameServer names_{NameServer::Records{}, at("127.0.0.1", kDns)};
  std::function<void()> answered_ = [] {};
  Server server_{[this](int fd) { answer(fd); }, at("::", kHttp)};  // every address of both families
};

TEST_P(Rebinding, AnAllowedNameCannotLeadToMetadata_C24) {
  expect_reachable("93.184.216.34");
  for (const char* address : {"169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254"}) {
    expect_unreachable(address);
    expect_unreachable(address, "rebind.test,private");
    expect_unreachable(address, "rebind.test,class=link-local,class=shared");
    expect_unreachable(address, "rebind.test,class=any");
  }
}

// What VPNs and gateways answer with. The option admits that class and no other.
TEST_P(Rebinding, AClassIsAdmittedByItsNameAndNoOtherWithIt_C24) {
  expect_unreachable("198.18.3.4", "rebind.test,private");
  expect_reachable("198.18.3.4", "rebind.test,class=benchmark");
  expect_reachable("203.0.113.9", "rebind.test,class=documentation");
  expect_reachable("100.64.0.9", "rebind.test,class=any");
  for (const char* address : {"10.1.2.3", "203.0.113.9", "100.64.0.9", "127.0.0.1"}) {
    expect_unreachable(address, "rebind.test,class=benchmark");
  }
}

TEST_P(Rebinding, AnAllowedNameCannotLeadHomeOrNextDoor_C24) {
  expect_reachable("93.184.216.34");
  expect_reachable("10.1.2.3", "rebind.test,private");  // the caller allowed it with `private`
  for (const char* address : {"127.0.0.1", "10.1.2.3", "192.168.1.1", "::1", "fd00::1"}) expect_unreachable(address);
}

TEST_P(Rebinding, NorByAnAddressInsideAnother_C24) {
  expect_reachable("64:ff9b::5db8:d822");  // NAT64 of 93.184.216.34: an IPv6-only network's way to it
  for (const char* address : {"::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
                              "64:ff9b::a01:203", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1"}) {
    expect_unreachable(address);
  }
}

// An honest answer to the first question, for a gate that checks only once; a hostile one to the next.
TEST_P(Rebinding, ANameThatChangesUnderWayLeadsNowhereElse_C24) {
  names_.rebind("rebind.test", {"93.184.216.34"});
  answered_ = [&] { names_.rebind("rebind.test", {"169.254.169.254"}); };
  const nlohmann::json record = site_.run(GetParam().jail, {"--allow-host", "rebind.test"},
                                          {"curl", "--silent", "--fail", "--max-time", "20", kUrl, kUrl});
  EXPECT_EQ(record.value("stdout", ""), "reached 93.184.216.34\n") << record;
  expect_denied(record, "rebind.test", "metadata address");
  EXPECT_EQ(server_.connections(), 1);
}

INSTANTIATE_TEST_SUITE_P(, Rebinding, testing::ValuesIn(everywhere()),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace sallyport::test
