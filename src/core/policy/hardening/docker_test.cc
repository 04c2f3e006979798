#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/policy/hardening.h"
#include "core/policy/hardening/hardeners.h"
#include "core/policy/hardening/test_calls.h"

namespace sallyport::hardening {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(HardenDocker, ClosesEveryContainer_C28) {
  EXPECT_THAT(hardened({"docker", "run", "--rm", "alpine", "--privileged"})->argv,
              ElementsAre("docker", "run", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges",
                          "--label=sallyport.gate=1", "--rm", "alpine", "--privileged"));
  EXPECT_THAT(hardened({"docker", "container", "create", "alpine"})->argv,
              ElementsAre("docker", "container", "create", "--network=none", "--cap-drop=ALL",
                          "--security-opt=no-new-privileges", "--label=sallyport.gate=1", "alpine"));
  EXPECT_THAT(hardened({"docker", "run", "--network", "none", "alpine"})->argv,
              ElementsAre("docker", "run", "--cap-drop=ALL", "--security-opt=no-new-privileges",
                          "--label=sallyport.gate=1", "--network", "none", "alpine"));
  EXPECT_THAT(hardened({"docker", "build", "."})->argv,
              ElementsAre("docker", "build", "--network=none", "--label=sallyport.image=1", "."));
  EXPECT_THAT(hardened({"docker", "ps", "-a"})->argv,
              ElementsAre("docker", "ps", "--filter=label=sallyport.gate", "-a"));
  EXPECT_THAT(hardened({"docker", "build", "."})->env, Contains(EnvVar{"DOCKER_BUILDKIT", "0"}));
}

TEST(HardenDocker, LetsOrdinaryCommandsThrough) {
  for (const Args& argv :
       std::vector<Args>{{"docker"},
                         {"docker", "--version"},
                         {"docker", "run", "-it", "-v", ".:/src:ro", "-e", "A=b", "alpine"},
                         {"docker", "run", "--rm=true", "-v.:/src:ro", "alpine", "sh", "-c", "x"},
                         {"docker", "run", "-itv", ".:/src:ro", "alpine"},
                         {"docker", "run", "--rm", "-d=false", "-u=1000", "-w", "/src", "--", "alpine"},
                         {"docker", "run", "--name", "sallyport-a1", "-d", "alpine"},
                         {"docker", "build", "-t", "x:1", "--file=sub/Dockerfile", "--build-arg", "A=b", "sub"},
                         {"docker", "build", ".", "-t", "x", "--no-cache"},
                         {"docker", "image", "build", "./sub/dir"},
                         {"docker", "rm", "-fv", "sallyport-a1", "sallyport-b"},
                         {"docker", "logs", "sallyport-a1", "--tail", "10", "-ft"},
                         {"docker", "inspect", "-f", "{{.State.ExitCode}}", "sallyport-a1"},
                         {"docker", "container", "wait", "sallyport-a1"},
                         {"docker", "stop", "-t3", "sallyport-a1"},
                         {"docker", "ps", "-aq", "--filter", "status=exited"},
                         {"docker", "images", "-q", "alpine"},
                         {"docker", "pull", "alpine:3"},
                         {"docker", "rmi", "sallyport-x:1"},
                         {"docker", "version", "--format", "{{.Client.Version}}"}}) {
    EXPECT_TRUE(hardened(argv).has_value()) << testing::PrintToString(argv) << message(hardened(argv));
  }
}

TEST(HardenDocker, RefusesWhatGivesTheHostAway_C28) {
  for (const Args& argv : std::vector<Args>{{"docker", "run", "--privileged", "alpine"},
                                            {"docker", "run", "--privileged=true", "alpine"},
                                            {"docker", "run", "--cap-add=ALL", "alpine"},
                                            {"docker", "run", "--network=host", "alpine"},
                                            {"docker", "run", "--net", "bridge", "alpine"},
                                            {"docker", "run", "--security-opt", "seccomp=unconfined", "alpine"},
                                            {"docker", "run", "--pid=host", "alpine"},
                                            {"docker", "run", "--ipc=host", "alpine"},
                                            {"docker", "run", "--uts=host", "alpine"},
                                            {"docker", "run", "--userns=host", "alpine"},
                                            {"docker", "run", "-v", "/:/host", "alpine"},
                                            {"docker", "run", "-v/:/host:ro", "alpine"},
                                            {"docker", "run", "-v=/:/host:ro", "alpine"},
                                            {"docker", "run", "--volume=/:/host", "alpine"},
                                            {"docker", "run", "-v", "./link:/host:ro", "alpine"},
                                            {"docker", "run", "-v", ".:/src", "alpine"},
                                            {"docker", "run", "-v", ".:/src:ro:rw", "alpine"},
                                            {"docker", "run", "-v", "other_volume:/x:ro", "alpine"},
                                            {"docker", "run", "-v", "/var/run/docker.sock:/s", "alpine"},
                                            {"docker", "run", "-itv", "/:/host", "alpine"},
                                            {"docker", "run", "-it=x", "alpine"},
                                            {"docker", "run", "--mount", "type=bind,src=/,dst=/h", "alpine"},
                                            {"docker", "run", "--device=/dev/kmsg", "alpine"},
                                            {"docker", "run", "--volumes-from=x", "alpine"},
                                            {"docker", "run", "--env-file", "/etc/passwd", "alpine"},
                                            {"docker", "run", "--cidfile", "/x", "alpine"},
                                            {"docker", "run", "--name", "web", "alpine"},
                                            {"docker", "run", "--name=sallyport-../x", "alpine"},
                                            {"docker", "run", "-l", "sallyport.gate=", "alpine"},
                                            {"docker", "run", "--rm"},
                                            {"docker", "run", "--name"},
                                            {"docker", "-H", "unix:///x", "ps"},
                                            {"docker", "--context=x", "ps"},
                                            {"docker", "--config", "x", "ps"},
                                            {"docker", "cp", "x:/a", "/b"},
                                            {"docker", "exec", "sallyport-x", "sh"},
                                            {"docker", "attach", "sallyport-x"},
                                            {"docker", "compose", "up"},
                                            {"docker", "buildx", "build", "."},
                                            {"docker", "builder", "build", "."},
                                            {"docker", "container", "cp", "x:/a", "b"},
                                            {"docker", "container"}}) {
    EXPECT_TRUE(refused(argv)) << testing::PrintToString(argv);
  }
}

TEST(HardenDocker, ChecksEveryArgumentOfABuildWhereverItStands_C28_C34) {
  const std::vector<Args> options = {{"--network=host"},
                                     {"--network", "host"},
                                     {"--allow=security.insecure"},
                                     {"--allow", "network.host"},
                                     {"--secret", "id=x,src=/etc/shadow"},
                                     {"--ssh=default"},
                                     {"-o", "/tmp/x"},
                                     {"-o=type=local,dest=/"},
                                     {"--output=type=local,dest=/"},
                                     {"--build-context", "x=/"},
                                     {"--iidfile=/x"},
                                     {"--metadata-file=/x"},
                                     {"--cache-to=type=local,dest=/x"},
                                     {"--cache-from=type=local,src=/x"},
                                     {"--builder=x"},
                                     {"--add-host=x:1.2.3.4"},
                                     {"--cgroup-parent=/"},
                                     {"--isolation=x"},
                                     {"--security-opt=seccomp=unconfined"},
                                     {"--ulimit=nofile=1"},
                                     {"--push"},
                                     {"--sbom=true"},
                                     {"--build-arg", "BUILDKIT_SYNTAX=x/y"},
                                     {"--build-arg=BUILDKIT_SYNTAX=x/y"},
                                     {"--label=sallyport.gate=0"},
                                     {"-f", "/etc/passwd"},
                                     {"-f/etc/passwd"},
                                     {"-qf../x"},
                                     {"--file=../Dockerfile"},
                                     {"-f", "-"},
                                     {"-f", "https://host.test/Dockerfile"},
                                     {"--invented"}};
  for (const Args& option : options) {
    Args before = {"docker", "build"};
    before.insert(before.end(), option.begin(), option.end());
    before.emplace_back(".");
    EXPECT_TRUE(refused(before)) << testing::PrintToString(before);
    Args after = {"docker", "build", "."};
    after.insert(after.end(), option.begin(), option.end());
    EXPECT_TRUE(refused(after)) << testing::PrintToString(after);
  }
  for (const char* context : {"/", "/etc", "..", "../x", "a/../../x", "-", "https://host.test/x", "git://host.test/x",
                              "git@host.test:x", "github.com/x/y", "ssh://host.test/x", "x.git#main", ""}) {
    EXPECT_TRUE(refused({"docker", "build", context})) << context;
    EXPECT_TRUE(refused({"docker", "build", "--", context})) << context;
  }
  EXPECT_TRUE(refused({"docker", "build"}));
  EXPECT_TRUE(refused({"docker", "build", ".", "sub"}));
}

TEST(HardenDocker, ReachesOnlyContainersOfItsOwnNames_C28) {
  for (const char* command : {"start", "stop", "kill", "rm", "wait", "logs", "inspect", "top", "diff"}) {
    for (const char* name : {"web", "0123456789ab", "sallyport", "sallyport-", "xsallyport-a", "sallyport-a/b", ""}) {
      EXPECT_TRUE(refused({"docker", command, name})) << command << ' ' << name;
      EXPECT_TRUE(refused({"docker", command, "--", name})) << command << ' ' << name;
      EXPECT_TRUE(refused({"docker", "container", command, "sallyport-a", name})) << command << ' ' << name;
    }
    EXPECT_TRUE(refused({"docker", command})) << command;
    EXPECT_TRUE(refused({"docker", command, "--invented", "sallyport-a"})) << command;
    EXPECT_TRUE(hardened({"docker", command, "sallyport-a"}).has_value()) << command;
  }
  EXPECT_TRUE(refused({"docker", "inspect", "--type=volume", "sallyport-a"}));
  EXPECT_TRUE(refused({"docker", "start", "--checkpoint=x", "sallyport-a"}));
  EXPECT_TRUE(refused({"docker", "rmi", "alpine"}));
  EXPECT_TRUE(refused({"docker", "image", "rm", "-f", "0123456789ab"}));
  EXPECT_TRUE(refused({"docker", "ps", "web"}));
  EXPECT_TRUE(refused({"docker", "pull", "--all-tags", "x"}));
}

TEST(DockerFacts, SayWhy) {
  for (const HardeningFact& fact : hardening_facts(*Allowlist::builtin().find("docker")))
    EXPECT_FALSE(fact.what.empty() || fact.why.empty());
}

}  // namespace
}  // namespace sallyport::hardening
