#!/usr/bin/python3
"""What workspaces cost, against a peer in the same run, interleaved round by round: medians and ratios.

  usage: workspace.py SALLYPORT [ROUNDS]

diff:  `workspace diff` of 50,000 created files against `find UPPER | wc -l` over the same files, and against a `find` that prints
       type, mode, size and blocks: the same system calls.
open:  `run --workspace` of true over a repo of 100,000 files against a plain `run` of true over it.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

POLICY = 'schema = "sallyport.policy/1"\n' + "".join(
    f'[[tool]]\nname = "{tool}"\ndecision_record = "bench"\nreason = "a bench"\n' for tool in ("true", "sh"))


class Bench:
    def __init__(self, sallyport: str) -> None:
        self.sallyport = sallyport
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-bench-"))
        self.repo = self.dir / "repo"
        self.repo.mkdir()
        (self.dir / "policy.toml").write_text(POLICY)
        (self.dir / "policy.toml").chmod(0o600)
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(self.dir / "home")}
        (self.dir / "home").mkdir(mode=0o700)

    def run(self, *argv: str) -> float:
        begin = time.perf_counter()
        subprocess.run(argv, cwd=self.repo, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - begin

    def call(self, *options: str, tool=("true",)) -> float:
        return self.run(self.sallyport, "run", "--policy", str(self.dir / "policy.toml"), *options, "--", *tool)

    def compare(self, what: str, rounds: int, ours, peer) -> None:
        ours(), peer()
        pairs = [(ours(), peer()) for _ in range(rounds)]
        mine, other = (statistics.median(column) * 1000 for column in zip(*pairs))
        ratios = sorted(a / b for a, b in pairs)
        low, high = ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]
        print(f"{what}: {mine:.1f} ms against {other:.1f} ms, {mine - other:+.1f} ms, "
              f"ratio {statistics.median(ratios):.2f} (10 to 90 %: {low:.2f} to {high:.2f}), {rounds} rounds")


def fill(root: pathlib.Path, files: int) -> None:
    for i in range(files // 100):
        directory = root / f"d{i % 100}" / f"e{i}"
        directory.mkdir(parents=True)
        for j in range(100):
            (directory / f"f{j}").write_text("x\n")


def main() -> None:
    bench = Bench(os.path.abspath(sys.argv[1]))
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    try:
        make = 'i=0; while [ $i -lt 500 ]; do mkdir -p d/$i; j=0; while [ $j -lt 100 ]; do : > d/$i/$j; j=$((j+1)); done; i=$((i+1)); done'
        bench.call("--workspace", "many", tool=("sh", "-c", make))
        upper = bench.dir / "home/.local/state/sallyport/workspaces/named-many/layer/upper"
        bench.compare("diff of 50,000 created files", rounds,
                      lambda: bench.run(bench.sallyport, "workspace", "diff", "many"),
                      lambda: bench.run("sh", "-c", f"find {upper} | wc -l"))
        bench.compare("the same, against find that stats each file too", rounds,
                      lambda: bench.run(bench.sallyport, "workspace", "diff", "many"),
                      lambda: bench.run("sh", "-c", f"find {upper} -printf '%y %m %s %b %p\\n' | wc -l"))
        fill(bench.repo, 100_000)
        bench.compare("a run in a workspace over 100,000 files", rounds * 3,
                      lambda: bench.call("--workspace", "open"), bench.call)
    finally:
        shutil.rmtree(bench.dir, ignore_errors=True)


if __name__ == "__main__":
    main()
