// npm install of a real registry's package in a jail, and what a hostile repo does to lead it elsewhere (C24, C25, C34).
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "egress/egress_fixture.h"
#include "egress/server.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfig = R"(storage: ./storage
auth: { htpasswd: { file: ./htpasswd, max_users: -1 } }
uplinks: {}
packages: { '**': { access: $all, publish: $anonymous } }
web: { enable: false }
log: { type: stdout, format: json, level: warn }
)";
// Its install script, were it run, would show in the repo.
constexpr std::string_view kPackage = R"({"name": "@made/here", "version": "1.0.0", "main": "index.js",
  "scripts": {"postinstall": "touch ../../../canary"}})";

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_TRUE(::bind(fd, generic, size) == 0 && ::getsockname(fd, generic, &size) == 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

// npm as a careless user would start it, in `dir`. Its logs go elsewhere, or publish would pack one it is still writing.
ProgramResult npm(const fs::path& dir, Words arguments) {
  arguments.insert(arguments.begin(), "/usr/bin/npm");
  arguments.insert(arguments.end(), {"--userconfig", "/dev/null", "--no-audit", "--no-fund", "--fetch-retries", "0"});
  return run_program(
      arguments,
      {.cwd = dir, .environment = Environment{{"PATH", "/usr/bin:/bin"}, {"HOME", dir.parent_path().string()}}});
}

// verdaccio with one package in it.
class Registry {
 public:
  Registry() : port_(free_port()), program_(start()) {
    EXPECT_TRUE(program_.wait_for_stdout("http address")) << program_.wait().stderr_bytes;
    fs::create_directory(dir_ / "package");
    write_file(dir_ / "package/package.json", kPackage);
    write_file(dir_ / "package/index.js", "module.exports = 'from the registry';\n");
    const ProgramResult published =
        npm(dir_ / "package", {"publish", "--registry", url(), "--//" + target() + "/:_authToken=none"});
    EXPECT_EQ(published.exit_code, 0) << published.stderr_bytes;
  }

  [[nodiscard]] std::string target() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string url() const { return "http://" + target() + "/"; }

 private:
  Program start() {
    write_file(dir_ / "config.yaml", kConfig);
    const fs::path verdaccio = fs::path(SALLYPORT_TEST_NPM_DIR) / "node_modules/verdaccio/bin/verdaccio";
    EXPECT_TRUE(fs::exists(verdaccio)) << "run tools/npm_packages.sh";
    return Program::start(
        {"/usr/bin/node", verdaccio, "--config", dir_ / "config.yaml", "--listen", target()},
        {.cwd = dir_.path(), .environment = Environment{{"PATH", "/usr/bin:/bin"}, {"HOME", dir_.path()}}});
  }

  TempDir dir_;
  std::uint16_t port_;
  Program program_;
};

class NpmInstall : public testing::TestWithParam<Where> {
 protected:
  NpmInstall() : site_(GetParam().who) {
    site_.put("package.json", R"({"name": "theirs", "version": "1.0.0", "dependencies": {"@made/here": "1.0.0"}})");
  }

  // As the operator calls it: the registry is named on the command line, or left to npm.
  nlohmann::json install(const Words& arguments, const Words& options = {}) {
    Words all = {"--writable-repo", "--timeout", "120s", "--allow-host", "registry.test:4873=" + registry_.target()};
    all.insert(all.end(), options.begin(), options.end());
    Words tool = {"npm", "install", "--fetch-retries", "0"};
    tool.insert(tool.end(), arguments.begin(), arguments.end());
    return site_.run(GetParam().jail, all, tool);
  }
  [[nodiscard]] bool installed() const { return fs::exists(site_.repo() / "node_modules/@made/here/index.js"); }

  Site site_;
  Registry registry_;
  const Words named_ = {"--registry", "http://registry.test:4873/"};
};

TEST_P(NpmInstall, WorksWithTheRegistryAllowedAndRunsNoInstallScript_C23_C24_C25) {
  const nlohmann::json record = install(named_);
  EXPECT_EQ(record["outcome"], "completed") << record;
  EXPECT_EQ(record.value("exit_code", -1), 0) << record;
  EXPECT_EQ(record["denials"], nlohmann::json::array()) << record;
  EXPECT_TRUE(installed()) << record;
  EXPECT_FALSE(fs::exists(site_.repo() / "canary"));
  // Without the gate the same install does run it.
  fs::remove_all(site_.repo() / "node_modules");
  fs::remove(site_.repo() / "package-lock.json");
  EXPECT_EQ(npm(site_.repo(), {"install", "--registry", registry_.url()}).exit_code, 0);
  EXPECT_TRUE(fs::exists(site_.repo() / "canary"));
}

// One test for all of them: the registry takes longer to start than an install to fail.
TEST_P(NpmInstall, IsDeniedEveryOtherHostTheRepositoryLeadsTo_C24_C34) {
  const auto is_denied = [this](const char* how, const Words& arguments, const Words& options = {}) {
    SCOPED_TRACE(how);
    expect_denied(install(arguments, options), "elsewhere.test", "host not allowed");
    EXPECT_FALSE(installed());
  };
  site_.put(".npmrc", "@made:registry=http://elsewhere.test:4873/\n");
  is_denied("a scope's registry", named_);
  is_denied("the same in strict mode", named_, {"--strict-network"});

  site_.put(".npmrc", "registry=http://elsewhere.test:4873/\n");
  is_denied("the registry", {});
  // The operator's own argument outranks that one.
  EXPECT_EQ(install(named_)["outcome"], "completed");
  EXPECT_TRUE(installed());
  fs::remove_all(site_.repo() / "node_modules");
  fs::remove(site_.repo() / ".npmrc");

  site_.put("package-lock.json",
            R"({"name": "theirs", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
               "": {"name": "theirs", "version": "1.0.0", "dependencies": {"@made/here": "1.0.0"}},
               "node_modules/@made/here": {"version": "1.0.0",
                 "resolved": "http://elsewhere.test:4873/@made/here/-/here-1.0.0.tgz"}}})");
  // npm itself takes no dependency by URL, unless the caller says so; then egress decides.
  Words by_url = named_;
  by_url.emplace_back("--allow-remote=all");
  is_denied("a lock file", by_url);
  fs::remove(site_.repo() / "package-lock.json");

  site_.put("package.json",
            R"({"name": "theirs", "version": "1.0.0", "dependencies":
               {"@made/here": "http://elsewhere.test:4873/@made/here/-/here-1.0.0.tgz"}})");
  is_denied("a tarball", by_url);
}

// --allow-registry: the registry is what the operator's npm is set to, whatever the repo says.
TEST_P(NpmInstall, TakesTheRegistryOfTheOperatorsOwnNpm_C24) {
  write_file(site_.dir() / "home/.npmrc", "registry=http://registry.test:4873/\n");
  site_.put(".npmrc", "registry=http://elsewhere.test:4873/\n");
  const nlohmann::json record = install({}, {"--allow-registry"});
  EXPECT_EQ(record["outcome"], "completed") << record;
  EXPECT_EQ(record["denials"], nlohmann::json::array()) << record;
  EXPECT_TRUE(installed()) << record;
}

TEST_P(NpmInstall, SendsNothingToAServiceOfTheHostThatAnNpmrcNames_C24_C34) {
  Server service([](Talk& talk) { static_cast<void>(read_head(talk)); });
  site_.put(".npmrc", "@made:registry=http://" + service.target() + "/\n");
  const nlohmann::json record = install(named_);
  EXPECT_NE(record.value("exit_code", 1), 0) << record;
  EXPECT_FALSE(installed());
  EXPECT_EQ(service.heard(), 0);
  static_cast<void>(npm(site_.repo(), {"install", "--registry", registry_.url()}));
  EXPECT_GT(service.heard(), 0) << "without the gate it is reached";
}

INSTANTIATE_TEST_SUITE_P(, NpmInstall, testing::ValuesIn(everywhere()),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace sallyport::test
