#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the sources twice, in folders of different names and with different locales and file modes, installs both, and compares what is installed byte by byte. The
# compiler has to be one without a cache of objects, which would compare a build with itself.
#   scripts/reproducible.sh [meson setup options]
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1 SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct)}"

# build NAME LOCALE UMASK [meson setup options]
build ()
{
  name=$1 locale=$2 mask=$3
  shift 3
  umask "$mask"
  mkdir -p "$work/$name/sources"
  (cd "$here" && git ls-files -z | tar -c --null --files-from=-) | tar -x -C "$work/$name/sources"
  git -C "$here" rev-parse --short=12 HEAD >"$work/$name/sources/.commit"
  LC_ALL=$locale meson setup "$work/$name/build" "$work/$name/sources" --prefix=/usr --buildtype=release -Dtests=disabled -Dbench=disabled "$@" >"$work/log"
  LC_ALL=$locale ninja -C "$work/$name/build" >"$work/log"
  DESTDIR=$work/$name/installed meson install -C "$work/$name/build" --no-rebuild >"$work/log"
}

build one C 022 "$@"
build the-other C.UTF-8 027 "$@"
if diff -r "$work/one/installed" "$work/the-other/installed"; then
  echo "reproducible.sh: $(find "$work/one/installed" -type f | wc -l) files, all equal"
else
  echo "reproducible.sh: two builds of the same sources differ in the files above; diffoscope shows where" >&2
  exit 1
fi
