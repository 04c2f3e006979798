#!/bin/bash
# What `make test` (and so CI) and `make test-all` run. Goes on after a failure, so that one run shows all of them; the
# last line is the sum, and the exit code is non-zero when anything failed.
#
#   usage: tools/run_tests.sh [STAGE...]     stages: format dev tidy asan tsan fuzz (default: format dev)
set -uo pipefail
cd "$(dirname "$0")/.."

jobs=${JOBS:-$(nproc)}
stages=("$@")
[[ ${#stages[@]} -eq 0 ]] && stages=(format dev)
reports=()
failed=()

title() { printf '\n=== %s\n' "$*"; }

build() {
  cmake --preset "$1" >"build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log"; return 1; }
  cmake --build --preset "$1" --parallel "$jobs"
}

# ThreadSanitizer programs die at start on kernels with much address randomisation; where it can be switched off for
# them, it is.
without_aslr() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then setarch "$(uname -m)" -R "$@"; else "$@"; fi
}

run_ctest() {
  local preset=$1 prefix=()
  [[ $preset == tsan ]] && prefix=(without_aslr)
  reports+=("build/$preset/junit.xml")
  rm -f "build/$preset/junit.xml"
  # Many tests look at the whole machine (processes, cgroups), which others use too. A second try is named in the log as
  # such; a test that needs it is a defect to mend, but not a reason to hold a submission back.
  "${prefix[@]}" ctest --preset "$preset" --parallel "$jobs" --repeat until-pass:2
}

stage() {
  title "$1"
  local start=$SECONDS
  case "$1" in
    dev | asan | tsan | fuzz) build "$1" && run_ctest "$1" ;;
    tidy) build tidy ;;
    format) tools/format.sh --check ;;
    *) echo "run_tests: error: no such stage: $1" >&2; exit 2 ;;
  esac || failed+=("$1")
  echo "($1: $((SECONDS - start)) s)"
}

mkdir -p build
for name in "${stages[@]}"; do stage "$name"; done

title "result"
status=0
for name in "${failed[@]}"; do
  echo "FAILED: $name"
  status=1
done
if [[ ${#reports[@]} -gt 0 ]]; then
  /usr/bin/python3 -B tools/check_skips.py "${reports[@]}" || status=1
fi
exit $status
