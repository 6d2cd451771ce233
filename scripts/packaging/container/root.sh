#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the file system of a container in FOLDER of what is installed here: the program, the elements, the ready descriptions, GStreamer's plugins that
# cameras and pictures need, and the libraries that these load; nothing else of Debian. Ends with its size. The Dockerfile calls it after it
# has installed the packages; in a tree of debootstrap it makes the same without Docker.
#   scripts/packaging/container/root.sh FOLDER
set -eu

[ $# -eq 1 ] || { echo "usage: scripts/packaging/container/root.sh FOLDER" >&2; exit 2; }
root=$(realpath -m "$1")
[ ! -e "$root" ] || { echo "root.sh: $root is there already; expected a folder to make" >&2; exit 1; }
command -v sightline >/dev/null || { echo "root.sh: no sightline is installed; install Debian's packages of it first (make deb)" >&2; exit 1; }
user=10001

# Elements by what they are for: any pipeline, pictures, videos, cameras of the machine, of the network. Those that are not installed are left out.
elements="queue videoconvert videorate videotestsrc decodebin appsink imagefreeze \
  jpegdec jpegenc pngdec pngenc multifilesrc \
  qtdemux matroskademux h264parse openh264dec \
  v4l2src \
  rtspsrc rtpbin rtph264depay rtpjpegdepay udpsrc tcpclientsrc souphttpsrc multipartdemux"

# copy FILE...: each into $root, where it is here, and what its symbolic links lead to.
copy ()
{
  for file in "$@"; do
    mkdir -p "$root$(dirname "$file")"
    cp -a "$file" "$root$file"
    real=$(realpath "$file")
    if [ "$real" != "$file" ] && [ ! -e "$root$real" ]; then
      mkdir -p "$root$(dirname "$real")"
      cp -a "$real" "$root$real"
    fi
  done
}

# libraries FILE...: what the loader finds for these.
libraries ()
{
  ldd "$@" 2>/dev/null | sed -n 's/^[^/]*\(\/[^ ]*\) (0x.*/\1/p' | sort -u
}

mkdir -p "$root"
for folder in bin sbin lib lib64; do
  [ ! -L "/$folder" ] || cp -a "/$folder" "$root/$folder"
done
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64" "$root/etc/sightline" "$root/var/lib/sightline" "$root/proc" "$root/dev" "$root/sys"
mkdir -m 1777 "$root/tmp"

multiarch=$(dirname "$(ldconfig -p | sed -n 's/.*libsightline-1\.0\.so\.0 .*=> //p' | head -n 1)")
files="/usr/bin/sightline $(find "$multiarch/sightline" -name 'sightline-*.so' | tr '\n' ' ')"
files="$files $(find "$multiarch/gstreamer-1.0" -name 'libgstsightline*.so' -o -name libgsttypefindfunctions.so | tr '\n' ' ')"
for element in $elements; do
  plugin=$(gst-inspect-1.0 "$element" 2>/dev/null | sed -n 's/^ *Filename *//p')
  [ -n "$plugin" ] || { echo "root.sh: left out, as it is not installed: $element"; continue; }
  files="$files $plugin"
done
files="$files $(find /usr/lib -name gst-plugin-scanner | head -n 1)"
[ ! -e "$multiarch/gio/modules/libgiognutls.so" ] || files="$files $multiarch/gio/modules/libgiognutls.so"
# shellcheck disable=SC2046,SC2086
copy $(printf '%s\n' $files | sort -u)
# shellcheck disable=SC2046,SC2086
copy $(libraries $files) "$(realpath /lib*/ld-linux-*.so.* | head -n 1)"
for loader in /lib*/ld-linux-*.so.*; do
  copy "$loader"
done
# A shell and wget for the health check.
if command -v busybox >/dev/null; then
  copy "$(command -v busybox)"
  # shellcheck disable=SC2046
  copy $(libraries "$(command -v busybox)")
fi

cp -a /usr/share/sightline "$root/usr/share.tmp"
mkdir -p "$root/usr/share"
mv "$root/usr/share.tmp" "$root/usr/share/sightline"
[ ! -d /etc/fonts ] || cp -aL /etc/fonts "$root/etc/fonts"
font=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
[ ! -e $font ] || copy $font
[ ! -e /etc/ssl/certs/ca-certificates.crt ] || copy /etc/ssl/certs/ca-certificates.crt
echo "sightline:x:$user:$user::/var/lib/sightline:/usr/sbin/nologin" >"$root/etc/passwd"
echo "sightline:x:$user:" >"$root/etc/group"
chown $user:$user "$root/var/lib/sightline"
ldconfig -r "$root"
du -sm --apparent-size "$root" | sed 's/\t.*/ MB/'
