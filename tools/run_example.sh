#!/bin/bash
# The main job, shown: a hostile npm project is installed and tested safely, and what it tried is named. Then the rest of the museum,
# an honest project, and single tools through the gate.
#
#   usage: tools/run_example.sh SALLYPORT REPO PROJECTS
#
# Needs no network: the projects have no dependencies that anybody could fetch.
set -euo pipefail

sallyport=$1
repo=$2
projects=$3

show() {
  echo
  echo "\$ sallyport $*"
  "$sallyport" "$@"
}

# Runs it, and fails when it does not end with the expected code.
expect() {
  local wanted=$1 status=0
  shift
  show "$@" || status=$?
  echo "(exit $status)"
  if [[ $status -ne $wanted ]]; then
    echo "run_example: error: expected exit $wanted" >&2
    exit 1
  fi
}

# Only the last line, the verdict.
verdict() {
  local wanted=$1 status=0 said
  shift
  said=$("$sallyport" "$@") || status=$?
  printf '%-20s %s\n' "$(basename "$2")" "${said##*$'\n'}"
  if [[ $status -ne $wanted ]]; then
    printf '%s\nrun_example: error: exit %s, expected %s\n' "$said" "$status" "$wanted" >&2
    exit 1
  fi
}

# The registry is named, so that nobody asks the operator's own npm for it; nobody reaches it either.
registry=(--registry registry.invalid --no-cache)

echo "A hostile npm project, installed and tested behind the jail:"
expect 1 validate "$projects/everything" "${registry[@]}"
if [[ -n $(git -C "$projects/everything" status --porcelain) || -e $projects/everything/.git/hooks ]]; then
  echo "run_example: error: the repo was touched" >&2
  exit 1
fi
echo "The repo itself: $(git -C "$projects/everything" status --short --branch), nothing changed, no hook."

echo
echo "The rest of the museum:"
verdict 1 validate "$projects/npmrc-redirect" "${registry[@]}"
verdict 1 validate "$projects/lockfile-elsewhere" "${registry[@]}"
verdict 1 validate "$projects/git-dependency" "${registry[@]}"
verdict 1 validate "$projects/endless-test" "${registry[@]}" --timeout 5s
verdict 0 validate "$projects/honest-project" "${registry[@]}"

echo
echo "Single tools through the same gate:"
show run --repo "$repo" -- git log --oneline
show run --repo "$repo" -- rg --line-number TODO
show explain --repo "$repo" -- git rev-parse HEAD
# Not in the closed set: refused before anything starts, with 125.
expect 125 run --repo "$repo" -- curl example.invalid
