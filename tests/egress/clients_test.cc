// Programs people use, through a jail to a server on the host: the allowed name works without a proxy variable, any
// other host is refused by name and receives nothing (C23, C24).
#include <gtest/gtest.h>

#include <functional>

#include "egress/egress_fixture.h"
#include "egress/server.h"

namespace sallyport::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSecret = "what only the server knows";

// What a client has to fetch. The certificate lies in the repo.
struct Url {
  bool tls;
  std::string host;  // with its port, where that is not the usual one
  [[nodiscard]] std::string text(std::string_view path) const {
    return (tls ? "https://" : "http://") + host + "/" + std::string(path);
  }
};

struct Client {
  std::string_view name;
  bool speaks_tls;
  Words options;  // of sallyport
  std::function<Words(const Site&, const Url&)> command;
};

Words curl(const Site&, const Url& url) {
  return {"curl", "--silent", "--show-error", "--max-time", "20", "--cacert", "cert.pem", url.text("secret")};
}

// If the connection is reset at a bad moment, node's fetch() sometimes never settles its promise, and node exits with 0. So the
// script sets 1 first.
Words node_fetch(const Site&, const Url& url) {
  return {"node", "--use-openssl-ca", "-e",
          "process.exitCode = 1; fetch('" + url.text("secret") +
              "').then(r => r.text()).then(text => { console.log(text); process.exitCode = 0; })"};
}

Words python(const Site&, const Url& url) {
  return {"python3", "-c",
          "import ssl, urllib.request\n"
          "trust = ssl.create_default_context(cafile='cert.pem')\n"
          "print(urllib.request.urlopen('" +
              url.text("secret") + "', context=trust, timeout=20).read().decode())"};
}

Words busybox_wget(const Site&, const Url& url) { return {"busybox", "wget", "-q", "-O", "-", url.text("secret")}; }

Words java(const Site& site, const Url& url) {
  site.put("Get.java",
           "public class Get { public static void main(String[] a) throws Exception {\n"
           "System.out.write(new java.net.URL(a[0]).openStream().readAllBytes()); System.out.flush(); } }\n");
  return {"java", "-XX:TieredStopAtLevel=1", "Get.java", url.text("secret")};
}

// Trust in the certificate is the repo's own setting: clone would not read it, fetch does.
Words git_fetch(const Site& site, const Url& url) {
  if (!fs::exists(site.repo() / ".git")) make_git_repo(site.repo(), site.user());
  std::string config =
      "[core]\n\trepositoryformatversion = 0\n[http]\n\tsslCAInfo = cert.pem\n[remote \"origin\"]\n\turl = ";
  config += url.text("repo/.git") + "\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n";
  site.put(".git/config", config);
  return {"git", "fetch", "--verbose", "origin", "main"};
}

Words git_clone(const Site& site, const Url& url) {
  fs::remove_all(site.repo() / "clone");
  return {"git", "clone", url.text("repo/.git"), "clone"};
}

const std::vector<Client>& clients() {
  static const std::vector<Client> all = {
      {"curl", true, {}, curl},
      {"node_fetch", true, {"--env", "SSL_CERT_FILE=cert.pem"}, node_fetch},
      {"python_urllib", true, {}, python},
      {"git_fetch", true, {"--writable-repo"}, git_fetch},
      {"git_clone", false, {"--writable-repo"}, git_clone},
      {"busybox_wget", false, {}, busybox_wget},
      {"java", false, {}, java},
  };
  return all;
}

class RealClient : public testing::TestWithParam<std::tuple<std::size_t, Where>> {
 protected:
  RealClient() : client_(clients()[std::get<0>(GetParam())]), where_(std::get<1>(GetParam())), site_(where_.who) {
    write_file(files_ / "secret", kSecret);
    commit_ = make_git_repo(files_ / "repo");
    EXPECT_EQ(run_program({"/usr/bin/git", "update-server-info"}, {.cwd = files_ / "repo"}).exit_code, 0);
    certificate_ = Certificate::make(files_.path(), "DNS:web.test,DNS:localhost");
    site_.put("cert.pem", read_file(certificate_.certificate));
  }

  // Where the client must show what it fetched; git says no more than that there was something.
  [[nodiscard]] bool shows(const nlohmann::json& record) const {
    const std::string all = record.value("stdout", "") + record.value("stderr", "");
    const bool is_git = client_.name.starts_with("git");
    return record.value("exit_code", -1) == 0 && (is_git || all.find(kSecret) != std::string::npos);
  }

  nlohmann::json fetch(JailKind jail, Words options, const Url& url) {
    options.insert(options.end(), client_.options.begin(), client_.options.end());
    options.insert(options.end(), {"--timeout", "60s"});
    // That jail cannot close a part of what it opens.
    if (jail == JailKind::kLandlock && client_.name.starts_with("git")) options.emplace_back("--writable-git");
    return site_.run(jail, options, client_.command(site_, url));
  }

  void reaches_only_what_is_allowed(bool tls) {
    Server server(files_below(files_.path()), tls ? std::optional(certificate_) : std::nullopt);
    const std::string port = ":" + std::to_string(server.port());
    // TLS by the usual port, whose connections must be TLS; HTTP by a port of its own.
    const std::string host = tls ? "web.test" : "web.test" + port;
    const Words allowed = {"--allow-host", host + "=" + server.target()};

    const nlohmann::json reached = fetch(where_.jail, allowed, {tls, host});
    EXPECT_TRUE(shows(reached)) << reached;
    EXPECT_EQ(reached["denials"], nlohmann::json::array()) << reached;
    const int heard = server.heard();
    EXPECT_GT(heard, 0);

    expect_denied(fetch(where_.jail, allowed, {tls, "other.test" + port}), "other.test", "host not allowed");
    expect_denied(fetch(where_.jail, allowed, {tls, "192.0.2.7" + port}), "192.0.2.7", "address without a name");
    // The jail's loopback is the tool's own but for the allowed ports.
    const nlohmann::json loopback = fetch(where_.jail, allowed, {tls, "127.0.0.1" + port});
    if (!tls) expect_denied(loopback, "127.0.0.1", "address without a name");
    EXPECT_FALSE(shows(loopback)) << loopback;
    EXPECT_EQ(server.heard(), heard) << "a refused connection arrived";

    // The server was there to be reached: without a jail the same gets there.
    static_cast<void>(fetch(JailKind::kNone, {"--allow-unjailed"}, {tls, "127.0.0.1" + port}));
    EXPECT_GT(server.heard(), heard);
  }

  const Client& client_;
  Where where_;
  Site site_;
  TempDir files_;
  std::string commit_;
  Certificate certificate_;
};

TEST_P(RealClient, ReachesTheAllowedHostAndNoOtherOverHttp_C23_C24) {
  if (client_.name == "java" && !fs::exists("/usr/bin/javac")) GTEST_SKIP() << "no JDK here";
  reaches_only_what_is_allowed(false);
}

class RealTlsClient : public RealClient {};

TEST_P(RealTlsClient, ReachesTheAllowedHostAndNoOtherOverTls_C23_C24) { reaches_only_what_is_allowed(true); }

std::vector<std::size_t> tls_clients() {
  std::vector<std::size_t> speaking;
  for (std::size_t i = 0; i < clients().size(); ++i) {
    if (clients()[i].speaks_tls) speaking.push_back(i);
  }
  return speaking;
}

std::string name_of_test(const testing::TestParamInfo<RealClient::ParamType>& test) {
  return std::string(clients()[std::get<0>(test.param)].name) + "_" + name_of(std::get<1>(test.param));
}

INSTANTIATE_TEST_SUITE_P(, RealClient,
                         testing::Combine(testing::Range(std::size_t{0}, clients().size()),
                                          testing::ValuesIn(everywhere())),
                         name_of_test);
INSTANTIATE_TEST_SUITE_P(, RealTlsClient,
                         testing::Combine(testing::ValuesIn(tls_clients()), testing::ValuesIn(everywhere())),
                         name_of_test);

}  // namespace
}  // namespace sallyport::test
