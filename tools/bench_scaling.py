#!/usr/bin/env python3
"""What slows a start: runs sallyport_bench_scaling and writes its section of docs/benchmarks.md. `make bench-scaling`

  usage: tools/bench_scaling.py [--render]
"""

import json
import subprocess
import sys
from pathlib import Path

from bench import report, stats, svg

ROOT = Path(__file__).resolve().parent.parent
CLOCK = ROOT / "build/bench/bench/sallyport_bench_scaling"
MEMORY = ROOT / "build/bench/bench/sallyport_bench_memory"
TIMES = ROOT / "build/bench/scaling_times.json"

NAMES = {
    "resident_gib": "GiB resident in the caller",
    "threads": "threads in the caller",
    "running_jails": "jails running already, with this one",
    "mounts": "paths more in the jail",
    "allowed_hosts": "allowed hosts",
}
LEGEND = {"bare": "bare posix_spawn", "cold": "sallyport cold", "warm": "sallyport warm"}


def section(result):
    heads = [who for who in LEGEND if who in result["threads"][0]]
    series, rows = {}, []
    for dimension, name in NAMES.items():
        points = result[dimension]
        series[name] = {who: [(point["at"], stats.median(point[who])) for point in points] for who in heads}
        first = stats.median(points[0]["cold"])
        for point in points:
            cold = stats.median(point["cold"])
            rows.append([f"{point['at']:,} {name}" if point is points[0] else f"{point['at']:,}",
                         *(report.milliseconds(stats.median(point[who])) for who in heads),
                         report.milliseconds(stats.percentile(point["cold"], 0.95)), f"{cold / first:.2f}"])
    note = "/bin/true, medians; points one after the other, not to scale across"
    report.chart(ROOT, "scaling", svg.panels("What slows a start", note, series, {who: LEGEND[who] for who in heads}))
    head = ["", *(f"{LEGEND[who]} p50 ms" for who in heads), "cold p95 ms", "cold, × the first"]
    return "\n\n".join(["![What slows a start](benchmarks/scaling.svg)", report.table(head, rows),
                        bars_met(result), f"```\n{result['memory'].strip()}\n```"])


def bars_met(result):
    medians = {point["at"]: stats.median(point["cold"]) for point in result["resident_gib"]}
    if 4 not in medians:
        return "Too little memory here to hold 4 GiB."
    ratio = medians[4] / medians[0]
    return (f"A cold start from a caller with 4 GiB resident costs {ratio:.2f} × that of a small one (bar: ≤ 1.15, "
            f"{'met' if ratio <= 1.15 else 'not met'}). The bar for the memory of an idle owner with a pool of 4 is "
            "12 MiB:")


def main():
    if sys.argv[1:] != ["--render"]:
        done = subprocess.run([CLOCK, *sys.argv[1:]], check=True, stdout=subprocess.PIPE, text=True)
        memory = subprocess.run([MEMORY], check=True, stdout=subprocess.PIPE, text=True)
        TIMES.write_text(json.dumps(json.loads(done.stdout) | {"memory": memory.stdout}))
    report.put(ROOT, "scaling", section(json.loads(TIMES.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
