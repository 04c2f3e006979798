#!/bin/bash
# Installs programs from npm that only the tests use, exactly as tools/NAME/package-lock.json has them, into build/NAME.
# With those there already it does nothing: no network.
#
#   usage: tools/npm_packages.sh [npm|npm_workloads]
set -euo pipefail
cd "$(dirname "$0")/.."

name=${1:-npm}
place=build/$name
wanted=$(sha256sum <"tools/$name/package-lock.json")
[[ -f $place/installed && $(<"$place/installed") == "$wanted" ]] && exit 0

# The tests' own programs need none of their optional parts; bundlers are made of them.
omit=()
[[ $name == npm ]] && omit=(--omit=optional)
echo "setup: installing the tests' npm packages into $place" >&2
rm -rf "$place"
mkdir -p "$place"
cp "tools/$name/package.json" "tools/$name/package-lock.json" "$place"
if ! npm ci --prefix "$place" --ignore-scripts "${omit[@]}" --no-audit --no-fund --loglevel=error >&2; then
  echo "setup: error: npm could not install them; the tests that need them will fail" >&2
  exit 1
fi
echo "$wanted" >"$place/installed"
