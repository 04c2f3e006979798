#!/usr/bin/env python3
"""What `sallyport validate` costs beside the npm commands it runs, bare and in npm's @anthropic-ai/sandbox-runtime, and what an
overlay costs an `npm ci` beside a repo that is bound.

  usage: tools/bench_validate.py [--rounds N] [--packages N] [--sallyport PROGRAM]        (make bench-validate)

`npm ci` and `npm test` of one project, everything over loopback, in turns, with a warm cache each. Prints the quartiles, and
those of each round's ratio to the bare one (the overlay's: to the bind) beside it. It names what is not installed and leaves it out.
"""
import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/validate"))
import registry  # noqa: E402

PEER = ROOT / "build/peers/node_modules/@anthropic-ai/sandbox-runtime"
FILES = 20


def make_project(repo, store, packages):
    wants, locked = {}, {}
    for number in range(packages):
        name = f"bench-{number}"
        store.publish(name, files={f"file{i}.js": f"module.exports = {i};\n" * 100 for i in range(FILES)})
        wants[name] = "1.0.0"
        locked[f"node_modules/{name}"] = registry.locked(name, store.tarballs[name])
    root = {"name": "theirs", "version": "1.0.0", "dependencies": wants}
    (repo / "package.json").write_text(json.dumps(root | {"scripts": {"test": "node -p 1"}}))
    (repo / "package-lock.json").write_text(json.dumps({"name": "theirs", "version": "1.0.0", "lockfileVersion": 3, "requires": True,
                                                        "packages": {"": root} | locked}))


def timed(argv, cwd, environment):
    start = time.monotonic()
    done = subprocess.run([str(word) for word in argv], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench_validate: failed: {argv}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.monotonic() - start, done.stdout


def ways(place, repo, store, sallyport):
    """Name -> a round: its seconds."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(place / "home"), "LANG": "C.UTF-8"}
    ci = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", f"--registry=http://{store.target}/",
          "--replace-registry-host=always", f"--cache={place / 'cache'}"]
    copy = place / "copy"

    def round_of(prefix):
        def one():
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(repo, copy)
            return timed([*prefix, *ci], copy, environment)[0] + timed([*prefix, "npm", "test"], copy, environment)[0]
        return one

    def ours():
        argv = [sallyport, "validate", repo, "--registry", f"http://{registry.NAME}={store.target}", "--json"]
        seconds, out = timed(argv, place, environment)
        record = json.loads(out)
        steps = sum(step["duration_us"] for stage in record["stages"] for step in stage["steps"]) / 1e6
        own.append(seconds - steps)
        return seconds

    own = []
    found = {"bare": round_of([]), "sallyport validate": ours}
    missing = [name for name in ("bwrap", "socat", "rg") if not shutil.which(name)]
    if PEER.exists() and not missing:
        settings = place / "srt.json"
        settings.write_text(json.dumps({
            "network": {"allowedDomains": ["127.0.0.1", store.target], "deniedDomains": []},
            "filesystem": {"denyRead": [], "allowWrite": [str(place), "/tmp"], "denyWrite": []}}))
        found["sandbox-runtime"] = round_of(["node", PEER / "dist/cli.js", "--settings", settings, "--"])
    else:
        print(f"not measured: sandbox-runtime ({'not installed' if not PEER.exists() else 'it needs ' + ', '.join(missing)})")
    return found, own


def layer_ways(place, repo, store, sallyport):
    """`npm ci` alone, in one jail, over a bound copy of the repo and over a workspace."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(place / "home"), "LANG": "C.UTF-8"}
    cache, copy = place / "jailed-cache", place / "bound"
    cache.mkdir()
    run = [sallyport, "run", "--no-audit", "--timeout", "10m", "--allow-host", f"{registry.NAME}={store.target}", "--rw", cache]
    ci = ["--", "npm", "ci", "--no-audit", "--no-fund", f"--registry=http://{registry.NAME}/", "--replace-registry-host=always",
          f"--cache={cache}"]

    def bind():
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(repo, copy)
        return timed([*run, "--repo", copy, "--writable-repo", *ci], copy, environment)[0]

    def overlay():
        subprocess.run([sallyport, "workspace", "discard", "bench"], env=environment, capture_output=True, check=False)
        return timed([*run, "--repo", repo, "--workspace", "bench", *ci], repo, environment)[0]

    return {"npm ci, bind": bind, "npm ci, overlay": overlay}


def measure(found, rounds):
    """Each way once to warm up, then in turns: seconds of the first run, and of the rounds."""
    cold = {way: run() for way, run in found.items()}
    times = {way: [] for way in found}
    for _ in range(rounds):
        for way, run in found.items():
            times[way].append(run())
    return cold, times


def show(cold, times):
    """Divides by the first way, round by round."""
    first = next(iter(times))
    for way, values in times.items():
        low, middle, high = quartiles(values)
        print(f"{way:<22} {low:.2f} {middle:.2f} {high:.2f}   ({cold[way]:.2f})")
    for way, values in list(times.items())[1:]:
        low, middle, high = quartiles([one / base for one, base in zip(values, times[first])])
        print(f"{way} / {first}: {low:.2f} {middle:.2f} {high:.2f}")


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--packages", type=int, default=300)
    parser.add_argument("--sallyport", default=str(ROOT / "build/bench/bin/sallyport"))
    options = parser.parse_args()
    store = registry.Verdaccio(ROOT / "build/npm/node_modules")
    try:
        with tempfile.TemporaryDirectory(prefix="bench-validate-") as name:
            place = Path(name).resolve()
            repo = place / "repo"
            repo.mkdir()
            (place / "home").mkdir()
            make_project(repo, store, options.packages)
            found, own = ways(place, repo, store, options.sallyport)
            cold, times = measure(found, options.rounds)
            del own[:1]  # the first run's
            print(f"npm ci of {options.packages} packages and npm test, {options.rounds} rounds, seconds: quartiles (first run, empty cache)")
            show(cold, times)
            low, middle, high = quartiles(own)
            print(f"of validate outside its npm commands, seconds: {low:.3f} {middle:.3f} {high:.3f}")
            show(*measure(layer_ways(place, repo, store, options.sallyport), options.rounds))
    finally:
        store.stop()


if __name__ == "__main__":
    main()
