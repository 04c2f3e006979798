#!/bin/bash
# Turns examples/hello-repo into a real repository with a short history.
#
#   usage: tools/make_example_repo.sh DEST
#
# Names and dates are fixed, so the commit ids are the same on every machine. DEST is made anew each time.
set -euo pipefail

source_dir=$(cd "$(dirname "$0")/../examples/hello-repo" && pwd)
dest=$1
case "$dest" in */build/*|build/*) ;; *) echo "make_example_repo: error: $dest is not below build/" >&2; exit 2 ;; esac

# The operator's own git configuration (signing, hooks, templates) must not decide what the example looks like.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME="Hello Example" GIT_AUTHOR_EMAIL="hello@example.invalid"
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL

commit() {
  local day=$1 message=$2
  shift 2
  for file in "$@"; do install -D -m 644 "$source_dir/$file" "$dest/$file"; done
  git -C "$dest" add -- "$@"
  GIT_AUTHOR_DATE="2024-01-0${day}T12:00:00Z" GIT_COMMITTER_DATE="2024-01-0${day}T12:00:00Z" \
    git -C "$dest" commit -q -m "$message"
}

rm -rf "$dest"
git init -q -b main --template= "$dest"
commit 1 "Say what this is" README.md
commit 2 "Greet the world" src/hello.js package.json
commit 3 "Greet anyone by name" src/greet.js
