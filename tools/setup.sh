#!/bin/bash
# Installs the Debian packages a target of the Makefile needs, and only those that are missing.
#
#   usage: tools/setup.sh run|test|deep|long|bench
#
# With nothing missing it asks dpkg once and returns: no network, no sudo.
set -euo pipefail

run_packages=(g++ cmake ninja-build pkg-config libssl-dev libseccomp-dev nlohmann-json3-dev libfmt-dev
              libidn2-dev libunistring-dev libc-ares-dev git ripgrep)
test_packages=(mold libgtest-dev libgmock-dev librapidcheck-dev binutils python3 libpython3.11-testsuite util-linux
               clang-19 libclang-rt-19-dev clang-tidy-19 clang-format-19
               bubblewrap runc runsc jq strace curl busybox openssl stress-ng python3-cryptography python3-jsonschema)
# For the tests labelled `deep`: a browser for the audit log's page.
deep_packages=(chromium)
# For the tests labelled `long`: other programs' own worlds, and a machine with a kernel to boot.
long_packages=(docker.io podman debootstrap golang-go cargo openjdk-17-jdk-headless python3-pytest qemu-system-x86 linux-image-amd64)
bench_packages=(bubblewrap runc python3)
# Tools that people often have from elsewhere; the package is taken only when there is no such command at all.
run_commands=(node:nodejs npm:npm)

say() { echo "setup: $*" >&2; }

wanted=("${run_packages[@]}")
commands=("${run_commands[@]}")
case "${1:-}" in
  run) ;;
  test) wanted+=("${test_packages[@]}") ;;
  deep) wanted+=("${test_packages[@]}" "${deep_packages[@]}") ;;
  long) wanted+=("${test_packages[@]}" "${deep_packages[@]}" "${long_packages[@]}") ;;
  bench) wanted+=("${bench_packages[@]}") ;;
  *) say "usage: tools/setup.sh run|test|deep|long|bench"; exit 2 ;;
esac

missing=()
find_missing() {
  missing=()
  local package installed entry
  # One dpkg-query for all; unknown packages go to stderr and count as missing.
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
  for package in "${wanted[@]}"; do
    grep -qxF "installed $package" <<<"$installed" || missing+=("$package")
  done
  for entry in "${commands[@]}"; do
    command -v "${entry%%:*}" >/dev/null || missing+=("${entry#*:}")
  done
}

if ! command -v dpkg-query >/dev/null; then
  say "error: this is not a Debian system: install by hand the equivalents of: ${wanted[*]}"
  exit 1
fi
find_missing
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $EUID -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    say "error: missing packages and no sudo to install them with"
    say "hint: as root: apt-get install -y --no-install-recommends ${missing[*]}"
    exit 1
  fi
  as_root=(sudo)
fi

say "installing ${missing[*]}"
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"; }
install_missing() { apt install -y --no-install-recommends "${missing[@]}"; }
# Package lists may be absent (a fresh image) or too old; fetch them only then.
if ! install_missing; then
  say "trying again with fresh package lists"
  apt update
  install_missing
fi
find_missing
if [[ ${#missing[@]} -ne 0 ]]; then
  say "error: still missing after the installation: ${missing[*]}"
  exit 1
fi
