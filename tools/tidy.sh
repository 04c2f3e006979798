#!/bin/bash
# clang-tidy over the library and the CLI, unless nothing has changed since the last clean run. Goes by the batches in
# which the sources are compiled: what is common to them is read once per batch, which takes a fifth of the time.
#
#   usage: tools/tidy.sh BUILD_DIR [CHECKS]     BUILD_DIR: configured with the preset `tidy`; CHECKS as clang-tidy's
set -euo pipefail

build=$(cd "$1" && pwd)
checks=${2:-}
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
stamp=$build/tidy.stamp

if [[ -z $checks && -e $stamp && -z $(find include src .clang-tidy tools/tidy.sh -newer "$stamp" -type f) ]]; then
  echo "clang-tidy: nothing changed since the last clean run"
  exit 0
fi

# Nothing is compiled here, but generated sources have to exist to be included.
ninja -C "$build" -t targets rule CUSTOM_COMMAND | grep '\.inc$' | xargs --no-run-if-empty ninja -C "$build" >/dev/null

mapfile -t batches < <(python3 - "$build" <<'PYTHON'
import json, sys
from pathlib import Path
build = Path(sys.argv[1])
source = Path.cwd()
for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
    file = Path(entry["file"])
    folder = file.relative_to(build) if file.is_relative_to(build) else file.relative_to(source)
    if folder.parts[0] == "src" and file.suffix in (".cc", ".cxx"):
        print(file)
PYTHON
)
echo "clang-tidy: ${#batches[@]} batches"
[[ ${#batches[@]} -gt 0 ]] || exit 1
started=$(mktemp)
trap 'rm -f "$started"' EXIT
# clang-tidy counts the warnings it hides in system headers on stderr, once per batch; real errors come on stdout.
printf '%s\0' "${batches[@]}" |
  xargs -0 -n 1 -P "$jobs" clang-tidy-19 --quiet ${checks:+"--checks=$checks"} -p "$build" 2>/dev/null
[[ -n $checks ]] || mv "$started" "$stamp"
