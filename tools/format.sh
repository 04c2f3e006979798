#!/bin/bash
# Formats every C++ file of ours with the one version that decides (other versions disagree in details).
#
#   usage: tools/format.sh [--check]
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
[[ ${1:-} == --check ]] && mode=(--dry-run --Werror)
find include src tests bench fuzz -name '*.cc' -o -name '*.h' -o -name '*.c' | sort |
  xargs --no-run-if-empty clang-format-19 "${mode[@]}"
