#!/bin/bash
# clang-tidy over the sources of the library and the CLI that changed since the last clean run; over all of them when a
# header, a rule or this script did.
#
#   usage: tools/tidy.sh BUILD_DIR [CHECKS]     BUILD_DIR: configured with the preset `tidy`; CHECKS as clang-tidy's
set -euo pipefail

build=$(cd "$1" && pwd)
checks=${2:-}
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
stamp=$build/tidy.stamp

newer=()
if [[ -z $checks && -e $stamp ]]; then
  if [[ -z $(find include src -name '*.h' -newer "$stamp") && ! .clang-tidy -nt $stamp && ! tools/tidy.sh -nt $stamp ]]; then
    newer=(-newer "$stamp")
  fi
fi
mapfile -t files < <(find src -name '*.cc' ! -name '*_test.cc' "${newer[@]}" | sort)
if [[ ${#files[@]} -eq 0 ]]; then
  echo "clang-tidy: nothing changed since the last clean run"
  exit 0
fi

# Nothing is compiled here, but generated sources have to exist to be included.
ninja -C "$build" -t targets rule CUSTOM_COMMAND | grep '\.inc$' | xargs --no-run-if-empty ninja -C "$build" >/dev/null

echo "clang-tidy: ${#files[@]} files"
started=$(mktemp)
trap 'rm -f "$started"' EXIT
# clang-tidy counts the warnings it hides in system headers on stderr, once per file; real errors come on stdout.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$jobs" clang-tidy-19 --quiet ${checks:+"--checks=$checks"} -p "$build" 2>/dev/null
[[ -n $checks ]] || mv "$started" "$stamp"
