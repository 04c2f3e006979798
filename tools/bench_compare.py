#!/usr/bin/env python3
"""The same jobs through each program: bare, our library and CLI, and every peer that is installed. `make
bench-compare`.

Prepares repos, a registry and the peers' commands, lets sallyport_bench_compare measure, and writes the section of
docs/benchmarks.md and its charts.

  usage: tools/bench_compare.py [--only JOB] [--quick] [--render]
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import jobs, machine, peers, report, stats

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
TIMES = BUILD / "bench/compare_times.json"
CLI = BUILD / "bench/bin/sallyport"
CLOCK = BUILD / "bench/bench/sallyport_bench_compare"
OUTPUT = 64 << 20
POOL = 4

POLICY = 'schema = "sallyport.policy/1"\n' + "".join(
    f'[[tool]]\nname = "{name}"\ndecision_record = "bench"\nreason = "a job of the comparison"\n'
    for name in ("true", "git", "rg", "npm", "node", "head"))

TITLES = {
    "true": "/bin/true",
    "parallel": "100 × /bin/true at once",
    "git": "git status, 5,000 files",
    "rg": "rg over 100,000 files",
    "npm": "npm ci of 40 packages from a registry on loopback",
    "output": "64 MiB of output",
}


def work_place():
    """Where the repos are made: below build/, unless that is in /tmp, which most sandboxes replace by their own, or in
    /work, where they see the repo."""
    place = BUILD / "compare"
    if {Path("/tmp"), Path("/work")} & set(place.parents):
        place = Path.home() / ".cache/sallyport-bench"
    place.mkdir(parents=True, exist_ok=True)
    return place


def make_job(name, work, registry):
    small = work / "small"
    if name == "true":
        return peers.Job(name, ["true"], jobs.tree(small, 10), more={"rounds": 300, "slow_every": 20})
    if name == "parallel":
        return peers.Job(name, ["true"], jobs.tree(small, 10),
                         more={"rounds": 24, "slow_every": 24, "parallel": 100, "in_a_row": 3, "slow_warm_up": False})
    if name == "git":
        # In a jail of another user id git would read every file again; our gate's hardening of git has this in it.
        return peers.Job(name, ["git", "-c", "core.checkStat=minimal", "status", "--short"],
                         jobs.git_repo(work / "repo5k", 5000), ours=["git", "status", "--short"],
                         more={"rounds": 48, "slow_every": 8})
    if name == "rg":
        # With the path, or rg would read the pipe that some of them give it as stdin.
        return peers.Job(name, ["rg", "--files-with-matches", "^12345$", "."], jobs.tree(work / "repo100k", 100_000),
                         more={"rounds": 20, "slow_every": 10, "slow_warm_up": False})
    if name == "npm":
        return peers.Job(name, jobs.npm("ci", registry.url), jobs.npm_project(work / "npm", registry), writable=True,
                         network=True, registry=registry.host,
                         more={"rounds": 5, "slow_every": 5, "slow_warm_up": False})
    return peers.Job(name, ["head", "-c", str(OUTPUT), "/dev/zero"], jobs.tree(small, 10),
                     more={"rounds": 30, "slow_every": 6, "bytes": OUTPUT})


def plan_of(job, installed, policy_file):
    """The job for the measuring program."""
    ours, hosts = job.ours or job.argv, []
    if job.network:
        ours = [word.replace(job.registry, "registry.test:4873") for word in job.argv]
        hosts = [f"registry.test:4873={job.registry}"]
    options = ["--writable-repo"] * job.writable + [word for host in hosts for word in ("--allow-host", host)]
    cli = [str(CLI), "run", "--timeout", "10m", "--repo", str(job.repo), "--cwd", str(job.repo), "--policy",
           str(policy_file), *options, "--", *ours]
    entrants = [{"name": "bare", "kind": "command", "argv": job.argv}]
    if not job.network:
        entrants.append({"name": "floor", "kind": "floor", "argv": job.argv, "exe": f"/usr/bin/{job.argv[0]}"})
    entrants += [{"name": "sallyport warm", "kind": "warm", "argv": ours},
                 {"name": "sallyport cold", "kind": "library", "argv": ours},
                 {"name": "sallyport CLI", "kind": "command", "argv": cli}]
    for peer in installed:
        every = job.more["rounds"] if job.name in peer.slowest else job.more["slow_every"] if peer.slow else 1
        entrants.append({"name": peer.name, "kind": "command", "argv": peer.command(job), "every": every})
    for entrant in entrants:
        # The slow ones wait for their own leftovers to be gone.
        entrant["in_a_row"] = job.more.get("in_a_row", 1) if entrant.get("every", 1) == 1 else 1
    if job.writable:
        for entrant in entrants:
            entrant["remove_before"] = [str(job.repo / "node_modules"), jobs.CACHE]
    return {"name": job.name, "repo": str(job.repo), "writable": job.writable, "hosts": hosts, "warm": POOL,
            "entrants": entrants, **job.more}


def measure(arguments):
    """One job after the other, so that a run that is broken off has measured something."""
    work = work_place()
    all_peers = [kind(BUILD, work) for kind in peers.ALL]
    installed = [peer for peer in all_peers if peer.path]
    policy_file = work / "policy.toml"
    policy_file.write_text(POLICY)
    wanted = [arguments.only] if arguments.only else list(TITLES)
    if "npm" in wanted and not jobs.Registry.installed(BUILD):
        print("bench-compare: no registry to install from (tools/npm_packages.sh): npm ci is left out", file=sys.stderr)
        wanted.remove("npm")
    with jobs.Registry(BUILD, work / "registry") if "npm" in wanted else contextlib.nullcontext() as registry, \
            tempfile.TemporaryDirectory() as place:
        for name in wanted:
            plan = plan_of(make_job(name, work, registry), installed, policy_file)
            if arguments.quick:
                plan["rounds"] = min(plan["rounds"], max(entrant.get("every", 1) for entrant in plan["entrants"]))
            file = Path(place) / f"{name}.json"
            file.write_text(json.dumps({"policy": POLICY, "jobs": [plan]}))
            load = f"{os.getloadavg()[0]:.1f}"
            done = subprocess.run([CLOCK, file], check=True, stdout=subprocess.PIPE, text=True)
            yield {"jobs": [{**job, "load": load} for job in json.loads(done.stdout)], "machine": machine.describe(),
                   "peers": [[peer.name, peer.version() if peer.path else None, peer.setup] for peer in all_peers]}


def bars_met(by_job):
    """Our own bars, with what was measured."""
    def found(job, one, other):
        times = {entrant["name"]: entrant["times"] for entrant in by_job.get(job, []) if not entrant["failure"]}
        return stats.ratio(times[one], times[other]) if one in times and other in times else None

    rows = []
    for what, job, one, other, bar in (
            ("cold start, library, to bwrap", "true", "sallyport cold", "bwrap", 0.35),
            ("cold start, library, to the floor", "true", "sallyport cold", "floor", 1.3),
            ("warm start, library, to bare", "true", "sallyport warm", "bare", 1.6),
            ("start by the CLI, to bwrap", "true", "sallyport CLI", "bwrap", 0.75),
            ("100 at once, library, to bwrap", "parallel", "sallyport cold", "bwrap", 0.5),
            ("git status in the jail, to bare", "git", "sallyport cold", "bare", None),
            ("rg in the jail, to bare", "rg", "sallyport cold", "bare", 1.02)):
        ratio = found(job, one, other)
        met = "–" if bar is None or ratio is None else "yes" if ratio[0] <= bar else "no"
        rows.append([what, "–" if bar is None else f"≤ {bar}", report.ratio_text(ratio), met])
    return report.table(["ratio of medians", "bar", "measured [95 %]", "met"], rows)


def render(result):
    by_job = {job["name"]: job["entrants"] for job in result["jobs"]}
    absent = {name: "not installed" for name, version, _ in result["peers"] if version is None}
    loads = ", ".join(f"{job['name']} {job['load']}" for job in result["jobs"] if "load" in job)
    facts = [list(row) for row in result["machine"]] + [["load average before", loads]]
    parts = [report.table(["machine", ""], facts, left=2), bars_met(by_job)]
    for name, entrants in by_job.items():
        note = "median"
        if name == "parallel":
            note = "median for all hundred, from the first start to the last end"
        parts.append(report.job_section(ROOT, name, TITLES[name], note, entrants, absent))
    setups = [[name, version or "not installed", words] for name, version, words in result["peers"]]
    parts += ["### How each peer was set up", report.table(["peer", "version", "set-up"], setups, left=3)]
    report.put(ROOT, "compare", "\n\n".join(parts))


def main():
    parser = argparse.ArgumentParser(description="compares sallyport with its peers and writes docs/benchmarks.md")
    parser.add_argument("--only", choices=TITLES, help="just this job; the others keep their last times")
    parser.add_argument("--quick", action="store_true", help="one round for the slow ones; the document is left alone")
    parser.add_argument("--render", action="store_true", help="write the document anew from the last times")
    arguments = parser.parse_args()
    for result in [] if arguments.render else measure(arguments):
        show(result)
        if not arguments.quick:
            keep(result)
    if not arguments.quick:
        render(json.loads(TIMES.read_text()))
    return 0


def keep(result):
    """Beside the jobs measured earlier, in place of the same ones."""
    jobs_now = {job["name"]: job for job in result["jobs"]}
    earlier = json.loads(TIMES.read_text())["jobs"] if TIMES.exists() else []
    all_jobs = {job["name"]: job for job in earlier} | jobs_now
    result["jobs"] = [all_jobs[name] for name in TITLES if name in all_jobs]
    TIMES.write_text(json.dumps(result))


def show(result):
    for job in result["jobs"]:
        print(TITLES[job["name"]])
        for entrant in job["entrants"]:
            values = report.measured(entrant)
            failure = entrant["failure"]
            figure = f"failed: {failure[-300:]}" if failure else f"{stats.median(values):10.3f} ms"
            print(f"  {entrant['name']:<18} {len(values):4} {figure}")


if __name__ == "__main__":
    sys.exit(main())
