#!/bin/bash
# Makes a git repository of each bundled npm project: the honest one and the hostile ones.
#
#   usage: tools/make_project_repos.sh DEST
#
# Names and dates are fixed. DEST is made anew each time: DEST/honest-project, DEST/everything, ...
set -euo pipefail

examples=$(cd "$(dirname "$0")/../examples" && pwd)
dest=$1
case "$dest" in */build/*|build/*) ;; *) echo "make_project_repos: error: $dest is not below build/" >&2; exit 2 ;; esac

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME="Some Stranger" GIT_AUTHOR_EMAIL="stranger@example.invalid"
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
export GIT_AUTHOR_DATE="2024-01-01T12:00:00Z" GIT_COMMITTER_DATE="2024-01-01T12:00:00Z"

rm -rf "$dest"
mkdir -p "$dest"
for project in "$examples/honest-project" "$examples"/hostile/*/; do
  repo=$dest/$(basename "$project")
  cp -R "$project" "$repo"
  git init -q -b main --template= "$repo"
  git -C "$repo" add -A
  git -C "$repo" commit -q -m "Everything you need"
done
