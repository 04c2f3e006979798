"""The other sandboxes: is it installed, which version, and the command that runs a job in it.

Each one gets options to do what the native jail does, as far as its own options go: no network, the system and the repo
read-only, processes, hosts' names and IPC of its own. `setup` says so in words, for docs/benchmarks.md.
"""

import json
import os
import resource
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

SYSTEM_LINKS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
DEVICES = ("null", "zero", "full", "random", "urandom")


@dataclass
class Job:
    """One job as the peers see it."""

    name: str
    argv: list
    repo: Path
    writable: bool = False
    network: bool = False  # the registry on a loopback address; a peer without an allowlist gets the host's network
    registry: str = ""  # host and port of it
    ours: list = None  # the same for our gate, where that is said differently
    more: dict = field(default_factory=dict)  # for the measuring program: rounds, parallel, bytes


class Peer:
    name = ""
    program = ""
    setup = ""
    slow = True
    slowest = ()  # the jobs it does just once, or the comparison would take an hour

    def __init__(self, build, work):
        self.build = build
        self.work = work
        self.path = self.find()

    def find(self):
        return shutil.which(self.program, path="/usr/bin:/usr/sbin:/bin:/sbin")

    def version(self):
        text = subprocess.run([self.path, "--version"], capture_output=True, text=True).stdout.strip()
        return text.splitlines()[0].split()[-1] if text else "unknown"

    def command(self, job):
        raise NotImplementedError


class Bwrap(Peer):
    name = program = "bwrap"
    slow = False
    setup = ("`--unshare-all --unshare-user --new-session --die-with-parent --cap-drop ALL`, uid 1000, `/usr` and the "
             "repo by `--ro-bind`, own `/proc`, `/dev` and `/tmp`; no seccomp filter (it has none of its own)")

    def command(self, job):
        bind = "--bind" if job.writable else "--ro-bind"
        net = ["--share-net"] if job.network else []
        names = [name for name in SYSTEM_LINKS if os.path.islink(f"/{name}")]
        links = [word for name in names for word in ("--symlink", f"usr/{name}", f"/{name}")]
        system = [word for path in ("/usr", "/etc/ssl/certs", "/etc/alternatives") for word in ("--ro-bind", path, path)]
        return [self.path, "--unshare-all", *net, "--unshare-user", "--new-session", "--die-with-parent", "--uid",
                "1000", "--gid", "1000", "--cap-drop", "ALL", *system, *links, "--proc", "/proc", "--dev", "/dev",
                "--tmpfs", "/tmp", bind, str(job.repo), str(job.repo), bind, str(job.repo), "/work", "--chdir",
                str(job.repo), "--setenv", "HOME", "/tmp", "--", *job.argv]


class Firejail(Peer):
    name = program = "firejail"
    setup = ("`--noprofile --net=none --private-dev --private-tmp --caps.drop=all --seccomp --nonewprivs`, `/usr` and "
             "the repo `--read-only`; the rest of the host's files stay visible")

    def command(self, job):
        net = [] if job.network else ["--net=none"]
        repo = [] if job.writable else [f"--read-only={job.repo}"]
        return [self.path, "--quiet", "--noprofile", *net, "--private-dev", "--private-tmp", "--caps.drop=all",
                "--seccomp", "--nonewprivs", "--read-only=/usr", *repo, "--", *job.argv]


class Container(Peer):
    """A root directory of the host's own /usr, made without any image."""

    def rootfs(self, job):
        root = self.work / "rootfs"
        places = ("usr", "etc/ssl/certs", "etc/alternatives", "proc", "dev", "sys", "tmp", "work", str(job.repo)[1:])
        for name in places:
            (root / name).mkdir(parents=True, exist_ok=True)
        for name in SYSTEM_LINKS:
            if os.path.islink(f"/{name}") and not os.path.lexists(root / name):
                (root / name).symlink_to(f"usr/{name}")
        return root

    def bundle(self, job):
        place = self.work / f"bundle-{self.name}-{job.name}"
        place.mkdir(parents=True, exist_ok=True)
        (place / "config.json").write_text(json.dumps(self.config(job)))
        return place

    def config(self, job):
        def bind(path, *options, to=None):
            return {"destination": str(to or path), "type": "bind", "source": str(path), "options": ["rbind", *options]}

        kinds = ["pid", "ipc", "uts", "mount"] + ([] if job.network else ["network"])
        mode = "rw" if job.writable else "ro"
        quiet = ["nosuid", "noexec", "nodev"]
        return {
            "ociVersion": "1.0.2",
            "root": {"path": str(self.rootfs(job)), "readonly": True},
            "hostname": "bench",
            "process": {"args": job.argv, "cwd": str(job.repo), "env": ["PATH=/usr/bin:/bin", "HOME=/tmp"],
                        "user": {"uid": 0, "gid": 0}, "noNewPrivileges": True,
                        "capabilities": {kind: [] for kind in ("bounding", "effective", "permitted", "inheritable")}},
            "mounts": [
                {"destination": "/proc", "type": "proc", "source": "proc"},
                {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
                 "options": ["nosuid", "mode=755", "size=65536k"]},
                {"destination": "/dev/pts", "type": "devpts", "source": "devpts",
                 "options": ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"]},
                {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": [*quiet, "mode=1777"]},
                {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs",
                 "options": ["nosuid", "nodev", "mode=1777"]},
                bind("/usr", "ro"), bind("/etc/ssl/certs", "ro"), bind("/etc/alternatives", "ro"),
                bind(job.repo, mode), bind(job.repo, mode, to="/work")],
            "linux": {"namespaces": [{"type": kind} for kind in kinds], **self.seccomp(),
                      "maskedPaths": ["/proc/kcore", "/proc/keys", "/proc/timer_list"],
                      "readonlyPaths": ["/proc/sys", "/proc/sysrq-trigger"]}}

    def seccomp(self):
        return {}


class Runc(Container):
    name = program = "runc"
    setup = ("a bundle over the host's `/usr`, read-only root, own pid, ipc, uts, mount and network namespaces (no user "
             "namespace), no capabilities, a short seccomp list; each run makes and removes a cgroup")

    def seccomp(self):
        refused = ["mount", "umount2", "pivot_root", "ptrace", "bpf", "unshare", "setns", "keyctl", "add_key",
                   "request_key"]
        return {"seccomp": {"defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64"],
                            "syscalls": [{"names": refused, "action": "SCMP_ACT_ERRNO"}]}}

    def command(self, job):
        return [self.path, "--root", str(self.work / "runc"), "run", "--bundle", str(self.bundle(job)), "bench-{n}"]


class Runsc(Container):
    name = program = "runsc"
    slowest = ("rg",)
    setup = ("gVisor as Debian has it, the same bundle, `--network=none`, its default platform; the tool runs on "
             "gVisor's own kernel, which is a stronger wall than any other here")

    def command(self, job):
        net = "host" if job.network else "none"
        return [self.path, "--root", str(self.work / "runsc"), f"--network={net}", "run", "--bundle",
                str(self.bundle(job)), "bench-{n}"]


class Podman(Container):
    name = program = "podman"
    setup = ("`podman run --rm --rootfs` over the host's `/usr`, `--read-only --network=none --cap-drop=all "
             "--security-opt=no-new-privileges`, with runc (crun refuses hosts with cgroup v1)")

    def limits(self):
        # It lowers its own to 32768 processes, then asks for more again, which not even every root may.
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        processes = min(resource.getrlimit(resource.RLIMIT_NPROC)[1] % (1 << 64), 32768)
        return [f"--ulimit=nofile={files}:{files}", f"--ulimit=nproc={processes}:{processes}"]

    def command(self, job):
        mode = "rw" if job.writable else "ro"
        binds = ["/usr:/usr:ro", "/etc/ssl/certs:/etc/ssl/certs:ro", "/etc/alternatives:/etc/alternatives:ro",
                 f"{job.repo}:{job.repo}:{mode}", f"{job.repo}:/work:{mode}"]
        volumes = [word for bind in binds for word in ("-v", bind)]
        net = "host" if job.network else "none"
        return [self.path, "--runtime", "runc", "--cgroup-manager=cgroupfs", "--root", str(self.work / "podman"), "run",
                "--rm", f"--network={net}", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges",
                "--log-driver=none", *self.limits(), *volumes, "-w", str(job.repo), "-e", "HOME=/tmp", "--rootfs",
                str(self.rootfs(job)), *job.argv]


class FromNpm(Peer):
    package = ""

    def find(self):
        path = self.build / "peers/node_modules/.bin" / self.program
        return str(path) if path.exists() else None

    def version(self):
        text = (self.build / "peers/node_modules" / self.package / "package.json").read_text()
        return json.loads(text)["version"]


class SandboxRuntime(FromNpm):
    name = "sandbox-runtime"
    program = "srt"
    package = "@anthropic-ai/sandbox-runtime"
    setup = "its settings with no allowed domain and no writable path (bwrap, socat and its own proxies do the work)"

    def command(self, job):
        settings = self.work / f"srt-{job.name}.json"
        hosts = [job.registry.split(":")[0]] if job.network else []
        writable = [str(job.repo), "/tmp"] if job.writable else []
        settings.write_text(json.dumps({
            "network": {"allowedDomains": hosts, "deniedDomains": []},
            "filesystem": {"denyRead": [], "allowWrite": writable, "denyWrite": []}}))
        return [self.path, "--settings", str(settings), "--", *job.argv]


class Codex(FromNpm):
    name = "codex sandbox"
    program = "codex"
    package = "@openai/codex"
    setup = "`codex sandbox` with its defaults: everything read-only, no network (its own bwrap, seccomp)"

    def command(self, job):
        home = self.work / "codex-home"
        home.mkdir(exist_ok=True)
        wider = []
        if job.writable:
            wider = ["-c", 'sandbox_mode="workspace-write"', "-c", "sandbox_workspace_write.network_access=true"]
        return ["/usr/bin/env", f"CODEX_HOME={home}", self.path, "sandbox", *wider, "--", *job.argv]


ALL = (Bwrap, Firejail, Runc, Runsc, Podman, SandboxRuntime, Codex)
