#!/bin/bash
# What `make test`, `make test-deep` and `make test-long` run. Goes on after a failure, so that one run shows all of them; the last
# line is the sum, and the exit code is non-zero when anything failed.
#
#   usage: tools/run_tests.sh [STAGE...]     stages: format dev release tidy asan tsan fuzz deep long (default: all but long)
#
# SALLYPORT_FUZZ_SECONDS: how long each fuzz target runs, in place of half a minute.
set -uo pipefail
cd "$(dirname "$0")/.."

jobs=${JOBS:-$(nproc)}
# Most tests wait more than they compute: for deadlines, servers, the end of a jail. With three for each core all cores are busy.
tests_at_once=$((jobs * 3))
stages=("$@")
[[ ${#stages[@]} -eq 0 ]] && stages=(format dev release tidy asan tsan fuzz deep)
reports=()
failed=()
second_tries=()
times=()

title() { printf '\n=== %s\n' "$*"; }

build() {
  local options=()
  [[ $1 == fuzz ]] && options=("-DSALLYPORT_FUZZ_SECONDS=${SALLYPORT_FUZZ_SECONDS:-30}")
  cmake --preset "$1" "${options[@]}" >"build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log"; return 1; }
  cmake --build --preset "$1" --parallel "$jobs"
}

# ThreadSanitizer programs die at start on kernels with much address randomisation; where it can be switched off for
# them, it is.
without_aslr() {
  if setarch "$(uname -m)" -R true 2>/dev/null; then setarch "$(uname -m)" -R "$@"; else "$@"; fi
}

# Many tests read the state of the whole machine (processes, mounts, cgroups), which others use too, so a test gets a second try. One
# that needs it is a defect to mend: the sum at the end names it.
#   run_ctest PRESET NAME [CTEST OPTION...]   NAME is that of the log and of the report
run_ctest() {
  local preset=$1 name=$2 prefix=() log="build/$2.ctest.log" report="build/$2.junit.xml" status=0
  shift 2
  [[ $preset == tsan ]] && prefix=(without_aslr)
  reports+=("$report")
  rm -f "$report"
  "${prefix[@]}" ctest --preset "$preset" --output-junit "$PWD/$report" --parallel "$tests_at_once" --repeat until-pass:2 "$@" |
    tee "$log" || status=1
  local unsteady
  unsteady=$(sed -n 's/^.*Test *#[0-9]*: \([^ ]*\).*\*\*\*\(Failed\|Timeout\|Exception\).*$/\1/p' "$log" | sort -u)
  [[ $status -eq 0 && -n $unsteady ]] && second_tries+=("$name: ${unsteady//$'\n'/, }")
  return $status
}

# What `make run` does, with the benchmarks built beside it.
run_example() {
  local repo=build/example/hello-repo
  local projects=build/example/projects
  tools/make_example_repo.sh "$repo" && tools/make_project_repos.sh "$projects" &&
    tools/run_example.sh build/bench/bin/sallyport "$repo" "$projects"
}

stage() {
  title "$1"
  local start=$SECONDS
  case "$1" in
    dev) build dev && run_ctest dev dev -LE '^(deep|long)$' ;;
    # What takes minutes and finds little that the rest does not: soaks, and other programs' own test suites. `long`: hours.
    deep | long) build dev && run_ctest dev "$1" -L "^$1\$" ;;
    asan | tsan | fuzz) build "$1" && run_ctest "$1" "$1" -LE '^(deep|long)$' ;;
    release) build bench && run_example ;;
    tidy) build tidy ;;
    format) tools/format.sh --check ;;
    *) echo "run_tests: error: no such stage: $1" >&2; exit 2 ;;
  esac || failed+=("$1")
  times+=("$1 $((SECONDS - start)) s")
  echo "(${times[-1]})"
}

mkdir -p build
for name in "${stages[@]}"; do stage "$name"; done

title "result"
printf -v took '%s, ' "${times[@]}"
echo "took: ${took%, }"
status=0
for name in "${failed[@]}"; do
  echo "FAILED: $name"
  status=1
done
for names in "${second_tries[@]}"; do echo "needed a second try in $names"; done
if [[ ${#reports[@]} -gt 0 ]]; then
  /usr/bin/python3 -B tools/check_skips.py "${reports[@]}" || status=1
fi
exit $status
