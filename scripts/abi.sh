#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Compares the ABI of two builds with libabigail (Debian's abigail-tools): exit status 0 unless an application that was linked with the libraries
# of OLD_BUILD would fail with those of NEW_BUILD. Additions are fine. What the version scripts call private is left out.
#   scripts/abi.sh OLD_BUILD NEW_BUILD
# A build of the last release to compare with:
#   git worktree add /tmp/release TAG && meson setup /tmp/release/build /tmp/release && ninja -C /tmp/release/build
set -eu

[ $# -eq 2 ] || { echo "usage: scripts/abi.sh OLD_BUILD NEW_BUILD" >&2; exit 2; }
if ! command -v abidiff >/dev/null; then
  echo "abi.sh: skipped: no abidiff; install abigail-tools"
  exit 77
fi
here=$(cd "$(dirname "$0")/.." && pwd)
ignored=$(mktemp)
trap 'rm -f "$ignored"' EXIT
for kind in function variable; do
  printf '[suppress_%s]\n  symbol_version_regexp = ^SIGHTLINE_PRIVATE_\n' $kind
done >"$ignored"

status=0
for library in libsightline-1.0.so pipelines/libsightline-pipeline-1.0.so; do
  for build in "$1" "$2"; do
    [ -e "$build/$library" ] || { echo "abi.sh: no $build/$library; expected a build folder in which ninja has finished" >&2; exit 2; }
  done
  result=0
  abidiff --drop-private-types --headers-dir1 "$here/include" --headers-dir2 "$here/include" --suppressions "$ignored" --no-show-locs \
    "$1/$library" "$2/$library" || result=$?
  # Bits: 1 and 2 an error, 4 a change, 8 a change that breaks applications.
  if [ $((result & 11)) -ne 0 ]; then
    echo "abi.sh: $library: applications that are linked with the old one would break; raise the soversion, or take the change back" >&2
    status=1
  else
    echo "abi.sh: $library: compatible"
  fi
done
exit $status
