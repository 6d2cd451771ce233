#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Builds the Debian packages of debian/ on the release of Debian that this is, from the files as they are, and puts them into FOLDER.
# What is missing for that is asked of apt. Packages of a build before are replaced, and a folder "sightline" in FOLDER.
#   scripts/deb.sh FOLDER
set -eu

[ $# -eq 1 ] || { echo "usage: scripts/deb.sh FOLDER" >&2; exit 2; }
command -v apt-get >/dev/null || { echo "scripts/deb.sh: packages are made on Debian; here is no apt-get" >&2; exit 1; }
folder=$(realpath -m "$1")
cd "$(dirname "$0")/.."
sudo=''
[ "$(id -u)" -eq 0 ] || sudo=sudo
if ! command -v dpkg-checkbuilddeps >/dev/null || ! dpkg-checkbuilddeps debian/control 2>/dev/null; then
  echo "scripts/deb.sh: asking apt for what the packages are built with"
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends build-essential dpkg-dev debhelper >/dev/null
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get build-dep -y -q --no-install-recommends "$PWD" >/dev/null
fi

# A build in a copy: dpkg-buildpackage writes beside the tree that it builds, and into it.
mkdir -p "$folder"
rm -rf "$folder/sightline"
sed -n 's/^Package: //p' debian/control | while read -r name; do
  rm -f "$folder/$name"_[0-9]*_*.deb "$folder/$name-dbgsym"_[0-9]*_*.deb
done
rm -f "$folder"/sightline_[0-9]*.buildinfo "$folder"/sightline_[0-9]*.changes
mkdir "$folder/sightline"
git ls-files -z | tar -c --null --files-from=- | tar -x -C "$folder/sightline"
git rev-parse --short=12 HEAD >"$folder/sightline/.commit" 2>/dev/null || true
(cd "$folder/sightline" && DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:+$DEB_BUILD_OPTIONS }parallel=$(nproc)" dpkg-buildpackage -b -us -uc >../build.log 2>&1) || {
  tail -40 "$folder/build.log" >&2
  echo "scripts/deb.sh: the build failed; $folder/build.log has all of it" >&2
  exit 1
}
rm -rf "$folder/sightline"
ls -l "$folder"/*.deb
