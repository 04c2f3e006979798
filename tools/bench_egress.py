#!/usr/bin/env python3
"""The same download and the same npm install: bare, in sallyport's jails, in npm's @anthropic-ai/sandbox-runtime.

  usage: tools/bench_egress.py [--rounds N] [--mib N]      (make bench-egress; after make bench-peers)

Everything over loopback, in turns, medians. The peer's proxy looks names up as the host does, so the script runs in a
mount namespace with an /etc/hosts of its own; it needs root or user namespaces. It names what is not installed and leaves it out.
"""
import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLI = ROOT / "build/bench/bin/sallyport"
PEER = ROOT / "build/peers/node_modules/@anthropic-ai/sandbox-runtime"
VERDACCIO = ROOT / "build/npm/node_modules/verdaccio/bin/verdaccio"
PACKAGES = 12
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
POLICY = """schema = "sallyport.policy/1"
[[tool]]
name = "curl"
decision_record = "bench"
reason = "a client"
[[tool]]
name = "npm"
decision_record = "bench"
reason = "a client"
"""
REGISTRY = """storage: ./storage
auth: { htpasswd: { file: ./htpasswd, max_users: -1 } }
uplinks: {}
packages: { '**': { access: $all, publish: $anonymous } }
web: { enable: false }
log: { type: stdout, format: json, level: warn }
"""


def say(text):
    print(text, flush=True)


def enter_own_hosts(place):
    """Again, in a mount namespace where bulk.test and registry.test are this machine."""
    hosts = place / "hosts"
    hosts.write_text("127.0.0.1 localhost bulk.test registry.test\n")
    script = 'mount --bind "$1" /etc/hosts && shift && exec "$@"'
    options = ["--mount"] if os.geteuid() == 0 else ["--mount", "--user", "--map-root-user"]
    argv = ["unshare", *options, "sh", "-c", script, "sh", str(hosts), sys.executable, *sys.argv, "--inside", str(place)]
    return subprocess.run(argv, check=False).returncode


def serve_file(path):
    """HTTP answers with this file, by sendfile; for as long as the process lives. Returns the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    size = path.stat().st_size

    def answer(client):
        with client, path.open("rb") as body:
            if not client.recv(4096):  # a request is smaller than that; none came
                return
            client.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % size)
            client.sendfile(body)

    def serve():
        while True:
            threading.Thread(target=answer, args=[listener.accept()[0]], daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def start_registry(place):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    (place / "registry").mkdir()
    (place / "registry/config.yaml").write_text(REGISTRY)
    program = subprocess.Popen(["node", str(VERDACCIO), "--config", "config.yaml", "--listen", f"127.0.0.1:{port}"],
                               cwd=place / "registry", env=ENVIRONMENT | {"HOME": str(place)}, stdout=subprocess.PIPE)
    while b"http address" not in program.stdout.readline():
        pass
    for number in range(PACKAGES):
        package = place / f"package{number}"
        package.mkdir()
        (package / "package.json").write_text(json.dumps({"name": f"@made/p{number}", "version": "1.0.0"}))
        for file in range(50):
            (package / f"file{file}.js").write_text(f"module.exports = {file};\n" * 100)
        url = f"http://127.0.0.1:{port}/"
        subprocess.run(["npm", "publish", "--silent", "--registry", url, f"--//127.0.0.1:{port}/:_authToken=none",
                        "--userconfig", "/dev/null"], cwd=package, env=ENVIRONMENT | {"HOME": str(place)}, check=True,
                       stdout=subprocess.DEVNULL)
    return program, port


def contestants(place, repo):
    """Name -> how it starts a tool that may reach one host and write into the repo."""
    policy = place / "policy.toml"
    policy.write_text(POLICY)

    def ours(jail):
        return lambda tool, host, port: [str(CLI), "run", "--jail", jail, "--policy", str(policy), "--repo", str(repo),
                                         "--writable-repo", "--allow-host", f"{host}:{port}=127.0.0.1:{port}", "--", *tool]

    found = {"bare": lambda tool, host, port: tool}
    if CLI.exists():
        found["sallyport, native jail"] = ours("native")
        if shutil.which("bwrap"):
            found["sallyport, bwrap jail"] = ours("bwrap")
    else:
        say("not measured: sallyport is not built (make bench)")
    missing = [name for name in ("bwrap", "socat", "rg") if not shutil.which(name)]
    if not PEER.exists() or missing:
        say(f"not measured: sandbox-runtime ({'not installed' if not PEER.exists() else 'it needs ' + ', '.join(missing)})")
        return found
    settings = place / "srt.json"

    def theirs(tool, host, port):
        # The address too, or a name that leads to this machine is refused; as our rules need their =ADDR:PORT.
        settings.write_text(json.dumps({
            "network": {"allowedDomains": [host, f"127.0.0.1:{port}"], "deniedDomains": []},
            "filesystem": {"denyRead": [], "allowWrite": [str(repo), "/tmp"], "denyWrite": []}}))
        return ["node", str(PEER / "dist/cli.js"), "--settings", str(settings), "--", *tool]

    version = json.loads((PEER / "package.json").read_text())["version"]
    found[f"sandbox-runtime {version}"] = theirs
    return found


def table(title, columns, rows):
    say(f"\n{title}\n{'':<28}" + "".join(f"{column:>16}" for column in columns))
    base = next(iter(rows.values()))
    for name, values in rows.items():
        cells = [f"{value:.3f} ({value / reference:.2f})" for value, reference in zip(values, base)]
        say(f"{name:<28}" + "".join(f"{cell:>16}" for cell in cells))


def run(argv, repo):
    start = time.monotonic()
    done = subprocess.run(argv, cwd=repo, env=ENVIRONMENT | {"HOME": str(repo.parent)}, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"bench_egress: failed: {' '.join(argv)}\n{done.stdout}{done.stderr}")
    return time.monotonic() - start, done.stdout


def compare_downloads(ways, repo, port, mib, rounds):
    times = {name: [] for name in ways}
    tool = ["curl", "--silent", "--output", "/dev/null", "--write-out", "%{size_download} %{time_total}",
            f"http://bulk.test:{port}/"]
    for _ in range(rounds):
        for name, way in ways.items():
            whole, said = run(way(tool, "bulk.test", port), repo)
            size, transfer = said.split()[-2:]
            if int(size) != mib << 20:
                sys.exit(f"bench_egress: {name}: {said}")
            times[name].append((float(transfer), whole))
    table(f"curl, {mib} MiB: seconds (ratio)", ["transfer", "whole command"],
          {name: [statistics.median(one) for one in zip(*values)] for name, values in times.items()})


def compare_installs(ways, repo, port, rounds):
    dependencies = {f"@made/p{number}": "1.0.0" for number in range(PACKAGES)}
    (repo / "package.json").write_text(json.dumps({"name": "theirs", "version": "1.0.0", "dependencies": dependencies}))
    times = {name: [] for name in ways}
    tool = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--registry", f"http://registry.test:{port}/"]
    for _ in range(rounds):
        for name, way in ways.items():
            for left in (repo / "node_modules", repo.parent / ".npm"):
                shutil.rmtree(left, ignore_errors=True)
            (repo / "package-lock.json").unlink(missing_ok=True)
            times[name].append([run(way(tool, "registry.test", port), repo)[0]])
            if len(list((repo / "node_modules/@made").iterdir())) != PACKAGES:
                sys.exit(f"bench_egress: {name}: not everything was installed")
    table(f"npm install of {PACKAGES} packages: seconds (ratio)", ["whole command"],
          {name: [statistics.median(one) for one in zip(*values)] for name, values in times.items()})


def measure(place, options):
    repo = place / "repo"
    repo.mkdir()
    ways = contestants(place, repo)
    bulk = place / "bulk"
    with bulk.open("wb") as file:
        for _ in range(options.mib):
            file.write(b"b" * (1 << 20))
    compare_downloads(ways, repo, serve_file(bulk), options.mib, options.rounds)
    if not VERDACCIO.exists():
        return say("not measured: npm install, no registry is installed (tools/npm_packages.sh)")
    registry, port = start_registry(place)
    try:
        compare_installs(ways, repo, port, options.rounds)
    finally:
        registry.terminate()
        registry.wait()
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return measure(options.inside, options)
    with tempfile.TemporaryDirectory(prefix="sallyport-bench-") as place:
        return enter_own_hosts(Path(place))


if __name__ == "__main__":
    sys.exit(main())
