#!/bin/bash
# The main job, shown: two tools over the example repo, each through the gate, and one that is refused.
#
#   usage: tools/run_example.sh SALLYPORT REPO
set -euo pipefail

sallyport=$1
repo=$2

show() {
  echo
  echo "\$ sallyport $*"
  "$sallyport" "$@"
}

show run --repo "$repo" -- git log --oneline
show run --repo "$repo" -- rg --line-number TODO
show explain --repo "$repo" -- git rev-parse HEAD

# Not in the closed set: refused before anything starts, with 125.
status=0
show run --repo "$repo" -- curl example.invalid || status=$?
echo "(exit $status)"
if [[ $status -ne 125 ]]; then
  echo "run_example: error: expected a refusal" >&2
  exit 1
fi
