#!/bin/sh
# Writes into the documents what the code knows: tables of guarantees, verbs, records, attacks, and what each tool always gets.
#   usage: tools/write_docs.sh [BUILD_DIR]     (after a build; build/dev without one)
set -eu
tools=$(dirname "$0")
root=$tools/..
build=${1:-$root/build/dev}
python3 -B "$tools/check_hardening_doc.py" --write --sallyport "$build/bin/sallyport" --document "$root/docs/hardening.md" \
  --policy "$root/docs/policy.md"
python3 -B "$tools/check_lists.py" --write --attack "$build/bin/sallyport-attack"
