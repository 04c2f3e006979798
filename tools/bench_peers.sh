#!/bin/bash
# Installs the sandboxes that `make bench-compare` measures beside ours: Debian's by apt, the others by npm into
# build/peers. It names what it cannot install and leaves it out; the comparison then names it as not installed. Never part
# of make run or make test.
#
#   usage: tools/bench_peers.sh
set -uo pipefail
cd "$(dirname "$0")/.."

place=build/peers
# runsc is gVisor. socat and ripgrep are what sandbox-runtime looks for; librsvg2-bin turns charts into pictures to see.
# crun, podman's usual runtime, needs a pure cgroup v2 host; runc also knows v1.
debian_packages=(bubblewrap firejail runc runsc podman socat ripgrep git librsvg2-bin)
npm_packages=(@anthropic-ai/sandbox-runtime @openai/codex)

failed=()
say() { echo "bench-peers: $*" >&2; }

as_root=()
if [[ $EUID -ne 0 ]]; then
  command -v sudo >/dev/null && as_root=(sudo) || say "error: not root and no sudo: no Debian package can be installed"
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >&2; }
has_package() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

refreshed=no
for package in "${debian_packages[@]}"; do
  has_package "$package" && continue
  say "installing $package"
  # One by one: a package this Debian does not have must not keep the others out.
  if ! apt install -y --no-install-recommends "$package" && [[ $refreshed == no ]]; then
    refreshed=yes
    apt update && apt install -y --no-install-recommends "$package"
  fi
  has_package "$package" || failed+=("$package")
done

mkdir -p "$place"
[[ -f $place/package.json ]] || echo '{"private": true}' >"$place/package.json"  # or each install removes the other's
for package in "${npm_packages[@]}"; do
  [[ -d $place/node_modules/$package ]] && continue
  say "installing $package"
  npm install --prefix "$place" --ignore-scripts --no-audit --no-fund --loglevel=error "$package" >&2 ||
    failed+=("$package")
done

for package in "${failed[@]}"; do
  say "error: $package could not be installed; it will be missing from the comparison"
done
say "done, ${#failed[@]} missing"
