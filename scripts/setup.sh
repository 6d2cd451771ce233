#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Asks apt for what building, testing and running Sightline needs and this machine lacks, and says which; does
# nothing when all is there. What is missing is told by what works (a header, a pkg-config file, an element), not by
# package names, so a toolchain from elsewhere counts. Without apt it prints the list and leaves the rest to meson.
#   scripts/setup.sh        build, test and run
#   scripts/setup.sh --ci   also what .ci/run uses: clang, clang-format, shellcheck, valgrind
set -eu

missing=''

# need PACKAGE COMMAND...: PACKAGE is missing unless COMMAND succeeds.
need ()
{
  package=$1
  shift
  "$@" </dev/null >/dev/null 2>&1 || missing="$missing $package"
}

has_header ()
{
  printf '#include <%s>\n' "$1" | ${CC:-cc} -fsyntax-only -x c -
}

has_library ()
{
  PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep "$1"
}

has_element ()
{
  gst-inspect-1.0 --exists "$1"
}

# Debian ships gstreamer-analytics from GStreamer 1.24 on.
wants_analytics ()
{
  version=$(pkg-config --modversion gstreamer-1.0 2>/dev/null) ||
    version=$(apt-cache policy libgstreamer1.0-dev 2>/dev/null | sed -n 's/^ *Candidate: //p')
  case $version in
    '' | '(none)' | 0.* | 1.[0-9] | 1.[0-9].* | 1.1[0-9]* | 1.2[0-3]*) return 1 ;;
  esac
}

clang_sanitizes ()
{
  program=$(mktemp)
  status=0
  echo 'int main (void) { return 0; }' | clang -fsanitize=address -x c -o "$program" - || status=$?
  rm -f "$program"
  return $status
}

# The package has the version of clang in its name.
clang_runtime ()
{
  version=$(clang -dumpversion 2>/dev/null) || version=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-//p')
  echo "libclang-rt-${version%%.*}-dev"
}

collect ()
{
  missing=''
  cc=${CC:-cc} # may have words before it, such as "ccache gcc"
  need gcc command -v "${cc%% *}"
  need libc6-dev has_header stdlib.h
  need meson command -v meson
  need ninja-build command -v ninja
  need pkg-config command -v pkg-config
  need python3 command -v python3
  need libglib2.0-dev pkg-config --exists glib-2.0 gio-2.0
  need zlib1g-dev pkg-config --exists zlib
  need libgstreamer1.0-dev pkg-config --exists gstreamer-1.0 gstreamer-check-1.0
  need libgstreamer-plugins-base1.0-dev pkg-config --exists gstreamer-video-1.0 gstreamer-app-1.0
  need libxnnpack-dev has_header xnnpack.h
  need libpthreadpool-dev has_header pthreadpool.h
  need libyuv-dev has_header libyuv.h
  need libpango1.0-dev pkg-config --exists pangocairo
  need gobject-introspection command -v g-ir-scanner
  need libgirepository1.0-dev pkg-config --exists gobject-introspection-1.0
  need python3-gi /usr/bin/python3 -c 'import gi'
  need valac command -v vapigen
  need libzbar-dev pkg-config --exists 'zbar >= 0.23'
  need g++ command -v g++
  need libzxing-dev pkg-config --exists 'zxing >= 1.4'
  need libmosquitto-dev pkg-config --exists libmosquitto
  need librdkafka-dev pkg-config --exists 'rdkafka >= 1.6'
  need liblz4-dev pkg-config --exists liblz4
  need libjpeg-dev pkg-config --exists libjpeg
  need libgdk-pixbuf-2.0-dev pkg-config --exists 'gdk-pixbuf-2.0 >= 2.42'
  need libjson-glib-dev pkg-config --exists json-glib-1.0
  need libsqlite3-dev pkg-config --exists 'sqlite3 >= 3.34'
  need libcrypt-dev pkg-config --exists libxcrypt
  need libssl-dev pkg-config --exists libcrypto
  need libsoup-3.0-dev pkg-config --exists 'libsoup-3.0 >= 3.2'
  need gstreamer1.0-tools command -v gst-launch-1.0
  need gstreamer1.0-plugins-base has_element videotestsrc
  need gstreamer1.0-plugins-good has_element jpegdec
  need gstreamer1.0-libav has_element avdec_bmp
  need libgstrtspserver-1.0-dev pkg-config --exists gstreamer-rtsp-server-1.0
  if wants_analytics; then
    need libgstreamer-plugins-bad1.0-dev pkg-config --exists gstreamer-analytics-1.0
  fi
  if [ "$ci" = yes ]; then
    need clang command -v clang
    need "$(clang_runtime)" clang_sanitizes
    need clang-format command -v clang-format
    need shellcheck command -v shellcheck
    need valgrind command -v valgrind
    need make command -v make
    need mosquitto command -v mosquitto
    need libzmq5 has_library libzmq.so.5
    need parallel command -v parallel
    need mosquitto-clients command -v mosquitto_sub
    need openssl command -v openssl
    need gstreamer1.0-plugins-ugly has_element x264enc
    need prometheus command -v promtool
    need chromium command -v chromium
    need libgtk-4-dev pkg-config --exists 'gtk4 >= 4.8'
    need xvfb command -v Xvfb
    need python3-markdown /usr/bin/python3 -c 'import markdown'
    need python3-numpy /usr/bin/python3 -c 'import numpy'
    if command -v dpkg-query >/dev/null 2>&1; then
      need libc6-dbg dpkg-query -W libc6-dbg
    fi
  fi
}

case ${1-} in
  '') ci=no ;;
  --ci) ci=yes ;;
  *)
    echo "usage: scripts/setup.sh [--ci]" >&2
    exit 2
    ;;
esac

collect
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "setup: missing here (Debian's names):$missing" >&2
  echo "setup: no apt-get on this machine; install their equivalents. Building goes on with what there is." >&2
  exit 0
fi

if [ "$(id -u)" = 0 ]; then
  as_root='env'
elif command -v sudo >/dev/null 2>&1; then
  as_root='sudo env'
else
  echo "setup: missing:$missing" >&2
  echo "setup: not root and no sudo; as root run: apt-get install --no-install-recommends$missing" >&2
  exit 1
fi

echo "setup: asking apt for:$missing"
# shellcheck disable=SC2086
$as_root DEBIAN_FRONTEND=noninteractive apt-get -q update </dev/null
collect # the lists may have told the GStreamer version
# shellcheck disable=SC2086
$as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $missing </dev/null

collect
if [ -n "$missing" ]; then
  echo "setup: still missing after apt-get:$missing" >&2
  exit 1
fi
