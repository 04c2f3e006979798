#!/bin/bash
# Installs the programs from npm that only the tests use into build/npm, exactly as tools/npm/package-lock.json has them.
# With those there already it does nothing: no network.
set -euo pipefail
cd "$(dirname "$0")/.."

place=build/npm
wanted=$(sha256sum <tools/npm/package-lock.json)
[[ -f $place/installed && $(<"$place/installed") == "$wanted" ]] && exit 0

echo "setup: installing the tests' npm packages into $place" >&2
rm -rf "$place"
mkdir -p "$place"
cp tools/npm/package.json tools/npm/package-lock.json "$place"
if ! npm ci --prefix "$place" --ignore-scripts --omit=optional --no-audit --no-fund --loglevel=error >&2; then
  echo "setup: error: npm could not install them; the tests that need a registry will fail" >&2
  exit 1
fi
echo "$wanted" >"$place/installed"
