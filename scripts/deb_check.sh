#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Installs Debian packages in a fresh system that debootstrap makes, runs a pipeline and what the service runs, removes them, and sees that nothing is
# left but configuration. As root, with the network; takes some minutes. TREE is made, and kept for a look.
#   scripts/deb_check.sh FOLDER_OF_PACKAGES RELEASE TREE       such as: scripts/deb_check.sh build-deb trixie /tmp/trixie
set -eu

[ $# -eq 3 ] || { echo "usage: scripts/deb_check.sh FOLDER_OF_PACKAGES RELEASE TREE" >&2; exit 2; }
packages=$(realpath "$1") release=$2 tree=$(realpath -m "$3")
here=$(cd "$(dirname "$0")/.." && pwd)
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null || ! unshare --mount --pid --fork true; then
  echo "deb_check.sh: skipped: it needs root, debootstrap and namespaces"
  exit 77
fi
[ ! -e "$tree" ] || { echo "deb_check.sh: $tree is there already; expected a folder to make" >&2; exit 1; }
debootstrap --variant=minbase "$release" "$tree" >"$tree.log"
mkdir "$tree/packages"
cp "$packages"/*.deb "$tree/packages/"
sed -n 's/^    \(apt install .*\.deb\)$/\1/p' "$here/docs/install.md" >"$tree/packages/install.sh" # the line that people are told
cp "$here/models/codes/samples/sample-5.jpg" "$tree/packages/"

cat >"$tree/packages/check.sh" <<'EOF'
set -eu
export DEBIAN_FRONTEND=noninteractive XDG_CACHE_HOME=/packages/cache
# Files that somebody may have put there: not the kernel's, not what apt and logs keep.
files ()
{
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /packages -o -path /tmp -o -path /var/cache \
    -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \) -prune -o -print | sort
}
apt-get update -q >/dev/null
apt-get install -y -q --no-install-recommends gstreamer1.0-tools gstreamer1.0-plugins-good curl >/dev/null 2>&1
files >/packages/before
(cd /packages && sed 's/^apt install/apt-get install -y -q --no-install-recommends/' install.sh >quiet.sh && sh -e quiet.sh) >/packages/install.log 2>&1
dpkg-query -W sightline
apt-get install -y -q --no-install-recommends /packages/sightline-doc_*.deb >>/packages/install.log 2>&1
[ -z "$(find /usr/share/doc/sightline* \( -name '*.md.gz' -o -name '*.json.gz' \))" ] # pages link to them
sightline --version
gst-launch-1.0 -q filesrc location=/packages/sample-5.jpg ! decodebin ! slpredict ! text/x-raw ! fdsink | grep matrix
gst-launch-1.0 -q filesrc location=/packages/sample-5.jpg ! decodebin ! slread reader=zxing ! fakesink # which has to find its program
sightline predict /packages/sample-5.jpg | grep linear
mkdir -p /etc/sightline
printf '[pipeline]\nlaunch=videotestsrc is-live=true ! video/x-raw,width=320,height=240,framerate=10/1 ! slpredict ! sloverlay ! fakesink\n' \
  >/etc/sightline/door.pipeline
grep '^ExecStart=/usr/bin/sightline run ' /lib/systemd/system/sightline@.service
sightline run --http 127.0.0.1:8085 /etc/sightline/door.pipeline &
service=$!
for second in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  sleep 1
  ! curl -sf http://127.0.0.1:8085/health || break
done
curl -sf http://127.0.0.1:8085/health | grep '"ok":true' >/dev/null
kill "$service"
wait "$service"
apt-get purge -y -q sightline-doc sightline gstreamer1.0-sightline libsightline-1.0-0 libsightline-pipeline-1.0-0 >/packages/purge.log 2>&1
apt-get autoremove -y -q --purge >>/packages/purge.log 2>&1
files >/packages/after
left=$(comm -13 /packages/before /packages/after | grep -i sightline || true)
echo "left: $left"
[ "$left" = "/etc/sightline
/etc/sightline/door.pipeline" ]
EOF
# Processes of the tree are its own, and end with it.
# shellcheck disable=SC2016
unshare --mount --pid --fork bash -e -c '
  mount -t proc proc "$1/proc"
  mount --rbind /dev "$1/dev"
  mount --bind /sys "$1/sys"
  cp /etc/resolv.conf "$1/etc/resolv.conf"
  exec chroot "$1" sh /packages/check.sh' - "$tree"
echo "deb_check.sh: $release: installed, used, removed; nothing is left but configuration"
