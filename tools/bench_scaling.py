#!/usr/bin/env python3
"""What makes a start dearer: runs sallyport_bench_scaling, writes its section of docs/benchmarks.md. `make bench-scaling`.

  usage: tools/bench_scaling.py [--render]
"""

import json
import subprocess
import sys
from pathlib import Path

from bench import report, stats, svg

ROOT = Path(__file__).resolve().parent.parent
CLOCK = ROOT / "build/bench/bench/sallyport_bench_scaling"
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
    report.chart(ROOT, "scaling", svg.panels("What makes a start dearer", "/bin/true, medians; each scale from 0", series,
                                             {who: LEGEND[who] for who in heads}))
    head = ["", *(f"{LEGEND[who]} p50 ms" for who in heads), "cold p95 ms", "cold, × the first"]
    return "\n\n".join(["![What makes a start dearer](benchmarks/scaling.svg)", report.table(head, rows)])


def main():
    if sys.argv[1:] != ["--render"]:
        done = subprocess.run([CLOCK, *sys.argv[1:]], check=True, stdout=subprocess.PIPE, text=True)
        TIMES.write_text(done.stdout)
    report.put(ROOT, "scaling", section(json.loads(TIMES.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
