"""Requests that would give the host away through docker's daemon, and Dockerfiles that ask for it.

No daemon runs here. A stand-in named docker, in a directory of the caller's, reads its arguments as docker does and acts
out what the daemon, which runs as root, would do for them: it fires the canary. What it does not act out is harmless to it.
"""

from museum import Case, Room

STAND_IN = r'''#!/usr/bin/python3
import os, re, sys

CANARY = "@CANARY@"
words = sys.argv[1:]
text = "\n".join(words)


def fire(why):
    with open(CANARY, "a", encoding="utf-8") as canary:
        canary.write(why + "\n")


def value_of(*names):
    """The values of an option, wherever it stands: --name=x, --name x, -nx, -n x."""
    found = []
    for at, word in enumerate(words):
        for name in names:
            if word == name and at + 1 < len(words):
                found.append(words[at + 1])
            elif word.startswith(name + "="):
                found.append(word[len(name) + 1:])
            elif len(name) == 2 and not word.startswith("--") and word.startswith(name) and len(word) > 2:
                found.append(word[2:].removeprefix("="))
    return found


def leaves(path):
    return os.path.commonpath([os.path.realpath(path), os.getcwd()]) != os.getcwd()


command = next((word for word in words if not word.startswith("-")), "")
operands = [word for word in words[words.index(command) + 1:] if not word.startswith("-")] if command else []
if "-H" in words or "--host" in text:
    fire("another daemon")
if any(net in ("host", "bridge") for net in value_of("--network", "--net")):
    fire("the host's network")
for option in ("--privileged", "--cap-add", "--device", "--pid", "--secret", "--ssh", "--allow", "--build-context", "--mount",
               "--iidfile", "--output", "--cgroup-parent"):
    if any(word == option or word.startswith(option + "=") for word in words):
        fire(option)
if value_of("-o"):
    fire("an output on the host")
for volume in value_of("-v", "--volume"):
    source = volume.split(":")[0]
    if ":" in volume and (source.startswith("/") and leaves(source) or not volume.endswith(":ro")):
        fire("a mount of the host")
if command == "build":
    for context in operands[-1:]:
        if "://" in context or leaves(context):
            fire("a context that is not the repo's")
    for file in value_of("-f", "--file"):
        if leaves(file):
            fire("a Dockerfile that is not the repo's")
    if operands and leaves(os.path.join(operands[-1], "Dockerfile")):
        fire("a Dockerfile that is not the repo's")
    dockerfile = "Dockerfile"
    if os.path.exists(dockerfile) and os.environ.get("DOCKER_BUILDKIT") != "0":
        content = open(dockerfile, encoding="utf-8").read()
        if re.search(r"^#\s*syntax\s*=", content, re.M):
            fire("a frontend of the repo's choice")
    if os.path.exists(dockerfile) and not any(net == "none" for net in value_of("--network")):
        if "RUN wget" in open(dockerfile, encoding="utf-8").read():
            fire("a build with the network")
if command in ("rm", "kill", "logs", "inspect", "start", "stop", "exec", "cp"):
    if any("precious" in word for word in operands):
        fire("a container of the host")
if command in ("compose", "exec", "cp"):
    fire("a command that reaches the host")
if command == "ps" and "label=sallyport.gate" not in text:
    fire("the list of the host's containers")
if command == "run" and value_of("--security-opt") != ["no-new-privileges"]:
    fire("set-id programs gain rights")
'''


def stand_in(room: Room):
    path = room.root / "bin" / "docker"
    path.parent.mkdir()
    path.write_text(STAND_IN.replace("@CANARY@", str(room.canary)), encoding="utf-8")
    path.chmod(0o755)
    room.path = f"{path.parent}:{room.path}"


def dockerfile(text):
    def make(room):
        stand_in(room)
        room.write("Dockerfile", text)
    return make


PLAIN = dockerfile("FROM scratch\n")


def linked_context(room):
    PLAIN(room)
    (room.repo / "context").symlink_to("/etc")


def linked_dockerfile(name):
    def make(room):
        stand_in(room)
        (room.repo / name).symlink_to("/etc/passwd")
    return make


NEEDS = ["python3"]


def case(name, why, argv, gate="refused", make=PLAIN):
    return Case(name, why, make, ["docker", *argv], gate, needs=NEEDS)


CASES = [
    case("build_network_behind_context", "an option behind the context opens the host's network",
         ["build", ".", "--network=host"]),
    case("build_secret", "a file of the host is handed to the build", ["build", ".", "--secret", "id=x,src=/etc/shadow"]),
    case("build_ssh", "the caller's ssh agent is handed to the build", ["build", "--ssh=default", "."]),
    case("build_output", "the build's files are written to the host", ["build", ".", "-o", "/somewhere"]),
    case("build_context_named", "a second context is a directory of the host",
         ["build", "--build-context", "x=/etc", "."]),
    case("build_allow", "an entitlement lets RUN have every right", ["build", ".", "--allow=security.insecure"]),
    case("build_outside", "the context is a directory of the host", ["build", "/etc"]),
    case("build_climbs", "the context leaves the repo", ["build", "sub/../.."]),
    case("build_url", "the context is a stranger's repo", ["build", "https://host.test/x.git"]),
    case("build_file_outside", "the Dockerfile is a file of the host", ["build", "-f/etc/passwd", "."]),
    case("build_linked_context", "the context is a symlink to a directory of the host", ["build", "context"], make=linked_context),
    case("build_below_linked_context", "the context lies behind a symlink to a directory of the host", ["build", "context/ssl/"],
         make=linked_context),
    case("build_linked_file", "the Dockerfile is a symlink to a file of the host", ["build", "-f", "Dockerfile.x", "."],
         make=linked_dockerfile("Dockerfile.x")),
    case("build_linked_usual_file", "the Dockerfile that nobody names is a symlink to a file of the host", ["build", "."],
         make=linked_dockerfile("Dockerfile")),
    case("build_with_network", "a RUN that reaches out, in a build that nobody closed", ["build", "."], "silent",
         dockerfile("FROM scratch\nRUN wget http://host.test/\n")),
    case("build_frontend", "# syntax= names an image that interprets the Dockerfile as a client of the daemon",
         ["build", "--network=none", "."], "silent", dockerfile("# syntax=host.test/evil\nFROM scratch\n")),
    case("run_mount", "a cluster of short options ends in a mount of the host", ["run", "-itv", "/etc:/host", "alpine"]),
    case("run_privileged", "the container gets every right", ["run", "--privileged=true", "alpine"]),
    case("run_setid", "set-id programs of the image gain rights", ["run", "--rm", "alpine"], "silent"),
    case("rm_of_the_host", "a container of the host is removed", ["rm", "-f", "precious"]),
    case("logs_of_the_host", "the output of a container of the host is read", ["logs", "precious", "--tail", "5"]),
    case("inspect_of_the_host", "the environment of a container of the host is read", ["inspect", "precious"]),
    case("ps_of_the_host", "the containers of the host are listed", ["ps", "--all"], "silent"),
    case("exec", "a program is started in a container of the host", ["exec", "precious", "sh"]),
    case("another_daemon", "an option before the command chooses the daemon", ["-H", "unix:///x", "ps"]),
    case("compose", "a plugin starts what the repo's compose file says", ["compose", "up"]),
]
