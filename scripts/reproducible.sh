#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds and installs Sightline twice, from the files as they are, in folders of different names, at different times, with different time zones, locales,
# homes and permissions of new files, and compares what is installed, byte by byte. Takes as long as two builds.
#   scripts/reproducible.sh [OPTIONS OF meson setup...]       such as -Dplugin=disabled; CC as for meson
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CCACHE_DISABLE=1
commit=$(git rev-parse --short=12 HEAD 2>/dev/null || true)

# build NAME UMASK ZONE LOCALE [OPTIONS...]: into $work/installed-NAME.
build ()
{
  local name=$1 mask=$2 zone=$3 locale=$4 source=$work/$1/sightline
  shift 4
  mkdir -p "$source" "$work/home-$name"
  git ls-files -z | tar -c --null --files-from=- | tar -x -C "$source"
  echo "$commit" >"$source/.commit"
  echo "reproducible.sh: building in $source"
  (
    cd "$source"
    umask "$mask"
    export TZ=$zone LC_ALL=$locale LANG=$locale HOME=$work/home-$name
    meson setup ../build --prefix=/usr --buildtype=release -Dtests=disabled -Dbench=disabled \
      -Dc_args="-ffile-prefix-map=$work/$name=." "$@"
    ninja -C ../build
    DESTDIR=$work/installed-$name meson install -C ../build --no-rebuild
  ) >"$work/$name.log" 2>&1 || {
    tail -30 "$work/$name.log" >&2
    echo "reproducible.sh: the build in $source failed" >&2
    exit 1
  }
}

# sums NAME: a line for each file: its path, permissions, and what it is linked to or the sum of its bytes.
sums ()
{
  (
    cd "$work/installed-$1"
    find . \( -type f -printf '%p %m ' -exec sha256sum {} \; \) -o \( -type l -printf '%p -> %l\n' \) -o \( -type d -printf '%p %m\n' \) | sort
  ) >"$work/$1.sums"
}

build a 022 UTC C "$@"
sleep 2
build another-place 077 Pacific/Kiritimati C.UTF-8 "$@"
sums a
sums another-place
if ! diff "$work/a.sums" "$work/another-place.sums" >"$work/differences"; then
  cat "$work/differences" >&2
  echo "reproducible.sh: what is installed differs; expected the same bytes of both builds" >&2
  exit 1
fi
echo "reproducible.sh: $(grep -vc -- '->' "$work/a.sums") files and folders, the same bytes in both builds"
