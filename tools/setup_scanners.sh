#!/bin/bash
# Optional: scanners that no test needs. gitleaks is a package of newer Debian suites; syft is in none, and on npm only in packages of
# third parties, so you name the one that you trust (docs/probes.md). What npm brings is fetched behind sallyport's own jail, with
# scripts off and only the registry in reach, and lands in build/scanners/bin; nothing of it is ever run here.
#
#   usage: tools/setup_scanners.sh gitleaks
#          tools/setup_scanners.sh syft PACKAGE@VERSION
# SALLYPORT names the program when it is not built below build/.
# exit: 0 it is there; 1 it could not be had, and why; 2 wrong usage
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup-scanners: $*" >&2; }
usage() { sed -n '/usage:/,/exit:/s/^# \{0,1\}//p' "$0" >&2; exit 2; }

from_debian() {
  local name=$1 candidate suite root=()
  if command -v "$name" >/dev/null; then say "$name is there: $(command -v "$name")"; return 0; fi
  suite=$(. /etc/os-release && echo "${PRETTY_NAME:-this system}")
  candidate=$(apt-cache policy "$name" 2>/dev/null | sed -n 's/^ *Candidate: *//p')
  if [[ -z $candidate || $candidate == "(none)" ]]; then
    say "error: $suite has no package $name; only newer suites do. \`sallyport probe all --without $name\` leaves it out"
    return 1
  fi
  [[ $EUID -eq 0 ]] || root=(sudo)
  say "installing $name $candidate"
  "${root[@]}" apt-get install -y --no-install-recommends "$name" >&2
}

sallyport_program() {
  local program
  for program in "${SALLYPORT:-}" build/release/bin/sallyport build/bench/bin/sallyport build/dev/bin/sallyport; do
    if [[ -n $program && -x $program ]]; then realpath "$program"; return 0; fi
  done
  say "error: sallyport is not built; make build"
  return 1
}

from_npm() {
  local name=$1 package=$2 place=build/scanners program found=()
  [[ $package =~ ^(@[a-z0-9._~-]+/)?[a-z0-9._~-]+@[0-9][A-Za-z0-9.+-]*$ ]] || { say "error: write PACKAGE@VERSION, not $package"; return 2; }
  program=$(sallyport_program)
  rm -rf "$place/fetched"
  mkdir -p "$place/fetched" "$place/bin"
  echo '{"name":"fetched","version":"1.0.0","private":true}' >"$place/fetched/package.json"
  say "fetching $package behind the jail"
  "$program" run --repo "$place/fetched" --cwd "$place/fetched" --writable-repo --allow-registry --timeout 10m --memory 2G --disk 2G -- \
    npm install --ignore-scripts --no-audit --no-fund --loglevel=error "$package" >&2
  # An executable of that name and nothing else: what it is called, not what the package says it would run.
  while IFS= read -r -d '' file; do
    [[ $(head -c 4 "$file" | od -An -tx1 | tr -d ' \n') == 7f454c46 ]] && found+=("$file")
  done < <(find "$place/fetched/node_modules" -type f -name "$name" -print0)
  if [[ ${#found[@]} -ne 1 ]]; then
    say "error: $package has ${#found[@]} programs named $name, not one; nothing was installed"
    return 1
  fi
  install -m 0755 "${found[0]}" "$place/bin/$name"
  say "$PWD/$place/bin/$name, SHA-256 $(sha256sum <"$place/bin/$name" | cut -d' ' -f1)"
  say "put $PWD/$place/bin into PATH for sallyport probe; it runs behind the jail like every scanner"
}

case "${1:-}" in
  gitleaks) [[ $# -eq 1 ]] || usage; from_debian gitleaks ;;
  syft) [[ $# -eq 2 ]] || usage; from_npm syft "$2" ;;
  *) usage ;;
esac
